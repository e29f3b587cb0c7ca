package node

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/wire/dist"
)

// What is in a parcel for a process that dies meanwhile is a dead letter, message by
// message; a parcel ends with the last that is there, and is full at its size.
func TestParcelForTheDead(t *testing.T) {
	n, err := Start(Config{Blocked: time.Hour}) // the reader keeps its place, however busy the machine is
	require.NoError(t, err)
	defer n.Stop()
	pid, err := n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	p := &peer{n: n, reader: n.pool.Guest(func() { t.Error("nothing keeps it") })}
	letter := func(msg any) *dist.Frame { return &dist.Frame{Op: dist.OpSend, To: pid, Payload: msg} }
	assert.False(t, p.pack(letter(0), false), "one alone needs no parcel")
	for i := range 5 {
		require.True(t, p.pack(letter(i), true))
	}
	assert.False(t, p.pack(&dist.Frame{Op: dist.OpSend, To: n.origin.PID(1 << 40), Payload: 1}, true), "for another")
	assert.False(t, p.pack(&dist.Frame{Op: dist.OpLink, To: pid}, true))
	n.Exit(pid, Kill)
	dead := n.DeadLetters(64)
	p.deliverParcel()
	for i := range 5 {
		l := <-dead.C
		assert.Equal(t, DeadLetter{Cause: CauseNoProcess, To: pid, Message: i}, DeadLetter{Cause: l.Cause, To: l.To, Message: l.Message})
	}
	assert.EqualValues(t, 5, n.DeadLetterCounts()[CauseNoProcess])
	p.deliverParcel() // nothing

	pid, err = n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	for i := range inbox.RunSize {
		require.True(t, p.pack(letter(i), true))
	}
	assert.Nil(t, p.parcel.q, "it has been delivered")
	assert.True(t, p.help())
}

// What a parcel sets off the reader does, until it takes long: then workers, for a while
// that doubles; and somebody else is the reader when it does not end.
func TestReaderHandlesParcels(t *testing.T) {
	if !executor.Inline {
		t.Skip("built so that readers run nothing themselves")
	}
	synctest.Test(t, testReaderHandlesParcels)
}

func testReaderHandlesParcels(t *testing.T) {
	n, err := Start(Config{Workers: 8, Blocked: 5 * time.Second})
	require.NoError(t, err)
	defer n.Stop()
	handled := make(chan uint64, inbox.RunSize)
	var do atomic.Pointer[func()]
	pid, err := n.Spawn(ActorFunc(func(_ *Context, msg any) error {
		if msg == 0 {
			(*do.Load())()
		}
		if msg == inbox.RunSize-1 {
			handled <- fiber.GoroutineID()
		}
		return nil
	}))
	require.NoError(t, err)
	left := make(chan struct{})
	p := &peer{n: n, reader: n.pool.Guest(func() { close(left) })}
	parcel := func(f func()) (still bool) {
		do.Store(&f)
		for i := range inbox.RunSize {
			require.True(t, p.pack(&dist.Frame{Op: dist.OpSend, To: pid, Payload: i}, true))
		}
		return p.parcel.owed == 0 || p.help()
	}
	idle := func() { // or the next parcel is for who handles this one
		for info, err := n.Info(pid); info.State != StateIdle; info, err = n.Info(pid) {
			require.NoError(t, err)
			runtime.Gosched()
		}
	}
	me := fiber.GoroutineID()
	long := func() { time.Sleep(2 * inbox.RunSize * cheap) } // of the bubble's clock
	mine, pause := 0, 0
	for range 5 * mostDear {
		dear := p.parcel.dear
		require.True(t, parcel(long))
		if by := <-handled; dear > 1 {
			require.NotEqual(t, me, by)
		} else {
			require.Equal(t, me, by)
			pause = min(max(1, 2*pause), mostDear)
			require.Equal(t, pause, p.parcel.dear)
			mine++
		}
		idle()
	}
	require.Equal(t, mostDear, pause)
	require.Equal(t, 11, mine)
	p.parcel.dear = 0
	for i := range inbox.RunSize {
		require.True(t, p.pack(&dist.Frame{Op: dist.OpSend, To: pid, Payload: i + 1}, true))
	}
	require.Equal(t, inbox.RunSize, p.parcel.owed)
	p.parcel.owed = 1 << 24 // as if so many had taken so little
	require.True(t, p.help())
	require.Zero(t, p.parcel.pause)
	<-handled
	idle()
	require.False(t, parcel(func() { <-left }))
	<-handled
}

// A run in a mailbox is as many messages as it has: to be counted, shown, left for another
// behaviour and taken by a match, for every kind of process that gets runs.
func TestRunInMailbox(t *testing.T) {
	n, err := Start(Config{})
	require.NoError(t, err)
	defer n.Stop()
	for name, o := range map[string]Options{
		"actor":     {},
		"coroutine": {Coroutine: true},
		"detached":  {Place: Detached()},
	} {
		t.Run(name, func(t *testing.T) {
			held, release := make(chan struct{}), make(chan struct{})
			got := make(chan int, inbox.RunSize)
			hold := func() {
				held <- struct{}{}
				<-release
			}
			var b Actor = ProcessFunc(func(s *Process) error {
				s.Receive()
				hold()
				for parity := range 2 {
					for range inbox.RunSize / 2 {
						got <- s.ReceiveMatch(func(m any) bool { return m.(int)%2 == parity }).(int)
					}
				}
				return nil
			})
			if !o.Coroutine {
				b = choosy{hold: hold, got: got}
			}
			pid, err := n.SpawnOpt(o, b)
			require.NoError(t, err)
			p := &peer{n: n, reader: n.pool.Guest(func() { t.Error("nothing keeps it") })}
			require.NoError(t, n.Send(pid, "hold"))
			<-held
			first, left := inbox.RunSize, 0
			for i := range inbox.RunSize {
				require.True(t, p.pack(&dist.Frame{Op: dist.OpSend, To: pid, Payload: i}, true))
			}
			if !o.Coroutine {
				left = 1 // the message in hand counts
			}
			info, err := n.Info(pid)
			require.NoError(t, err)
			assert.Equal(t, first+left, info.Mailbox)
			msgs := n.messages(pid, 10)
			require.Len(t, msgs, 10)
			assert.Equal(t, []any{0, 1, 2}, msgs[left:left+3])
			release <- struct{}{}
			for _, parity := range []int{0, 1} {
				for i := parity; i < inbox.RunSize; i += 2 {
					require.Equal(t, i, <-got)
				}
			}
		})
	}
}

// choosy wants even numbers, and when it has the last of them odd ones.
type choosy struct {
	hold   func()
	got    chan int
	parity int
}

func (c choosy) Receive(ctx *Context, msg any) error {
	i, ok := msg.(int)
	switch {
	case !ok:
		c.hold()
		return nil
	case i%2 != c.parity:
		return ErrUnhandled
	case i == inbox.RunSize-2:
		ctx.Become(choosy{c.hold, c.got, 1})
	}
	c.got <- i
	return nil
}
