package etf

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

var erl = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 0x01020304})

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// whole returns n as decoders do: as an int if it fits one here.
func whole(n int64) any { return wire.IntegerOf(big.NewInt(n)) }

// stand stands for a term.
type stand struct{ for_ any }

func (s stand) Term() any { return s.for_ }

// endless stands for itself.
type endless struct{}

func (endless) Term() any { return endless{} }

type add struct {
	_    struct{} `etf:"add,tuple"`
	Item string   `etf:",charlist"`
	N    int
	Wait time.Duration `etf:",ms"`
	Note *string
}

type point struct {
	_    struct{} `etf:",tuple"`
	X, Y float64
}

type userRow struct {
	_    struct{} `etf:",record"`
	Name string
}

type base struct{ UserID uint16 }

type order struct {
	base
	HTTPPort int    `etf:"port,required"`
	State    string `etf:",atom"`
	Tags     []string
	Names    []string       `etf:",charlist"`
	Count    map[string]int `etf:",atom"`
	Points   []point
	Raw      []byte
	Octets   []byte `etf:",list"`
	MD5      [4]byte
	Parts    [2]int8
	Next     *order `etf:",omitzero"`
	Any      any
	Big      *big.Int
	PID      wire.PID
	Args     wire.List
	OK       bool
	Hour     time.Duration `etf:",s"`
	Nano     time.Duration
	Celsius  celsius
	F32      float32
	Secret   chan int `etf:"-"`
	_        int
}

// celsius is a term {c, Tenths}.
type celsius float64

func (c celsius) Term() any { return wire.Tuple{wire.Atom("c"), int(math.Round(float64(c) * 10))} }

func (c *celsius) SetTerm(t any) error {
	if tuple, ok := t.(wire.Tuple); ok && len(tuple) == 2 {
		n, ok := wire.AsInt(tuple[1])
		*c = celsius(n) / 10
		if ok {
			return nil
		}
	}
	return errors.New("no temperature")
}

func sampleOrder() order {
	return order{
		base: base{7}, HTTPPort: 80, State: "open", Tags: []string{"a", "ж"}, Names: []string{"n"},
		Count:  map[string]int{"x": 1, "y": 2},
		Points: []point{{X: 1, Y: 2.5}}, Raw: []byte{1}, Octets: []byte{2}, MD5: [4]byte{1, 2, 3, 4}, Parts: [2]int8{-1, 1},
		Next: &order{HTTPPort: 81, Count: map[string]int{}, Tags: []string{}, Names: []string{}, Points: []point{}, Raw: []byte{},
			Octets: []byte{},
			Any:    wire.List(nil), Big: big.NewInt(1), PID: erl.PID(2)},
		Any: wire.Atom("x"), Big: power(70), PID: erl.PID(1), Args: wire.List{1, wire.AtomOK}, OK: true, Hour: time.Hour, Nano: 5,
		Celsius: 36.6, F32: 0.5,
	}
}

func TestMarshal(t *testing.T) {
	note := "hi"
	for _, c := range []struct {
		v    any
		want string
	}{
		{add{Item: "cart", N: 2, Wait: 3 * time.Second}, `{add,"cart",2,3000,undefined}`},
		{&add{Item: "cart", N: 2, Note: &note}, `{add,"cart",2,0,<<"hi">>}`},
		{point{X: 1, Y: 2}, `{1.0,2.0}`},
		{userRow{Name: "joe"}, `{user_row,<<"joe">>}`},
		{[]userRow{{Name: "joe"}}, `[{user_row,<<"joe">>}]`},
		{map[wire.Atom]any{"a": point{}}, `#{a => {0.0,0.0}}`},
		{[]any{1, nil, "x", celsius(1), (*point)(nil)}, `[1,[],<<"x">>,{c,10},undefined]`},
		{(*point)(nil), `undefined`},
		{uint64(math.MaxUint64), `18446744073709551615`},
		{struct{}{}, `#{}`},
		{wire.Tuple{wire.AtomOK, point{}}, `{ok,{0.0,0.0}}`},
		{sampleOrder(), `#{any => x,args => [1,ok],big => 1180591620717411303424,celsius => {c,366},count => #{x => 1,y => 2},f32 => 0.5,` +
			`hour => 3600,md5 => <<1,2,3,4>>,names => ["n"],nano => 5,next => #{any => [],args => [],big => 1,celsius => {c,0},count => #{},f32 => 0.0,` +
			`hour => 0,md5 => <<0,0,0,0>>,names => [],nano => 0,octets => [],ok => false,parts => [0,0],pid => <a@h.2.0>,points => [],port => 81,raw => <<>>,state => '',tags => [],user_id => 0},` +
			`octets => [2],ok => true,parts => [-1,1],pid => <a@h.1.0>,points => [{1.0,2.5}],port => 80,raw => <<1>>,state => open,tags => [<<"a">>,<<"ж"/utf8>>],user_id => 7}`},
	} {
		b, err := Marshal(c.v)
		require.NoError(t, err)
		term, _, err := Decode(b)
		require.NoError(t, err)
		require.Equal(t, c.want, wire.Format(term))
	}
}

// byAddress has a term only through its address.
type byAddress struct{ n int }

func (b *byAddress) Term() any { return point{X: float64(b.n)} }

func TestTermers(t *testing.T) {
	held := struct{ A, B any }{byAddress{1}, &byAddress{2}}
	for _, c := range []struct {
		v    any
		want string
	}{
		{&byAddress{1}, "{1.0,0.0}"}, {byAddress{1}, "{1.0,0.0}"}, {[]byAddress{{1}}, "[{1.0,0.0}]"},
		{map[int]byAddress{1: {2}}, "#{1 => {2.0,0.0}}"}, {[]*byAddress{nil}, "[undefined]"},
		{held, "#{a => {1.0,0.0},b => {2.0,0.0}}"},
		{struct{ T wire.Termer }{celsius(1)}, "#{t => {c,10}}"}, {struct{ T wire.Termer }{}, "#{t => []}"},
		{wire.Tuple{stand{point{}}}, "{{0.0,0.0}}"},
	} {
		b, err := Marshal(c.v)
		require.NoError(t, err)
		term, _, err := Decode(b)
		require.NoError(t, err)
		require.Equal(t, c.want, wire.Format(term))
	}
	_, err := ToTerm([]endless{{}})
	require.ErrorIs(t, err, ErrLimit)
}

func TestUnmarshalReverses(t *testing.T) {
	in := sampleOrder()
	b, err := Marshal(in)
	require.NoError(t, err)
	var out order
	require.NoError(t, Unmarshal(b, &out))
	require.Equal(t, in, out)
	require.ErrorIs(t, Unmarshal(append(b, 0), &out), ErrMalformed)
	require.ErrorIs(t, Unmarshal(b[:9], &out), ErrCut)

	note := "n"
	for _, in := range []any{&add{Item: "жa", Wait: time.Millisecond}, &add{Note: &note}, &point{X: 1}, &userRow{Name: "x"}} {
		term, err := ToTerm(in)
		require.NoError(t, err)
		switch in := in.(type) {
		case *add:
			var out add
			require.NoError(t, FromTerm(term, &out))
			require.Equal(t, *in, out)
		case *point:
			var out point
			require.NoError(t, FromTerm(term, &out))
			require.Equal(t, *in, out)
		}
	}
}

// TestFromTermLeave checks the conversions that FromTerm allows.
func TestFromTermLeave(t *testing.T) {
	check := func(term, into, want any) {
		t.Helper()
		require.NoError(t, FromTerm(term, into))
		require.EqualValues(t, want, into)
	}
	ptr := func(s string) *string { return &s }
	check(wire.List{97, 98}, ptr(""), ptr("ab"))
	check([]byte{0xff}, ptr(""), ptr("\xff"))
	check(wire.Charlist("é"), ptr(""), ptr("é"))
	f := 0.0
	two := 2.0
	check(2, &f, &two)
	var b []byte
	check(wire.List{1, 255}, &b, &[]byte{1, 255})
	check(nil, &b, &[]byte{})
	check("ab", &b, &[]byte{'a', 'b'})
	var u uint64
	most := uint64(math.MaxUint64)
	check(new(big.Int).SetUint64(most), &u, &most)
	p := ptr("x")
	var none *string
	check(wire.Atom("nil"), &p, &none)
	var a wire.Atom
	yes := wire.AtomTrue
	check(true, &a, &yes)
	var l wire.List
	check(wire.ImproperList{Head: []any{1}, Tail: wire.Charlist("a")}, &l, &wire.List{1, 97})
	var x any
	var want any = wire.List(nil)
	check(nil, &x, &want)
	var m map[any]bool
	check(wire.NewMap(1, true, wire.AtomOK, false), &m, &map[any]bool{1: true, wire.AtomOK: false})
	var bits wire.Bitstring
	octet := wire.NewBitstring([]byte{7}, 8)
	check([]byte{7}, &bits, &octet)
	var n *big.Int
	seven := big.NewInt(7)
	check(uint8(7), &n, &seven)
	o := order{State: "kept"}
	require.NoError(t, FromTerm(wire.NewMap(wire.Atom("port"), 1, wire.Atom("unknown"), 2), &o))
	require.Equal(t, order{HTTPPort: 1, State: "kept"}, o)
}

func TestFromTermRefuses(t *testing.T) {
	var n8 int8
	var u8 uint8
	var s string
	var f float32
	var l []int
	var pair [2]int
	var p wire.PID
	var o order
	var a add
	var m map[any]int
	var mi map[string]int
	var ch chan int
	var d time.Duration
	var e error
	var bo bool
	var oct [2]byte
	for _, c := range []struct {
		term, into any
		want       string
	}{
		{1, nil, "etf: into is a <nil>, not a pointer to something"},
		{1, 1, "etf: into is a int, not a pointer"},
		{1, (*int)(nil), "not a pointer to something"},
		{128, &n8, "etf: at int8: expected an integer that fits int8, not 128"},
		{-1, &u8, "an integer that fits uint8, not -1"},
		{1.0, &n8, "an integer that fits int8, not 1.0"},
		{power(64), &n8, "an integer that fits int8, not 18446744073709551616"},
		{wire.AtomOK, &s, "etf: at string: expected a binary, not ok"},
		{1, &s, "expected a binary or charlist, not 1"},
		{1e300, &f, "a float that fits float32"},
		{1<<24 + 1, &f, "expected a float, not 16777217"},
		{wire.AtomOK, &l, "etf: at []int: expected a list, not ok"},
		{wire.List{1, wire.AtomOK}, &l, "etf: at []int[1]: expected an integer that fits int, not ok"},
		{wire.List{1}, &pair, "expected a list of 2 elements, not [1]"},
		{wire.ImproperList{Head: []any{1}, Tail: 2}, &l, "expected a list, not [1|2]"},
		{1, &p, "expected a wire.PID, not 1"},
		{1, &bo, "expected true or false, not 1"},
		{[]byte{1}, &oct, "expected a binary of 2 bytes"},
		{wire.AtomOK, &oct, "expected a binary, not ok"},
		{wire.List{-1}, &oct, "expected a binary, not [-1]"},
		{1, &o, "etf: at etf.order: expected a map, not 1"},
		{wire.Map{}, &o, "etf: at etf.order.HTTPPort: expected a map with the key port, not #{}"},
		{wire.NewMap(wire.Atom("port"), 1, wire.Atom("next"), wire.NewMap(wire.Atom("port"), wire.AtomOK)), &o,
			"etf: at etf.order.Next.HTTPPort: expected an integer"},
		{wire.NewMap(wire.Atom("port"), 1, wire.Atom("points"), wire.List{wire.Tuple{1, wire.AtomOK}}), &o,
			"etf: at etf.order.Points[0].Y: expected a float, not ok"},
		{wire.NewMap(wire.Atom("port"), 1, wire.Atom("celsius"), 1), &o, "etf: at etf.order.Celsius: no temperature"},
		{wire.NewMap(wire.Atom("port"), 1, wire.Atom("state"), "open"), &o,
			"etf: at etf.order.State: expected an atom, not <<\"open\">>"},
		{wire.NewMap(wire.Atom("port"), 1, wire.Atom("hour"), whole(math.MaxInt64)), &o,
			"etf: at etf.order.Hour: expected an integer of units of 1s"},
		{1, &a, "expected a tuple, not 1"},
		{wire.Tuple{}, &a, "expected a tuple that begins with the atom add, not {}"},
		{wire.Tuple{wire.AtomOK, 1}, &a, "a tuple that begins with the atom add"},
		{wire.Tuple{wire.Atom("add"), 1}, &a, "expected a tuple with 4 fields, not {add,1}"},
		{wire.NewMap([]byte{1}, 1), &m, "expected a key that Go can compare"},
		{wire.NewMap("k", wire.AtomOK), &mi, `etf: at map[string]int[<<"k">>]: expected an integer`},
		{wire.NewMap(1, 1), &mi, `etf: at map[string]int[key 1]: expected a binary`},
		{1, &mi, "expected a map, not 1"},
		{1, &ch, "etf: at chan int: a Go value of type chan int is no term"},
		{wire.AtomOK, &d, "expected an integer of units of 1ns, not ok"},
		{wire.AtomOK, &e, "expected a error, not ok"},
	} {
		err := FromTerm(c.term, c.into)
		require.ErrorContains(t, err, c.want)
	}
	require.ErrorIs(t, FromTerm(1, &s), ErrMismatch)
}

func TestToTermRefuses(t *testing.T) {
	type ring struct{ Next *ring }
	r := &ring{}
	r.Next = r
	type twice struct {
		A int `etf:"x"`
		B int `etf:"x"`
	}
	type badShape struct {
		_ struct{} `etf:"x,table"`
	}
	type named struct {
		_ struct{} `etf:"x"`
	}
	type badOption struct {
		A int `etf:",large"`
	}
	type inTuple struct {
		_ struct{} `etf:"x,tuple"`
		A int      `etf:",omitzero"`
	}
	type wrong struct {
		A []struct{ B map[string]chan int }
	}
	w := wrong{A: make([]struct{ B map[string]chan int }, 2)}
	w.A[1].B = map[string]chan int{"k": nil}
	for _, c := range []struct {
		v    any
		want string
	}{
		{make(chan int), "etf: at chan int: a Go value of type chan int is no term"},
		{w, "etf: at etf.wrong.A[1].B[k]: a Go value of type chan int is no term"},
		{struct{ a, b int }{}, "has no exported fields"},
		{time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), "RFC 3339 has no year 10000"},
		{struct{ F float64 }{math.NaN()}, "F: Erlang has no float NaN"},
		{r, "Go values nested deeper than 10000 levels"},
		{twice{}, "two fields of the name x"},
		{badShape{}, `etf tag "x,table": the shapes are tuple, record and map`},
		{named{}, "a name is for a tuple or record"},
		{badOption{}, `no option "large"`},
		{inTuple{}, "omitzero and required are for maps"},
		{map[any]int{1: 1, int8(1): 2}, "another key is the same term"},
		{map[float64]int{math.Inf(1): 1}, "[key +Inf]: Erlang has no float"},
	} {
		_, err := ToTerm(c.v)
		require.ErrorContains(t, err, c.want)
		require.Less(t, len(err.Error()), 1_000)
		require.True(t, errors.Is(err, ErrNoTerm) || errors.Is(err, ErrLimit))
		_, err = Marshal(wire.Tuple{wire.AtomOK, c.v})
		require.ErrorContains(t, err, "etf: at {2}")
	}
}

// timed has times, and an empty struct.
type timed struct {
	time.Time
	At   time.Time
	Gone *time.Time
	All  map[string]time.Time
	None struct{}
	Any  any
}

func TestTimes(t *testing.T) {
	at := time.Date(2024, 2, 29, 13, 30, 0, 500_000_000, time.FixedZone("", 3600))
	term, err := ToTerm(timed{Time: at, All: map[string]time.Time{"a": at}, Any: at})
	require.NoError(t, err)
	text := "2024-02-29T12:30:00.5Z"
	want := wire.NewMap(wire.Atom("time"), text, wire.Atom("at"), "0001-01-01T00:00:00Z", wire.Atom("gone"), wire.AtomUndefined,
		wire.Atom("all"), wire.NewMap("a", text), wire.Atom("none"), wire.MakeMap(0), wire.Atom("any"), text)
	require.True(t, wire.Equal(want, term), wire.Format(term))
	var got timed
	require.NoError(t, FromTerm(term, &got))
	require.True(t, at.Equal(got.Time) && at.Equal(got.All["a"]) && got.At.IsZero() && got.Gone == nil)
	for _, said := range []any{[]byte(text), text, wire.Charlist(text), "2024-02-29T13:30:00.5+01:00", at} {
		var got time.Time
		require.NoError(t, FromTerm(said, &got))
		require.True(t, at.Equal(got), "%v", said)
	}
	for _, wrong := range []any{"yesterday", 1, nil, wire.Atom("now"), wire.NewMap()} {
		require.ErrorContains(t, FromTerm(wrong, new(time.Time)), "expected a time as in RFC 3339")
	}
}

// Maps of a named type are marked with the name, unless the type of the field gives it.
func TestMarked(t *testing.T) {
	type leaf struct{ N int }
	type branch struct {
		Leaf  leaf
		Leafs []*leaf
		Any   any
	}
	names := map[reflect.Type]string{reflect.TypeFor[leaf](): "leaf", reflect.TypeFor[branch](): "branch"}
	name := func(t reflect.Type) string { return names[t] }
	a, mark := func(s string) wire.Atom { return wire.Atom(s) }, termof.TypeMark
	bare := wire.NewMap(a("n"), 1)
	marked, pointer := wire.NewMap(mark, a("leaf"), a("n"), 1), wire.NewMap(mark, a("*leaf"), a("n"), 1)
	why := errors.New("why")
	for _, c := range []struct{ v, want any }{
		{leaf{1}, marked},
		{&leaf{1}, pointer},
		{[]leaf{{1}}, wire.List{marked}},
		{map[string]any{"x": &leaf{1}}, wire.NewMap("x", pointer)},
		{branch{leaf{1}, []*leaf{{1}}, []any{leaf{1}, 2}}, wire.NewMap(mark, a("branch"), a("leaf"), bare, a("leafs"), wire.List{bare},
			a("any"), wire.List{marked, 2})},
		{struct{ A any }{why}, wire.NewMap(a("a"), why)}, // for the encoder
		{time.Unix(0, 0), wire.NewMap(mark, a("time.Time"), a("time"), "1970-01-01T00:00:00Z")},
	} {
		term, err := ToTerm(termof.Marked{Value: c.v, Name: name})
		require.NoError(t, err)
		if _, isError := c.v.(struct{ A any }); isError {
			v, _ := term.(wire.Map).Get(a("a"))
			require.Equal(t, why, v)
			continue
		}
		require.True(t, wire.Equal(c.want, term), "%s, not %s", wire.Format(term), wire.Format(c.want))
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{"A": "a", "UserID": "user_id", "HTTPPort": "http_port", "X1": "x1",
		"Already_Snake": "already_snake", "Éa": "éa"} {
		require.Equal(t, want, snake(in))
	}
}

// TestPlansAreCompiledOnce compiles plans from many goroutines at a time.
func TestPlansAreCompiledOnce(t *testing.T) {
	type fresh struct {
		A int
		B *fresh
		C map[string][]fresh
	}
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := ToTerm(fresh{B: &fresh{}, C: map[string][]fresh{"x": {{}}}})
			done <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	n := testing.AllocsPerRun(100, func() { _, _ = ToTerm(point{}) })
	require.LessOrEqual(t, n, 8.0)
}
