package peers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire/dist"
)

// The reference of a call has its number and the mark of its peer; no other reference has a mark.
func TestMarks(t *testing.T) {
	for _, number := range []uint64{0, 1, 1<<18 - 1, 1 << 50, 1<<64 - 1} {
		for _, mark := range []uint32{1, 77, maxMark} {
			ref := marked(here, number, mark, 5)
			require.Equal(t, number, ref.Number())
			require.Equal(t, mark, markOf(ref))
		}
		require.Zero(t, markOf(here.RefOf(number)))
	}
	c := &Cluster{marks: map[uint32]*Peer{}, mark: maxMark - 1}
	var p [4]Peer
	for i := range p {
		c.markLocked(&p[i])
	}
	require.Equal(t, []uint32{maxMark, 1, 2, 3}, []uint32{p[0].mark, p[1].mark, p[2].mark, p[3].mark})
	c.mark = 0
	var q Peer
	c.markLocked(&q)
	require.EqualValues(t, 4, q.mark, "the others have theirs")
}

// An answer that comes another way must have the whole reference, and that of a call.
func TestAnsweredElsewhere(t *testing.T) {
	tables := newTables(1)
	ref := marked(here, 9, 1, 77)
	call := &Request{Ref: ref, Ends: Ends{By: here.PID(0), To: there.PID(0)}, Kind: ByReply}
	start := &Request{Ref: here.RefOf(10), Kind: ByStart}
	require.True(t, tables.Ask(call))
	require.True(t, tables.Ask(start))
	require.False(t, call.setWritten())
	for _, ref := range []struct{ number, secret uint64 }{{9, 78}, {8, 77}, {10, 77}} {
		r, _, ok := tables.AnsweredElsewhere(marked(here, ref.number, 1, uint32(ref.secret)))
		require.Nil(t, r)
		require.False(t, ok)
	}
	r, _, _ := tables.AnsweredElsewhere(start.Ref)
	require.Nil(t, r)
	r, f, ok := tables.AnsweredElsewhere(ref)
	require.Same(t, call, r)
	require.True(t, ok)
	require.Equal(t, dist.OpDemonitor, f.Op)
	r, _, _ = tables.AnsweredElsewhere(ref)
	require.Nil(t, r, "once")
}
