package wire

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

func TestFormat(t *testing.T) {
	o := NewOrigin(NodeID{"go@host", 1})
	for _, c := range []struct {
		term          any
		pretty, plain string // plain is "" where it is the same
	}{
		{Atom("ok"), "ok", ""},
		{Atom("Ok"), "'Ok'", ""},
		{Atom(""), "''", ""},
		{Atom("it's"), `'it\'s'`, ""},
		{Atom("receive"), "'receive'", ""},
		{Atom("maybe"), "'maybe'", ""},
		{Atom("a\n\x00\x7f\u0080ж"), `'a\n\000\d\200ж'`, ""},
		{true, "true", ""},
		{42, "42", ""},
		{uint8(42), "42", ""},
		{uint64(math.MaxUint64), "18446744073709551615", ""},
		{new(big.Int).Lsh(big.NewInt(-1), 64), "-18446744073709551616", ""},
		{1.0, "1.0", ""},
		{float32(0.5), "0.5", ""},
		{1e22, "1.0e22", ""},
		{1e5, "1.0e5", ""},
		{0.0001, "0.0001", ""},
		{0.00001, "1.0e-5", ""},
		{1234567.0, "1234567.0", ""},
		{9007199254740991.0, "9007199254740991.0", ""},
		{9007199254740992.0, "9.007199254740992e15", ""},
		{math.Copysign(0, -1), "-0.0", ""},
		{5e-324, "5.0e-324", ""},
		{math.Inf(-1), "#Go<float64 -Inf>", ""},
		{nil, "[]", ""},
		{List{}, "[]", ""},
		{Charlist(""), "[]", ""},
		{Charlist("a\"ж\n"), `"a\"ж\n"`, "[97,34,1078,10]"},
		{List{'a', uint8('b')}, `"ab"`, "[97,98]"},
		{List{1, 2}, "[1,2]", ""},
		{List{AtomOK, List{}, Charlist("x")}, `[ok,[],"x"]`, "[ok,[],[120]]"},
		{ImproperList{[]any{1, 2}, 3}, "[1,2|3]", ""},
		{ImproperList{[]any{1}, Tuple{2, 3}}, "[1|{2,3}]", ""},
		{ImproperList{[]any{1}, ImproperList{[]any{2}, List{3}}}, "[1,2,3]", ""},
		{ImproperList{nil, Tuple{}}, "{}", ""},
		{Tuple{}, "{}", ""},
		{Tuple{AtomOK, Tuple{1}, 2}, "{ok,{1},2}", ""},
		{Map{}, "#{}", ""},
		{NewMap(Atom("b"), 1, Atom("a"), Map{}, 1.0, 2, 1, 3), "#{1 => 3,1.0 => 2,a => #{},b => 1}", ""},
		{"", "<<>>", ""},
		{"text", `<<"text">>`, "<<116,101,120,116>>"},
		{[]byte("a\"'"), `<<"a\"'">>`, "<<97,34,39>>"},
		{"é", `<<"é"/utf8>>`, "<<195,169>>"},
		{[]byte{233}, `<<"é">>`, "<<233>>"},
		{[]byte{1, 2, 3}, "<<1,2,3>>", ""},
		{NewBitstring([]byte{1, 0x40}, 11), "<<1,2:3>>", ""},
		{NewBitstring([]byte("ab"), 15), "<<97,49:7>>", ""},
		{NewBitstring([]byte("ab"), 16), `<<"ab">>`, "<<97,98>>"},
		{o.PID(1<<32 | 42), "<go@host.42.1>", ""},
		{o.Ref(1, 2, 3), "#Ref<go@host.3.2.1>", ""},
		{o.Port(7), "#Port<go@host.7>", ""},
		{Fun{Module: "Elixir.A", OldIndex: 1, OldUniq: 99}, "#Fun<Elixir.A.1.99>", ""},
		{Export{"lists", "map", 2}, "fun lists:map/2", ""},
		{point{1, 2}, "#Go<wire.point>", ""},
		{Tuple{errors.New("oops")}, "{#Go<*errors.errorString oops>}", ""},
		{(*big.Int)(nil), "#Go<*big.Int <nil>>", ""},
		{[]any{1}, "#Go<[]interface {} of 1>", ""},
	} {
		assert.Equal(t, c.pretty, Format(c.term))
		if c.plain == "" {
			c.plain = c.pretty
		}
		assert.Equal(t, c.plain, plainly(c.term))
	}
}

func TestCompoundsPrintThemselves(t *testing.T) {
	o := NewOrigin(NodeID{"go@host", 1})
	assert.Equal(t, `{ok,[a|b],[1,2],#{a => 1},<<1:1>>,#Fun<m.0.0>,fun m:f/1} <go@host.1.0>`,
		fmt.Sprint(Tuple{AtomOK, ImproperList{[]any{Atom("a")}, Atom("b")}, List{1, 2}, NewMap(Atom("a"), 1),
			NewBitstring([]byte{0x80}, 1), Fun{Module: "m"}, Export{"m", "f", 1}}, " ", o.PID(1)))
	for _, s := range []fmt.Stringer{Tuple{}, List{}, ImproperList{[]any{1}, 2}, Map{}, Bitstring{}, Fun{}, Export{}} {
		assert.Equal(t, Format(s), s.String())
	}
	assert.Equal(t, "it's", Charlist("it's").String())
}

// deep returns a term nested n deep: lists, tuples, maps and tails in turn.
func deep(n int) any {
	var t any = Atom("end")
	for i := range n {
		switch i % 4 {
		case 0:
			t = List{t}
		case 1:
			t = Tuple{t}
		case 2:
			t = NewMap(Atom("k"), t)
		case 3:
			t = ImproperList{[]any{t}, t}
			t.(ImproperList).Head[0] = 1
		}
	}
	return t
}

// Invariant 4, the second half.
func TestDepthCostsMemoryOnly(t *testing.T) {
	n := testkit.By(100_000, 1_000_000, 1_000_000)
	a, b := deep(n), deep(n)
	assert.True(t, Equal(a, b))
	assert.Zero(t, Compare(a, b))
	assert.Equal(t, hashOf(a), hashOf(b))
	assert.Equal(t, 1, Compare(deep(n+4), a))
	text := Format(a)
	assert.True(t, strings.HasPrefix(text, "[1|#{k => {["), text[:20])
	assert.Equal(t, n/4, strings.Count(text, "|"))
	m := NewMap(a, 1)
	v, ok := m.Get(b)
	assert.True(t, ok)
	assert.Equal(t, 1, v)
}

func TestFormatIsTheSameForEqualTerms(t *testing.T) {
	g := newGen(t)
	g.big = true
	for range 3000 {
		x := g.term(g.IntN(4))
		require.Equal(t, Format(x), Format(g.respell(x)))
		require.Equal(t, plainly(x), plainly(g.respell(x)))
	}
}

func BenchmarkFormat(b *testing.B) {
	x := Tuple{Atom("$gen_call"), NewMap(Atom("name"), "cart", Atom("items"), List{1, 2, 3}, Atom("price"), 1.5)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = (&formatting{text: true, show: describeForeign}).append(buf[:0], x)
	}
}
