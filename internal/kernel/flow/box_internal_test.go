package flow

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

var origin = wire.NewOrigin(wire.NodeID{Name: "a@127.0.0.1", Creation: 1})

// link notes what is written to it, and reports about itself what a test sets.
type link struct {
	dist.Link
	buffered int
	wrote    []dist.Frame
	flushes  int
	tries    int
	long     map[wire.PID]bool       // senders with a long message under way
	places   int                     // how many there may be; 0: any number
	writes   int                     // number of writes asked for
	refuse   func(*dist.Frame) error // nil: nothing is refused
	flushed  func() error            // nil: nothing happens
}

func (l *link) Write(f *dist.Frame) (int, error) {
	l.writes++
	if l.long[f.From] {
		return 0, dist.ErrLater
	}
	if l.places > 0 && isLong(f) {
		if l.LongFull() {
			return 0, links.ErrLong
		}
		l.long[f.From] = true
	}
	if l.refuse != nil {
		if err := l.refuse(f); err != nil {
			return 0, err
		}
	}
	l.wrote = append(l.wrote, *f)
	return l.buffered, nil
}

// isLong reports whether the tests with places treat a frame's message as long.
func isLong(f *dist.Frame) bool { return f.Payload == "long" }

func (l *link) LongFull() bool { return l.places > 0 && len(l.long) >= l.places }

func (l *link) Flush(bool) (left int, err error) {
	l.flushes++
	if l.flushed != nil {
		err = l.flushed()
	}
	return len(l.long), err
}

func (l *link) Try() bool {
	l.tries++
	return false
}

func connected(t *testing.T, limit int, q *limits.Quota, l *link) *Box {
	b := new(Box)
	b.Init(limit, q, nil)
	require.False(t, b.Direct())
	require.True(t, b.Rest(l))
	require.True(t, b.Direct())
	return b
}

// While more than allowed waits for all peers together, each is held to its share. Sent and lost frames no longer
// count.
func TestShares(t *testing.T) {
	const mib = 1 << 20
	q := limits.NewQuota(limits.Limits{Queued: 10 * mib, Answers: 16 * mib})
	a, b := &link{}, &link{}
	boxes := []*Box{connected(t, 8*mib, q, a), connected(t, 8*mib, q, b)}
	put := func(i, bytes int) bool {
		[]*link{a, b}[i].buffered = bytes
		full, err := boxes[i].Put(nil, dist.Frame{Op: dist.OpSend})
		require.NoError(t, err)
		return full
	}
	require.False(t, put(0, 50<<10), "a little")
	require.Zero(t, q.Queued.Used(), "and nobody is told")
	require.False(t, put(0, 7*mib))
	require.False(t, put(1, 2*mib))
	require.EqualValues(t, 9*mib, q.Queued.Used())
	require.False(t, put(1, 3*mib), "all is taken")
	require.True(t, put(1, 5*mib+1), "more than all, and than its share")
	require.EqualValues(t, 1, q.Queued.Refused())
	require.NotNil(t, boxes[1].Space(wire.PID{}, nil))
	require.True(t, put(0, 7*mib+limits.Step+1))
	a.buffered = 0
	boxes[0].take(nil, 0) // in hand
	require.True(t, q.Queued.Over())
	boxes[0].take(nil, 0) // sent
	require.EqualValues(t, 5*mib+1, q.Queued.Used())
	require.False(t, put(1, 7*mib))
	boxes[1].Close()
	require.Zero(t, q.Queued.Used())
	require.Zero(t, q.Busy())
	_, err := boxes[1].Put(nil, dist.Frame{Op: dist.OpSend})
	require.ErrorIs(t, err, ErrOver)
	require.Nil(t, boxes[1].Space(wire.PID{}, nil))
}

// A box is held while it has more than it may have, and while a sender waits behind a long message of its own.
func TestHeld(t *testing.T) {
	q := limits.NewQuota(limits.Limits{Queued: 1 << 30, Answers: 1 << 30})
	l := &link{}
	b := connected(t, 1<<20, q, l)
	require.False(t, b.Held())
	f := dist.Frame{Op: dist.OpSend, From: origin.PID(1)}
	b.hold(&f, 1<<20)
	require.Nil(t, b.Space(origin.PID(2), nil), "another sender goes on")
	require.False(t, b.Held(), "nobody waits")
	behind := b.Space(f.From, nil)
	require.NotNil(t, behind)
	require.True(t, b.Held())
	b.hold(&f, -1<<20)
	<-behind.Over
	require.False(t, b.Held())
	l.buffered = 2 << 20
	full, err := b.Put(nil, f)
	require.NoError(t, err)
	require.True(t, full)
	require.True(t, b.Held())
}

// Whatever happens, the quota matches what waits, except within a step, and is zero when nothing waits; the counts
// match the frames that are there.
func TestBacklogRandomly(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		q := limits.NewQuota(limits.Limits{Queued: 1 << 30, Answers: 1 << 30})
		b := backlog{limit: 1 << 20, quota: q}
		type frame struct {
			f    dist.Frame
			cost int
		}
		var queue, held []frame
		link, taken := 0, 0
		for range 300 {
			f := dist.Frame{Op: dist.OpSend, From: origin.PID(uint64(r.IntN(3))), Answer: r.IntN(2) == 0}
			cost := 1 + r.IntN(1<<17)
			switch r.IntN(7) {
			case 0, 1:
				b.queue(&f, cost)
				queue = append(queue, frame{f, cost})
			case 2:
				link += cost
				b.write(link, nil)
			case 3: // a pass, which holds some
				taken = link + b.queued
				b.take(0)
				for _, k := range queue {
					if r.IntN(4) == 0 {
						b.hold(&k.f, k.cost)
						held = append(held, k)
					}
				}
				queue, link = nil, 0
			case 4, 5:
				if len(held) > 0 {
					b.hold(&held[0].f, -held[0].cost)
					held = held[1:]
				}
			case 6:
				if b.busy() {
					b.settle()
					taken = 0
				}
			}
			cost = sum(held, func(f frame) int { return f.cost })
			require.Equal(t, cost, b.sum)
			require.Equal(t, sum(queue, func(f frame) int { return f.cost }), b.queued)
			waits := link + taken + b.queued + b.sum
			require.Equal(t, waits, b.waiting().Outside+b.waiting().Linked)
			require.Less(t, max(waits-b.reported, b.reported-waits), limits.Step)
			require.EqualValues(t, b.reported, q.Queued.Used())
			require.GreaterOrEqual(t, b.waiting().Answers, b.waiting().Longest)
			for from, n := range b.behind {
				require.Equal(t, sum(held, func(k frame) int {
					if k.f.From == from {
						return k.cost
					}
					return 0
				}), n)
			}
		}
		b.end()
		require.Zero(t, q.Queued.Used())
		require.Zero(t, q.Busy())
	}
}

func sum[T any](all []T, of func(T) int) (n int) {
	for _, k := range all {
		n += of(k)
	}
	return n
}

// worker runs one turn.
type worker struct {
	holds    bool
	deferred int
}

func (w *worker) Holds() bool     { return w.holds }
func (w *worker) DeferToTurnEnd() { w.deferred++ }

// A turn sends what it has written at its end, at once and by itself. If others wait, if there is much to send or if
// the turn takes long, the writer sends it.
func TestTurn(t *testing.T) {
	l := &link{}
	b := connected(t, 1<<20, nil, l)
	w := &worker{holds: true}
	turn := &Turn{Worker: w}
	put := func(n int) {
		for range n {
			_, err := b.Put(turn, dist.Frame{Op: dist.OpSend})
			require.NoError(t, err)
		}
	}
	sleeps := func() { // again, if it has been woken
		select {
		case <-b.wake:
		default:
		}
		require.True(t, b.Rest(l))
	}
	put(3)
	require.Equal(t, 1, w.deferred)
	require.Zero(t, l.tries)
	turn.since = turn.since.Add(time.Hour) // however busy the machine is
	turn.End(false)
	require.Equal(t, 1, l.tries)
	require.Empty(t, b.wake)

	put(mostInTurn)
	require.Empty(t, b.wake)
	put(1)
	require.Len(t, b.wake, 1, "it sends much")
	turn.End(false)
	require.Equal(t, 1, l.tries)
	sleeps()

	put(1)
	turn.End(true)
	require.Len(t, b.wake, 1, "others wait")
	sleeps()

	put(1)
	turn.Overdue()
	require.Len(t, b.wake, 1, "it takes long")
	turn.End(false)
	turn.Overdue() // nothing
	sleeps()

	put(1)
	turn.since = turn.since.Add(-time.Hour) // it has taken long
	turn.End(false)
	require.Equal(t, 2, l.tries)
	deferred := w.deferred
	for range atOnce {
		put(1)
		require.Len(t, b.wake, 1, "at once")
		sleeps()
	}
	require.Equal(t, deferred, w.deferred)
	put(1)
	require.Equal(t, deferred+1, w.deferred)
	turn.End(true)
	sleeps()

	w.holds = false
	put(1)
	require.Len(t, b.wake, 1, "it has lost its stage")
}

// Frames written during a Defer leave when it ends.
func TestDefer(t *testing.T) {
	l := &link{}
	b := connected(t, 1<<20, nil, l)
	b.Defer()
	b.Put(nil, dist.Frame{Op: dist.OpSend})
	require.Zero(t, l.tries)
	b.Yield()
	require.Equal(t, 1, l.tries)
	b.Put(nil, dist.Frame{Op: dist.OpSend})
	b.EndDefer()
	require.Equal(t, 2, l.tries)
	require.Empty(t, b.wake)
	require.False(t, b.Idle(), "the writer has yet to take its last look")
}

// owner notes what it is told.
type owner struct {
	lost  []dist.Frame
	unfit []dist.Op
}

func (o *owner) Lose(frames []dist.Frame) { o.lost = append(o.lost, frames...) }
func (o *owner) Unfit(f *dist.Frame, _ *wire.EncodeError) any {
	o.unfit = append(o.unfit, f.Op)
	return nil
}

func writer(l *link) (*Writer, *owner) {
	b, o := new(Box), &owner{}
	b.Init(1<<20, nil, nil)
	return &Writer{Box: b, Link: l, Owner: o, held: make(map[wire.PID][]dist.Frame)}, o
}

// Frames that a sender sends behind a long message of its own wait for that message, in order; other senders do not
// wait. A sender with too much waiting is held up until there is less.
func TestLongMessages(t *testing.T) {
	a, b := origin.PID(1), origin.PID(2)
	l := &link{long: map[wire.PID]bool{a: true}}
	w, _ := writer(l)
	big := make([]byte, 200<<10)
	for i := range 3 {
		w.Box.Put(nil, dist.Frame{Op: dist.OpSend, From: a, ID: uint64(i), Payload: big})
		w.Box.Put(nil, dist.Frame{Op: dist.OpSend, From: b, ID: uint64(i)})
	}
	frames, _ := w.Box.take(nil, 0)
	done, err := w.all(frames)
	require.NoError(t, err)
	require.Equal(t, 6, done)
	require.Len(t, l.wrote, 3)
	require.Nil(t, w.Box.Space(b, nil))
	space := w.Box.Space(a, nil)
	require.NotNil(t, space)
	more, err := w.flush(false)
	require.NoError(t, err)
	require.True(t, more)
	select {
	case <-space.Over:
		t.Fatal("there is no space yet")
	default:
	}
	l.long = nil
	more, err = w.flush(false)
	require.NoError(t, err)
	require.True(t, more, "what was held is in the link now")
	<-space.Over
	require.Nil(t, w.Box.Space(a, nil))
	require.Len(t, l.wrote, 6)
	for i, f := range l.wrote[3:] {
		require.Equal(t, uint64(i), f.ID)
	}
	more, err = w.flush(false)
	require.NoError(t, err)
	require.False(t, more)
	require.Empty(t, w.behind)
}

// The owner is told of the frames that are not sent, in the order of the senders.
func TestLoseHeld(t *testing.T) {
	l := &link{long: map[wire.PID]bool{}}
	w, o := writer(l)
	var frames []dist.Frame
	for i := range 20 {
		from := origin.PID(uint64(i * 7 % 20))
		l.long[from] = true
		frames = append(frames, dist.Frame{Op: dist.OpSend, From: from})
	}
	_, err := w.all(frames)
	require.NoError(t, err)
	w.LoseHeld()
	require.Equal(t, frames, o.lost)
}

// A reason that cannot be sent is replaced; any other frame that cannot be sent is handed to the owner. The connection
// ends on any other error.
func TestUnfit(t *testing.T) {
	l := &link{refuse: func(f *dist.Frame) error {
		if _, ok := f.Payload.(chan int); ok {
			return &wire.EncodeError{Err: errors.New("no term")}
		}
		return nil
	}}
	w, o := writer(l)
	frames := []dist.Frame{{Op: dist.OpSend, Payload: make(chan int)}, {Op: dist.OpExit, Payload: make(chan int)},
		{Op: dist.OpDown, Payload: "fit"}}
	done, err := w.all(frames)
	require.NoError(t, err)
	require.Equal(t, 3, done)
	require.Equal(t, []dist.Op{dist.OpSend, dist.OpExit}, o.unfit)
	require.Len(t, l.wrote, 2)
	require.IsType(t, "", l.wrote[0].Payload)
	require.LessOrEqual(t, len(reasonText(make([]int, 10*maxReason))), maxReason)
	broken := errors.New("broken")
	l.refuse = func(*dist.Frame) error { return broken }
	done, err = w.all(frames)
	require.ErrorIs(t, err, broken)
	require.Zero(t, done)
}

// The writer writes queued frames, sleeps when nothing waits, and ends with the connection. After an error of the link,
// the frames it had in hand are lost.
func TestWriter(t *testing.T) {
	l := &link{}
	w, o := writer(l)
	done, ended := make(chan struct{}), make(chan error)
	w.Done = done
	go func() { ended <- w.Run() }()
	w.Box.Put(nil, dist.Frame{Op: dist.OpSend})
	testkit.UntilTrue(t, w.Box.Idle, "the writer sleeps")
	require.True(t, w.Box.Direct())
	w.Box.RequestTick()
	close(done)
	require.NoError(t, <-ended)
	require.Empty(t, w.Box.Close())
	require.Empty(t, o.lost)

	broken := errors.New("broken")
	l = &link{refuse: func(*dist.Frame) error { return broken }}
	w, o = writer(l)
	w.Done = done
	w.Box.Put(nil, dist.Frame{Op: dist.OpSend})
	require.ErrorIs(t, w.Run(), broken)
	require.Len(t, o.lost, 1)
	require.False(t, w.Box.Direct())
}
