package pack

import (
	"errors"
	"math/big"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

type Item struct {
	SKU string
	Qty int `msgpack:"qty"`
}

type Order struct {
	ID       int64
	Customer wire.PID
	Ref      wire.Ref
	Status   wire.Atom
	Items    []Item
	Notes    map[string]string
	At       time.Time
	Wait     time.Duration
	Next     *Order
	Raw      []byte
	Price    float64
	Args     wire.Tuple
	List     wire.List
	Text     wire.Charlist
	Tail     wire.ImproperList
	Bits     wire.Bitstring
	Options  wire.Map
	Addr     netip.Addr
	Big      *big.Int
	Flags    [3]bool
	hidden   int
}

type Money int

type Envelope struct {
	From wire.PID
	Any  any
	Many []any
	By   map[string]any
	In   *Inner
}

type Inner struct{ X any }

type Tree struct{ Left, Right *Tree }

var order = Order{
	ID: 1 << 40, Customer: host.PID(7), Ref: host.Ref(1, 2, 3), Status: "new", Items: []Item{{"a", 1}, {"b", -2}},
	Notes: map[string]string{"k": "v"}, At: time.Unix(1_700_000_000, 5), Wait: time.Second,
	Next: &Order{ID: 2, Addr: netip.MustParseAddr("::1"), Args: wire.Tuple{}, At: time.Unix(0, 0)},
	Raw:  []byte{1, 2}, Price: 1.5, Args: wire.Tuple{wire.AtomOK, wire.List{nil, 1}}, List: wire.List{1, "s", nil}, Text: "text",
	Tail: wire.ImproperList{Head: []any{1}, Tail: 2}, Bits: wire.NewBitstring([]byte{0xe0}, 3),
	Addr: netip.MustParseAddr("10.0.0.1"),
	Big:  shift(100), Flags: [3]bool{true, false, true},
}

func types(t testing.TB) *Types {
	types := &Types{}
	require.NoError(t, Register[Order](types, "shop.Order"))
	require.NoError(t, Register[Money](types, "shop.Money"))
	require.NoError(t, Register[Envelope](types, "shop.Envelope"))
	require.NoError(t, Register[Tree](types, "shop.Tree"))
	require.NoError(t, Register[Line](types, "shop.Line"))
	return types
}

// pass sends v from one side to the other and returns what arrives.
func pass(t testing.TB, v any, from, to *Types) any {
	t.Helper()
	e, d := Encoder{Dict: &EncodeDict{}, Types: from}, Decoder{Dict: &DecodeDict{}, Types: to}
	var got any
	for range 2 { // with an empty cache and a full one
		b, err := e.Append(nil, v)
		require.NoError(t, err)
		rest, err := Skip(b)
		require.NoError(t, err)
		require.Empty(t, rest)
		got, rest, err = d.Term(b)
		require.NoError(t, err)
		require.Empty(t, rest)
	}
	return got
}

func TestRegistered(t *testing.T) {
	types := types(t)
	for _, v := range []any{
		order, &order, (*Order)(nil), Order{}, Order{Args: wire.Tuple{}, List: wire.List{}, Items: []Item{}}, Money(5),
		Tree{Left: &Tree{Right: &Tree{}}},
		wire.Tuple{wire.AtomOK, order, wire.List{&order, wire.NewMap("k", order), nil}},
		Envelope{}, Envelope{Any: 7}, Envelope{Any: "text"}, Envelope{Any: []byte("b")}, Envelope{Any: wire.Tuple{wire.AtomOK, 300, nil}},
		Envelope{Any: order}, Envelope{Any: &order},
		&Envelope{From: host.PID(1), Many: []any{1, nil, "a", wire.List{nil}, Money(3), wire.AtomOK, Envelope{Any: 1.5}},
			By: map[string]any{"x": wire.Tuple{Money(1)}, "y": nil, "z": true}, In: &Inner{X: wire.List{host.PID(4)}}},
	} {
		require.Equal(t, v, pass(t, v, types, types))
	}
	e := Envelope{Any: order, Many: []any{1}, In: &Inner{X: 1}, By: map[string]any{"a": 1}}
	pass(t, e, types, types)
	require.Equal(t, Envelope{Any: order, Many: []any{1}, In: &Inner{X: 1}, By: map[string]any{"a": 1}}, e,
		"sending changed the value")
	hidden := order
	hidden.hidden = 5
	require.Equal(t, order, pass(t, hidden, types, types))
}

// TestUnknown: a type that the peer does not know arrives as a map with its name.
func TestUnknown(t *testing.T) {
	got := pass(t, wire.Tuple{Envelope{From: host.PID(1), Any: order, Many: []any{wire.AtomOK}}, &order, (*Order)(nil), Money(5)},
		types(t), nil).(wire.Tuple)
	m := got[0].(wire.Map)
	name, _ := m.Get(TypeKey)
	require.Equal(t, "shop.Envelope", name)
	from, _ := m.Get("From")
	require.Equal(t, host.PID(1), from)
	many, _ := m.Get("Many")
	require.Equal(t, wire.List{wire.AtomOK}, many)
	in, _ := m.Get("Any")
	for _, o := range []any{in, got[1]} {
		name, _ = o.(wire.Map).Get(TypeKey)
		require.Equal(t, "shop.Order", name)
		args, _ := o.(wire.Map).Get("Args")
		require.Equal(t, order.Args, args)
		items, _ := o.(wire.Map).Get("Items")
		require.True(t, wire.Equal(wire.List{wire.NewMap("SKU", "a", "qty", 1), wire.NewMap("SKU", "b", "qty", -2)}, items))
	}
	require.True(t, wire.Equal(wire.NewMap(TypeKey, "shop.Order", ValueKey, nil), got[2]))
	require.True(t, wire.Equal(wire.NewMap(TypeKey, "shop.Money", ValueKey, 5), got[3]))
}

// TestMismatch: another type under the same name is no error either, and what
// follows is read as if nothing had been.
func TestMismatch(t *testing.T) {
	type Order struct{ ID string }
	others := &Types{}
	require.NoError(t, Register[Order](others, "shop.Order"))
	require.NoError(t, Register[Money](others, "shop.Money"))
	got := pass(t, wire.Tuple{order, Money(1), wire.Tuple{&order}}, types(t), others).(wire.Tuple)
	require.IsType(t, wire.Map{}, got[0])
	require.Equal(t, Money(1), got[1])
	require.IsType(t, wire.Map{}, got[2].(wire.Tuple)[0])
	id, _ := got[0].(wire.Map).Get("ID")
	require.Equal(t, whole(1<<40), id)
}

// TestOtherVersion: fields that one side does not have are left out, and those
// within them do not disturb the cache.
func TestOtherVersion(t *testing.T) {
	type Order struct {
		ID   int64
		More string
	}
	others := &Types{}
	require.NoError(t, Register[Order](others, "shop.Order"))
	require.Equal(t, wire.Tuple{Order{ID: 1 << 40}, wire.Atom("new"), host.PID(7)},
		pass(t, wire.Tuple{order, wire.Atom("new"), host.PID(7)}, types(t), others))
}

type bad struct{ N int }

func (bad) MarshalMsgpack() ([]byte, error)  { panic("no") }
func (*bad) UnmarshalMsgpack(b []byte) error { panic("no") }

type good struct{ N int }

func TestPanickingMethods(t *testing.T) {
	from, to := &Types{}, &Types{}
	require.NoError(t, Register[good](from, "x"))
	require.NoError(t, Register[bad](to, "x"))
	require.True(t, wire.Equal(wire.NewMap(TypeKey, "x", "N", 1), pass(t, good{1}, from, to)))
	_, err := (&Encoder{Types: to}).Append(nil, wire.Tuple{bad{}})
	require.ErrorIs(t, err, ErrNoTerm)
	require.ErrorContains(t, err, "{1}")
}

type (
	hasChan  struct{ A struct{ C chan int } }
	hasFunc  struct{ F []func() }
	hasIface struct{ R interface{ Read() } }
	anyKey   struct{ M map[any]int }
	secret   struct{ _ int }
	embeds   struct{ *embeds }
)

func TestRegisterRefuses(t *testing.T) {
	types := types(t)
	for why, err := range map[string]error{
		".A.C is of type chan int":  Register[hasChan](types, "a"),
		".F is of type func()":      Register[hasFunc](types, "b"),
		"only any and error":        Register[hasIface](types, "c"),
		"a key cannot hold an any":  Register[anyKey](types, "d"),
		"no exported field":         Register[secret](types, "e"),
		"embedded by a pointer":     Register[embeds](types, "f"),
		"are terms already":         Register[wire.Tuple](types, "g"),
		"no name of its own":        Register[*Order](types, "h"),
		"1 to 255 characters":       Register[good](types, ""),
		"the name is that of":       Register[good](types, "shop.Order"),
		"the type has the name":     Register[Order](types, "shop.Order2"),
		"of type func(), which can": Register[func()](types, "i"),
	} {
		if why == "of type func(), which can" {
			require.ErrorIs(t, err, ErrType)
			continue
		}
		require.ErrorIs(t, err, ErrType, why)
		require.ErrorContains(t, err, why)
	}
	require.NoError(t, Register[Order](types, "shop.Order"), "the same again")
}

// TestSelves: Go values that hold themselves, and deep ones, are an error or pass;
// they never exhaust the stack.
func TestSelves(t *testing.T) {
	types := types(t)
	e := Encoder{Types: types}
	tree := &Tree{}
	tree.Left = tree
	_, err := e.Append(nil, tree)
	require.ErrorIs(t, err, ErrNoTerm)
	require.ErrorContains(t, err, "pack: at shop.Tree.Left")
	require.ErrorContains(t, err, ".Left: a cycle: this *pack.Tree refers to itself")
	env := &Envelope{}
	env.Any = env
	_, err = e.Append(nil, env)
	require.ErrorIs(t, err, ErrNoTerm)
	require.ErrorContains(t, err, "pack: at shop.Envelope.Any(shop.Envelope)")
	require.ErrorContains(t, err, ": a cycle: this *pack.Envelope refers to itself")
	deep := &Tree{}
	for range 4000 {
		deep = &Tree{Left: deep}
	}
	b, err := e.Append(nil, deep)
	require.NoError(t, err)
	got, _, err := (&Decoder{Types: types}).Term(b)
	require.NoError(t, err)
	n := 0
	for x := got.(*Tree); x != nil; x = x.Left {
		n++
	}
	require.Equal(t, 4001, n)
	nested := any(1)
	for range maxInner {
		nested = Envelope{Any: wire.List{nested}}
	}
	require.Equal(t, nested, pass(t, nested, types, types))
	_, err = e.Append(nil, Envelope{Any: nested})
	require.ErrorIs(t, err, ErrLimit)
}

// TestDeepBytes: what a peer nests inside a registered value does not exhaust the
// stack of the reader.
func TestDeepBytes(t *testing.T) {
	types := types(t)
	head := "\x93\xd4\x09\x04\xc7\x0a\x01shop.Order\x81\xa5Items"
	b := []byte(head + strings.Repeat("\x91", 1_000_000) + "\x01")
	_, _, err := (&Decoder{Types: types}).Term(b)
	require.ErrorIs(t, err, ErrLimit)
	b = []byte(head + strings.Repeat("\x91", 9_000) + "\x01")
	got, _, err := (&Decoder{Types: types}).Term(b)
	require.NoError(t, err)
	require.IsType(t, wire.Map{}, got, "it is no list of items")
}

// TestMapsInExtensions: an extension is not taken for the map in it, whose bytes nobody has
// looked at.
func TestMapsInExtensions(t *testing.T) {
	types := types(t)
	head := "\x93\xd4\x09\x04\xc7\x0d\x01shop.Envelope\x81\xa2By"
	for _, in := range []string{
		"\xc7\x06\x01\xdf\xff\xff\xff\xff\x01",           // a map of 2^32 pairs
		"\xc7\x08\x01\x81\xa1k\xdd\xff\xff\xff\xff",      // an array of as many elements
		"\xd8\x01\x81\xa1k" + strings.Repeat("\x91", 13), // deeper than its bytes
		"\xd4\x01\x80",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := (&Decoder{Types: types}).Term([]byte(head + in))
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, ErrMalformed, "no atoms either")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
	name := wire.Atom("\u0780") // which looks like one
	require.Equal(t, Envelope{By: map[string]any{"a": name}}, pass(t, Envelope{By: map[string]any{"a": name}}, types, types))
	require.Equal(t, Order{Status: name, At: time.Unix(0x80000000, 0)},
		pass(t, Order{Status: name, At: time.Unix(0x80000000, 0)}, types, types))
}

func TestForeign(t *testing.T) {
	cause := errors.New("no idea")
	e := Encoder{Types: types(t), Foreign: func(v any) (any, error) {
		switch v := v.(type) {
		case good:
			return wire.Tuple{wire.Atom("good"), v.N}, nil
		case *good:
			return Money(v.N), nil
		case bad:
			return v, nil
		case secret:
			panic("secret")
		}
		return nil, cause
	}}
	b, err := e.Append(nil, wire.List{good{1}, &good{2}})
	require.NoError(t, err)
	got, _, err := (&Decoder{Types: e.Types}).Term(b)
	require.NoError(t, err)
	require.Equal(t, wire.List{wire.Tuple{wire.Atom("good"), 1}, Money(2)}, got)
	_, err = e.Append(nil, wire.NewMap(wire.AtomOK, wire.Tuple{1, 'x', struct{}{}}))
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "pack: at #{ok}{3}: no idea")
	_, err = e.Append(nil, bad{})
	require.ErrorContains(t, err, "without end")
	_, err = e.Append(nil, secret{})
	require.ErrorContains(t, err, "panics")
	_, err = Append(nil, wire.List{1, good{}})
	require.ErrorIs(t, err, ErrNoTerm)
	require.ErrorContains(t, err, "pack: at [2]: a Go value of type pack.good")
}

// A request need not have fields. What has some, but none that travels, is refused.
func TestRegisteredWithoutFields(t *testing.T) {
	type empty struct{}
	type marked struct{ empty }
	_ = marked{}.empty
	var ts Types
	require.NoError(t, Register[marked](&ts, "x.Marked"))
	require.NoError(t, Register[empty](&ts, "x.Empty"))
	type hidden struct{ x int }
	_ = hidden{}.x
	require.ErrorContains(t, Register[hidden](&ts, "x.Hidden"), "would arrive empty")
}
