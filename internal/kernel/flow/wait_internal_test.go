package flow

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// isLet reports whether a sender has been let go.
func isLet(w *Wait) bool {
	select {
	case <-w.Over:
		return true
	default:
		return false
	}
}

// countLet returns how many senders have been let go; they must be the first ones.
func countLet(t *testing.T, all []*Wait) int {
	t.Helper()
	n := 0
	for _, w := range all {
		if isLet(w) {
			n++
		}
	}
	require.False(t, slices.ContainsFunc(all[:n], func(w *Wait) bool { return !isLet(w) }), "in the order in which they came")
	return n
}

// However many senders wait for space, a pass of the writer lets go, in order, as many as there is room for, judged by
// what each sent last.
func TestSpaceInOrder(t *testing.T) {
	const limit, size, senders = 1 << 20, 100_000, 500
	l := &link{}
	b := connected(t, limit, nil, l)
	msg := make([]byte, size)
	fill := func() {
		for full := false; !full; {
			var err error
			full, err = b.Put(nil, dist.Frame{Op: dist.OpSend, Payload: msg})
			require.NoError(t, err)
			l.buffered += size
		}
	}
	fill()
	var all []*Wait
	for range senders {
		all = append(all, b.Space(wire.PID{}, msg))
	}
	require.True(t, b.Held())
	b.Forget(all[0])
	all = all[1:]
	for was := 0; was < len(all); {
		l.buffered = 0
		b.take(nil, 0)
		n := countLet(t, all)
		require.Contains(t, []int{limit/size + 1, len(all) - was}, n-was)
		was = n
		select {
		case <-b.wake:
		default:
		}
		require.Equal(t, was == len(all), b.Rest(l), "the writer goes on while one waits")
	}
	require.False(t, b.Held())

	l.buffered = 0
	fill()
	huge := []*Wait{b.Space(wire.PID{}, make([]byte, 2*limit)), b.Space(wire.PID{}, nil)}
	b.take(nil, 0)
	require.Equal(t, 1, countLet(t, huge), "one goes, whatever it sends")
	b.Close()
	require.Equal(t, 2, countLet(t, huge))
}

// A sender that waits behind long messages is let go when its own messages are written, and with the others when all
// have less waiting.
func TestBehindInOrder(t *testing.T) {
	const limit = 1 << 20
	b := connected(t, limit, nil, &link{})
	of := func(i int) *dist.Frame { return &dist.Frame{Op: dist.OpSend, From: origin.PID(uint64(i))} }
	const cost = limit / 16
	const senders = 2*behindSum*16 + 1
	for i := range senders {
		b.hold(of(i), cost)
	}
	var all []*Wait
	for i := range senders {
		all = append(all, b.Space(of(i).From, make([]byte, cost)))
		require.NotNil(t, all[i])
		require.True(t, all[i].Again)
	}
	b.hold(of(senders-1), -cost)
	require.True(t, isLet(all[senders-1]), "nothing of its own waits")
	all = all[:senders-1]
	require.Zero(t, countLet(t, all))
	for i := range senders / 2 {
		b.hold(of(senders/2+i), -cost)
	}
	n := 0
	for _, w := range all[:senders/2] {
		if isLet(w) {
			n++
		}
	}
	require.Equal(t, 1, n, "there is space for little")
	require.True(t, isLet(all[0]), "the first")

	over := dist.Frame{Op: dist.OpSend, From: origin.PID(9999)}
	b.hold(&over, limit/behindShare+1)
	own := []*Wait{b.Space(over.From, nil), b.Space(over.From, nil)}
	b.hold(&over, -cost)
	b.hold(&over, cost-limit/behindShare-1)
	require.Equal(t, 2, countLet(t, own))
	b.Close()
	for _, w := range all {
		require.True(t, isLet(w))
	}
	require.False(t, b.Held())
}

// Random senders wait, give up and are let go: every waiter is let go in the end, and no sender waits without need.
func TestWaitsRandomly(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		l := &link{}
		b := connected(t, 1<<20, limits.NewQuota(limits.Limits{Queued: 1 << 22, Answers: 1 << 30}), l)
		type frame struct {
			f    dist.Frame
			cost int
		}
		var held []frame
		var waits []*Wait
		for range 300 {
			from := origin.PID(uint64(r.IntN(5)))
			switch r.IntN(6) {
			case 0:
				f := frame{dist.Frame{Op: dist.OpSend, From: from}, 1 + r.IntN(1<<18)}
				b.hold(&f.f, f.cost)
				held = append(held, f)
			case 1:
				if len(held) > 0 {
					i := r.IntN(len(held))
					b.hold(&held[i].f, -held[i].cost)
					held = slices.Delete(held, i, i+1)
				}
			case 2, 3:
				l.buffered += r.IntN(1 << 20)
				full, err := b.Put(nil, dist.Frame{Op: dist.OpSend, From: from})
				require.NoError(t, err)
				w := b.Space(from, nil)
				if full {
					require.NotNil(t, w)
				}
				if w != nil {
					waits = append(waits, w)
				}
			case 4:
				l.buffered = 0
				b.take(nil, 0)
			case 5:
				if len(waits) > 0 {
					b.Forget(waits[r.IntN(len(waits))])
				}
			}
			n := 0
			for _, w := range waits {
				if !w.gone {
					n++
				}
			}
			require.Equal(t, n, b.waits.held)
		}
		for _, f := range held {
			b.hold(&f.f, -f.cost)
		}
		for b.waits.space.Len() > 0 {
			b.take(nil, 0)
		}
		for _, w := range waits {
			require.True(t, w.gone)
		}
		require.Zero(t, b.waits.held)
		require.Empty(t, b.waits.behind)
	}
}

// However many senders have long messages, a message without a place in the link is not offered to it until there is a
// place, and then the others are not offered either.
func TestLongMessagesOfMany(t *testing.T) {
	const senders, places = 500, 4
	l := &link{long: map[wire.PID]bool{}, places: places}
	w, _ := writer(l)
	w.limit = l
	var frames []dist.Frame
	for i := range senders {
		from := origin.PID(uint64(i))
		frames = append(frames, dist.Frame{Op: dist.OpSend, From: from, Payload: "long"}, dist.Frame{Op: dist.OpSend, From: from, Payload: "short"})
	}
	done, err := w.all(frames)
	require.NoError(t, err)
	require.Equal(t, 2*senders, done)
	require.Len(t, l.wrote, places)
	l.writes = 0
	for range 10 {
		more, err := w.flush(false)
		require.NoError(t, err)
		require.True(t, more)
	}
	require.Equal(t, 10*places, l.writes, "only of those whose long message is under way")
	for i := range senders {
		l.writes = 0
		delete(l.long, origin.PID(uint64(i)))
		_, err := w.flush(false)
		require.NoError(t, err)
		require.LessOrEqual(t, l.writes, 2*places+2)
	}
	more, err := w.flush(false)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, l.wrote, 2*senders)
	next := make(map[wire.PID]string)
	var long []wire.PID
	for _, f := range l.wrote {
		if isLong(&f) {
			long = append(long, f.From)
		}
		require.Equal(t, next[f.From] == "long", f.Payload == "short", "of one sender in order")
		next[f.From] = f.Payload.(string)
	}
	require.True(t, slices.IsSortedFunc(long, func(a, b wire.PID) int { return int(a.Number()) - int(b.Number()) }), "in the order in which they came")
}
