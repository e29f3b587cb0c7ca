package pack

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// told returns what a peer with these types tells.
func told(t testing.TB, types *Types) *Shapes {
	s := new(Shapes)
	for n := 0; ; n++ {
		b, more := types.AppendShape(nil, n)
		if !more {
			return s
		}
		if len(b) > 0 {
			require.NoError(t, s.Put(b))
		}
	}
}

// TestShapes: a field that both have must be of one kind; fields may be added and missing.
func TestShapes(t *testing.T) {
	type Order struct {
		ID    string
		Items []struct{ SKU int }
	}
	type Older struct {
		ID   int32
		More bool
		Next *Order
		Tree Tree
	}
	ours := exactTypes(t)
	theirs := &Types{}
	require.NoError(t, Register[Order](theirs, "shop.Order"))
	require.NoError(t, Register[Money](theirs, "shop.Money"))
	e := Encoder{Dict: &EncodeDict{}, Types: ours, Peer: told(t, theirs)}
	for _, v := range []any{order, &order, wire.Tuple{1, order}, []any{order}, Envelope{Any: order}} {
		_, err := e.Append(nil, v)
		require.ErrorIs(t, err, ErrNoTerm, "%T", v)
		require.ErrorContains(t, err, "the peer has another type by the name shop.Order: shop.Order.ID differs: here {")
		require.ErrorContains(t, err, "ID int,")
		require.ErrorContains(t, err, "there {ID string, Items []{SKU int}}")
		e.Dict.Undo()
	}
	_, err := e.Append(nil, []Order{{}})
	require.ErrorIs(t, err, ErrNoTerm, "this Order is not registered here")
	for _, v := range []any{map[string]*Item{"a": {}}, Money(1), Item{}, 5, Envelope{}} {
		_, err := e.Append(nil, v)
		require.NoError(t, err)
	}

	older := &Types{}
	require.NoError(t, Register[Older](older, "shop.Order"))
	e.Peer = told(t, older)
	_, err = e.Append(nil, order)
	require.NoError(t, err, "fields are missing and added, and of other sizes")
	e.Peer = told(t, ours)
	_, err = e.Append(nil, wire.Tuple{order, []Tree{{}}, line})
	require.NoError(t, err, "the same")

	// A type that the peer tells later is compared from then on.
	late := new(Shapes)
	e.Peer = late
	_, err = e.Append(nil, []*Line{&line})
	require.NoError(t, err)
	type Line struct{ Counts map[string]int }
	require.NoError(t, Register[Line](theirs, "shop.Line"))
	b, more := theirs.AppendShape(nil, 2)
	require.True(t, more)
	require.NoError(t, late.Put(b))
	_, err = e.Append(nil, wire.Tuple{line})
	require.ErrorContains(t, err, "shop.Line.Counts differs")
	require.ErrorContains(t, err, "Counts map[string]int")
}

func TestShapeText(t *testing.T) {
	types := exactTypes(t)
	require.NoError(t, Register[Forms](types, "forms"))
	for _, name := range []wire.Atom{"forms", "shop.Envelope", "shop.Tree"} {
		s := types.named(name).shape
		back := shapeFrom(s.term())
		require.Equal(t, s, back)
		_, ok := s.differ(back)
		require.True(t, ok)
	}
	require.Equal(t, "{Left …, Right …}", types.named("shop.Tree").shape.String())
	require.Equal(t, "{Any any, By map[string]any, From pid, In {X any}, Many []any}", types.named("shop.Envelope").shape.String())
}

// TestHostileShapes: what peers tell is bounded, and nothing of it is trusted.
func TestHostileShapes(t *testing.T) {
	s := new(Shapes)
	put := func(name string, shape any) error {
		b, err := new(Encoder).AppendAtom(nil, wire.Atom(name))
		require.NoError(t, err)
		b, err = Append(b, shape)
		require.NoError(t, err)
		return s.Put(b)
	}
	for i := range 2 * maxShapes {
		require.NoError(t, put(fmt.Sprint(i), "int"))
	}
	require.Len(t, s.byName, maxShapes)
	var deep any = "int"
	for range 100 {
		deep = wire.Tuple{"[]", deep}
	}
	require.ErrorIs(t, put("deep", deep), ErrLimit)
	require.Error(t, s.Put(nil))
	require.Error(t, s.Put([]byte{1}))
	require.ErrorIs(t, s.Put([]byte("\xd4\x01a\x01\x01")), ErrMalformed)
	for _, odd := range []any{1, wire.Tuple{}, wire.Tuple{"map[]", 1}, "[]", "map[]", "struct", wire.Tuple{"[]", 1},
		wire.Tuple{"map[]", 1, "[]"}, wire.NewMap(1, 2, "a", wire.NewMap()), strings.Repeat("x", 5000)} {
		require.NoError(t, put("1", odd))
		told := s.named("1")
		_ = told.String()
		for _, other := range []any{wire.NewMap(), wire.NewMap("a", 1), "[]", "struct", wire.Tuple{"[]", 1}} {
			_, _ = told.differ(shapeFrom(other))
			_, _ = shapeFrom(other).differ(told)
		}
	}
	g := exactTypes(t).named("shop.Order")
	require.NoError(t, put("1", 1))
	require.NoError(t, s.check(g))
}

// TestShapesAreShared: a writer, and senders that check what they send later, use one peer's shapes at a time.
func TestShapesAreShared(t *testing.T) {
	types := exactTypes(t)
	peer := told(t, types)
	e := Encoder{Types: types, Peer: peer}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				for _, v := range []any{order, Envelope{Any: order}} {
					_, err := e.Append(nil, v)
					assert.NoError(t, err)
				}
			}
		})
	}
	for n := range len(types.table.registered()) {
		b, _ := types.AppendShape(nil, n)
		require.NoError(t, peer.Put(b))
	}
	all.Wait()
}

// TestShapesAreBounded: whatever a peer tells, of as many types as it may and of fields without number, costs this node
// little more than a megabyte.
func TestShapesAreBounded(t *testing.T) {
	fields := wire.MakeMap(3000)
	for i := range 3000 {
		fields.Put(fmt.Sprintf("%03x", i), "") // the smallest fields there are
	}
	term, err := Append(nil, fields)
	require.NoError(t, err)
	require.Less(t, len(term), maxShapeBytes)
	larger, err := Append(nil, strings.Repeat("x", maxShapeBytes))
	require.NoError(t, err)
	s := new(Shapes)
	before := heapInUse()
	for i := range 300 {
		b, err := new(Encoder).AppendAtom(nil, wire.Atom(fmt.Sprintf("%0200d", i)))
		require.NoError(t, err)
		require.NoError(t, s.Put(append(b[:len(b):len(b)], larger...)))
		require.NoError(t, s.Put(append(b, term...)))
	}
	require.LessOrEqual(t, s.bytes, maxShapesKept)
	require.Less(t, heapInUse()-before, 8<<20)

	sum := 0
	for name, told := range s.byName {
		sum += len(name) + len(told)
		require.Len(t, s.named(name).fields, 3000)
	}
	require.Equal(t, sum, s.bytes)
	require.NotZero(t, sum)
	for name := range s.byName { // one that is told anew takes the place of the one before
		b, err := new(Encoder).AppendAtom(nil, name)
		require.NoError(t, err)
		b, err = Append(b, "int")
		require.NoError(t, err)
		require.NoError(t, s.Put(b))
		require.Equal(t, "int", s.named(name).String())
	}
	require.Less(t, s.bytes, 300*len(s.byName))
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
