package wire

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// Invariant 1.
func TestIdentifiersAreComparable(t *testing.T) {
	a, again := NewOrigin(NodeID{"a@h", 1}), NewOrigin(NodeID{"a@h", 1})
	later, other := NewOrigin(NodeID{"a@h", 2}), NewOrigin(NodeID{"b@h", 1})
	assert.LessOrEqual(t, unsafe.Sizeof(PID{}), uintptr(16))
	assert.True(t, a.PID(1) == again.PID(1))
	assert.True(t, a.Ref(1, 2) == again.Ref(1, 2))
	assert.True(t, a.Port(1) == again.Port(1))
	for _, o := range []Origin{later, other} {
		assert.False(t, a.PID(1) == o.PID(1))
		assert.False(t, a.Minted(o.PID(1)))
		assert.False(t, Equal(a.PID(1), o.PID(1)))
		assert.False(t, Equal(a.Ref(1), o.Ref(1)))
		assert.False(t, Equal(a.Port(1), o.Port(1)))
	}
	assert.True(t, a.Minted(again.PID(9)))
}

func TestIdentifiersKeepTheirParts(t *testing.T) {
	id := NodeID{"a@h", 7}
	o := NewOrigin(id)
	p := o.PID(3<<32 | 42)
	assert.Equal(t, id, p.Origin().NodeID())
	assert.Equal(t, []any{Atom("a@h"), uint32(7), uint64(3<<32 | 42)}, []any{p.Node(), p.Creation(), p.Number()})
	assert.Equal(t, "<a@h.42.3>", p.String())
	q := o.Port(math.MaxUint64)
	assert.Equal(t, []any{Atom("a@h"), uint32(7), uint64(math.MaxUint64)}, []any{q.Node(), q.Creation(), q.Number()})
	assert.Equal(t, o, q.Origin())
	r := o.Ref(1, 2, 3, 4, 5, 6)
	assert.Equal(t, []any{Atom("a@h"), uint32(7), o}, []any{r.Node(), r.Creation(), r.Origin()})
	assert.Equal(t, []uint32{1, 2, 3, 4, 5}, r.AppendWords(nil))
	assert.Equal(t, "#Ref<a@h.5.4.3.2.1>", r.String())
	for _, n := range []uint64{0, 1, 1 << 18, 1<<50 - 1, math.MaxUint64} {
		assert.Equal(t, n, o.RefOf(n).Number())
		assert.Len(t, o.RefOf(n).AppendWords(nil), 3)
		assert.Less(t, o.RefOf(n).AppendWords(nil)[0], uint32(1<<18), "the first word of a reference has 18 bits")
	}
}

func TestZeroIdentifiers(t *testing.T) {
	assert.True(t, PID{}.IsZero())
	assert.True(t, Ref{}.IsZero())
	assert.False(t, NewOrigin(NodeID{"a@h", 1}).PID(0).IsZero())
	assert.Equal(t, NodeID{}, Origin{}.NodeID())
	assert.Equal(t, "<nobody>", PID{}.String())
	for _, zero := range []any{PID{}, Ref{}, Port{}} {
		assert.True(t, Equal(zero, zero))
		assert.Zero(t, Compare(zero, zero))
		Format(zero)
		hashOf(zero)
	}
}

// A reference that is cut short equals one whose other words are zero, as in Erlang.
func TestRefWordsThatAreNotThereAreZero(t *testing.T) {
	o := NewOrigin(NodeID{"a@h", 1})
	assert.True(t, Equal(o.Ref(1, 2), o.Ref(1, 2, 0)))
	assert.Equal(t, hashOf(o.Ref(1, 2)), hashOf(o.Ref(1, 2, 0)))
	assert.Equal(t, -1, Compare(o.Ref(9, 2), o.Ref(1, 1, 1)))
}
