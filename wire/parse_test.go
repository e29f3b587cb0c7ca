package wire

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bigInt(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		panic(s)
	}
	return n
}

var parseCases = []struct {
	text string
	want any
}{
	{"ok", Atom("ok")},
	{" \t ok ", Atom("ok")},
	{"ok % said the node", Atom("ok")},
	{"% first\nok", Atom("ok")},
	{"ok.", Atom("ok")},
	{"ok . % end", Atom("ok")},
	{"true", Atom("true")},
	{"aB_c@1é", Atom("aB_c@1é")},
	{"éa", Atom("éa")},
	{"maybe", Atom("maybe")},
	{"''", Atom("")},
	{"'hello world'", Atom("hello world")},
	{`'it\'s'`, Atom("it's")},
	{`'\n\t\r\b\f\v\e\s\d\0\101\x41\x{416}\^a\^A\^[\q\'\"\\'`, Atom("\n\t\r\b\f\v\x1b \x7f\x00AAЖ\x01\x01\x1bq'\"\\")},
	{"'ж'", Atom("ж")},
	{"0", 0},
	{"-1", -1},
	{"- 1", -1},
	{"+1", 1},
	{"-0", 0},
	{"007", 7},
	{"1_000_000", 1000000},
	{"16#ff", 255},
	{"16#FF_ff", 65535},
	{"-2#101", -5},
	{"36#zZ", 35*36 + 35},
	{"9223372036854775807", whole(math.MaxInt64)},
	{"-9223372036854775808", whole(math.MinInt64)},
	{"9223372036854775808", bigInt("9223372036854775808")},
	{"-9223372036854775809", bigInt("-9223372036854775809")},
	{"16#ffffffffffffffffffff", bigInt("0xffffffffffffffffffff")},
	{"$a", 'a'},
	{"-$a", -'a'},
	{"$ ", ' '},
	{"{$ }", Tuple{' '}},
	{`$\n`, '\n'},
	{`$\x{1f600}`, 0x1f600},
	{"$é", 'é'},
	{"$'", '\''},
	{`[$",$']`, List{'"', '\''}},
	{"1.0", 1.0},
	{"-1.5e3", -1500.0},
	{"1.5E-3", 0.0015},
	{"1.5e+3", 1500.0},
	{"1_0.0_1", 10.01},
	{"-0.0", math.Copysign(0, -1)},
	{"1.0e308", 1e308},
	{"1.0e-400", 0.0},
	{`""`, List{}},
	{`"abc"`, List{'a', 'b', 'c'}},
	{`"a" "b" ""`, List{'a', 'b'}},
	{`"a\x{10ffff}\"é"`, List{'a', 0x10ffff, '"', 'é'}},
	{"{}", Tuple{}},
	{"{a}", Tuple{Atom("a")}},
	{"{a , 1,{}}", Tuple{Atom("a"), 1, Tuple{}}},
	{"[]", List{}},
	{"[ ]", List{}},
	{"[1,2,3]", List{1, 2, 3}},
	{"[1,[2],[[]]]", List{1, List{2}, List{List{}}}},
	{"[a|b]", ImproperList{[]any{Atom("a")}, Atom("b")}},
	{"[a,b|{}]", ImproperList{[]any{Atom("a"), Atom("b")}, Tuple{}}},
	{"[a|[b]]", List{Atom("a"), Atom("b")}},
	{"[a|[b|c]]", ImproperList{[]any{Atom("a"), Atom("b")}, Atom("c")}},
	{`[a|"bc"]`, List{Atom("a"), 'b', 'c'}},
	{"#{}", Map{}},
	{"#{ }", Map{}},
	{"# {}", Map{}},
	{"#{a=>1,\"b\" => #{}}", NewMap(Atom("a"), 1, Charlist("b"), Map{})},
	{"#{1 => a, 1.0 => b, 1 => c}", NewMap(1, Atom("c"), 1.0, Atom("b"))},
	{"<<>>", []byte{}},
	{"<< >>", []byte{}},
	{"<<1,2,3>>", []byte{1, 2, 3}},
	{"<<256,-1,-129>>", []byte{0, 255, 127}},
	{`<<"abc">>`, []byte("abc")},
	{`<<"abc" "d",0>>`, []byte("abcd\x00")},
	{`<<"é">>`, []byte{0xe9}},
	{`<<"жé">>`, []byte{0x36, 0xe9}},
	{`<<"é"/utf8>>`, []byte("é")},
	{`<<"éж" / utf8,1>>`, []byte("éж\x01")},
	{`<<1024/utf8>>`, []byte("Ѐ")},
	{`<<"é"/utf16>>`, []byte{0, 0xe9}},
	{`<<"é😀"/utf16-little>>`, []byte{0xe9, 0, 0x3d, 0xd8, 0, 0xde}},
	{`<<"é"/utf32>>`, []byte{0, 0, 0, 0xe9}},
	{`<<"é"/little-utf32>>`, []byte{0xe9, 0, 0, 0}},
	{`<<"ab":16>>`, []byte{0, 'a', 0, 'b'}},
	{"<<1,2:3>>", NewBitstring([]byte{1, 2 << 5}, 11)},
	{"<<1 : 4 , 2 : 4>>", []byte{0x12}},
	{"<<1:3,255:7,0:6>>", []byte{0x3f, 0xc0}},
	{"<<1:0>>", []byte{}},
	{"<<$a,-$a>>", []byte{'a', 0x9f}},
	{"<<1:16,1:16/little>>", []byte{0, 1, 1, 0}},
	{"<<16#abc:12/little>>", NewBitstring([]byte{0xbc, 0xa0}, 12)},
	{"<<-1:12/signed-big-integer>>", NewBitstring([]byte{0xff, 0xf0}, 12)},
	{"<<-1:100>>", NewBitstring([]byte(strings.Repeat("\xff", 13)), 100)},
	{"<<16#123456789abcdef01234:80/little>>", []byte{0x34, 0x12, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12}},
	{"<<16#123456789abcdef01234:16>>", []byte{0x12, 0x34}},
	{"<<1.0/float>>", []byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0}},
	{"<<1:32/float-little>>", []byte{0, 0, 0x80, 0x3f}},
	{"fun lists:map/2", Export{"lists", "map", 2}},
	{"fun 'a b' : 'C' / 0", Export{"a b", "C", 0}},
	{"{fun a:b/255,[x|y]}", Tuple{Export{"a", "b", 255}, ImproperList{[]any{Atom("x")}, Atom("y")}}},
}

func TestParse(t *testing.T) {
	for _, c := range parseCases {
		got, err := Parse(c.text)
		if assert.NoError(t, err, c.text) {
			assert.True(t, Equal(c.want, got), "%s: got %s", c.text, plainly(got))
			requireDecoded(t, got)
		}
	}
}

// requireDecoded fails unless x is made of the types that decoders return.
func requireDecoded(t *testing.T, x any) {
	t.Helper()
	switch x := x.(type) {
	case int, float64, Atom, []byte, Export, Bitstring:
	case *big.Int:
		require.IsType(t, x, IntegerOf(x))
	case Tuple:
		for _, e := range x {
			requireDecoded(t, e)
		}
	case List:
		for _, e := range x {
			requireDecoded(t, e)
		}
	case ImproperList:
		require.NotEmpty(t, x.Head)
		require.NotEqual(t, classList, classOf(x.Tail))
	case Map:
		for k, v := range x.All() {
			requireDecoded(t, k)
			requireDecoded(t, v)
		}
	default:
		require.Failf(t, "not a type that comes in", "%T", x)
	}
}

var parseErrors = []struct {
	text   string
	column int
	msg    string
}{
	{"", 1, "expected a term, found the end of the text"},
	{"% nothing", 10, "expected a term, found the end of the text"},
	{".", 1, "expected a term: "},
	{"a b", 3, "expected the end, or a dot and the end, found 'b'"},
	{"a. b", 4, "expected the end"},
	{"1..", 3, "expected the end"},
	{"Foo", 1, "a variable is not a term"},
	{"_", 1, "a variable is not a term"},
	{"ж", 1, "expected a term: "},
	{"end", 1, "end is a reserved word; the atom is written 'end'"},
	{"{receive}", 2, "receive is a reserved word"},
	{"'a", 1, "this ' has no closing '"},
	{`{"a}`, 2, `this " has no closing "`},
	{`"\x{110000}"`, 2, `expected \xhh or`},
	{`"\x{d800}"`, 2, `expected \xhh or`},
	{`"\x{zz}"`, 2, `expected \xhh or`},
	{`"\x{}"`, 2, `expected \xhh or`},
	{`"\x{41"`, 2, "this escape sequence has no closing }"},
	{`"\x4"`, 2, `expected \xhh or`},
	{`"\^0"`, 4, "expected one of @"},
	{`"\`, 3, "expected the rest of an escape"},
	{"$", 2, "expected a character, found the end"},
	{"\xff", 1, "expected a term: "},
	{"'\xff'", 2, "the text is not valid UTF-8"},
	{"\"\\\xff\"", 3, "the text is not valid UTF-8"},
	{"'" + strings.Repeat("a", 256) + "'", 1, "an atom has at most 255 characters"},
	{strings.Repeat("a", 256), 1, "an atom has at most 255 characters"},
	{"1_", 2, "expected the end"},
	{"1__0", 2, "expected the end"},
	{"_1", 1, "a variable"},
	{"37#1", 1, "expected a base from 2 to 36"},
	{"1#1", 1, "expected a base from 2 to 36"},
	{"2#2", 3, "expected a digit of base 2"},
	{"2#12", 4, "expected the end"},
	{"1.5e", 4, "expected an exponent"},
	{"1.5e+", 4, "expected an exponent"},
	{"1.0e999", 1, "this float is too large"},
	{"--1", 2, "expected a number, found '-'"},
	{"-a", 2, "expected a number, found 'a'"},
	{"1+2", 2, "expected the end"},
	{"{", 2, "expected a term, found the end"},
	{"{a", 3, `expected "," or "}", found the end`},
	{"{a,}", 4, "expected a term: "},
	{"{a|b}", 3, `expected "," or "}", found '|'`},
	{"{a]", 3, `expected "," or "}", found ']'`},
	{"[a", 3, `expected ",", "|" or "]"`},
	{"[|a]", 2, "expected a term: "},
	{"[a|b,c]", 5, `expected "]", found ','`},
	{"[a|b|c]", 5, `expected "]"`},
	{"[a|]", 4, "expected a term: "},
	{"[]|a", 3, "expected the end"},
	{"#{a}", 4, `expected "=>", found '}'`},
	{"#{a := 1}", 5, `expected "=>", found ':'`},
	{"#{a => 1,}", 10, "expected a term: "},
	{"#{a => 1 b}", 10, `expected "," or "}"`},
	{"#{a => }", 8, "expected a term: "},
	{"#a{}", 1, "pids, ports, references and funs cannot be written"},
	{"#Ref<0.1.2.3>", 1, "pids, ports, references and funs cannot be written"},
	{"<0.1.0>", 1, "pids, ports, references and funs cannot be written"},
	{"<<", 3, "expected a number, $c or a string inside <<…>>, found the end"},
	{"<<a>>", 3, "expected a number"},
	{"<<1", 4, `expected ",", ":", "/" or ">>"`},
	{"<<1>", 4, `expected ",", ":", "/" or ">>"`},
	{"<<1.5>>", 3, "a float in <<…>> needs the type /float"},
	{"<<1:a>>", 5, "expected a number"},
	{"<<1:-1>>", 5, "expected a number"},
	{"<<1:1.0>>", 5, "expected a size of at most"},
	{"<<1:99999999999>>", 5, "expected a size of at most"},
	{"<<1:600000,1:600000>>", 14, "expected a size of at most"},
	{"{<<1:1048576>>,<<1:1>>}", 20, "expected a size of at most"},
	{`<<"ab":600000>>`, 8, "expected a size of at most"},
	{"<<1:8/utf8>>", 3, "a segment of type utf8 has no size"},
	{"<<1/utf9>>", 5, "expected one of integer"},
	{"<<1/utf8-utf16>>", 10, "expected one of integer"},
	{"<<1/>>", 5, "expected one of integer"},
	{"<<16#d800/utf8>>", 3, "expected the code point of a character"},
	{"<<1.0/utf8>>", 3, "expected the code point of a character"},
	{"<<1.0:8/float>>", 3, "a float has 32 or 64 bits"},
	{"<<1.0e300:32/float>>", 3, "too large for 32 bits"},
	{"fun", 4, "expected a module's name"},
	{"fun a", 6, `expected ":"`},
	{"fun a:1/2", 7, "expected a function's name"},
	{"fun a:b", 8, `expected "/"`},
	{"fun a:b/256", 9, "expected an arity from 0 to 255"},
	{"fun a:b/-1", 9, "expected a number"},
	{"fun end:b/1", 5, "end is a reserved word"},
	{"fun a/1", 6, `expected ":"`},
	{"fun(X) -> X end", 4, "expected a module's name"},
	{"[1,\n 2,,3]", 4, "expected a term: "},
	{strings.Repeat("[", maxParseDepth+1), maxParseDepth + 1, "terms nested deeper than 10000 levels"},
}

func TestParseErrorsNameThePlace(t *testing.T) {
	for _, c := range parseErrors {
		got, err := Parse(c.text)
		var syntax *SyntaxError
		if assert.ErrorAs(t, err, &syntax, "%q gave %v", c.text, got) {
			assert.Nil(t, got)
			assert.Contains(t, syntax.Msg, c.msg, c.text)
			assert.Equal(t, c.column, syntax.Column, "column in %q: %s", c.text, syntax.Msg)
		}
	}
	_, err := Parse("{é,\n ok,\n\tж}")
	assert.ErrorContains(t, err, `wire: line 3, column 2: expected a term: `)
	assert.Equal(t, len("{é,\n ok,\n\t"), err.(*SyntaxError).Offset)
}

// Invariant 6.
func TestParseReadsFormatBack(t *testing.T) {
	g := newGen(t)
	g.literal, g.big = true, true
	for range 3000 {
		x := g.term(g.IntN(5))
		for _, text := range []string{Format(x), plainly(x)} {
			back, err := Parse(text)
			require.NoError(t, err, text)
			require.True(t, Equal(x, back), "%s\n%s", text, plainly(back))
			requireDecoded(t, back)
		}
	}
	deep := strings.Repeat("{", maxParseDepth-1) + "a" + strings.Repeat("}", maxParseDepth-1)
	back, err := Parse(deep)
	require.NoError(t, err)
	require.Equal(t, deep, Format(back))
}

func FuzzParse(f *testing.F) {
	for _, c := range parseCases {
		f.Add(c.text)
	}
	for _, c := range parseErrors {
		if len(c.text) < 100 { // long ones are slow to minimize
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(text))
			return
		}
		for _, again := range []string{Format(x), plainly(x)} {
			back, err := Parse(again)
			require.NoError(t, err, again)
			require.True(t, Equal(x, back), again)
			require.Zero(t, Compare(x, back))
			require.Equal(t, hashOf(x), hashOf(back))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	const text = `{'$gen_call',{self,[alias|make_ref]},#{name => <<"cart">>,items => [1,2,3],price => 1.5}}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
