package node

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/reader"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire/dist"
)

// readerOf returns the reader of a peer of n, which this goroutine is. read is called when
// another goroutine has become the reader.
func readerOf(t *testing.T, cfg Config, read func()) (*Node, *reader.Reader) {
	cfg.Name, cfg.Distribution = "a@127.0.0.1", &Distribution{Cookie: "c", Finder: &discovery.Static{}}
	n, err := Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	p := n.dist.Detached("b@127.0.0.1", &ending{read: read}).Owner().(*peer)
	p.newReader(p.Link())
	p.reader.Begin()
	return n, p.reader
}

// ending is a link that ends when it is read.
type ending struct {
	dist.Link
	read func()
}

func (e *ending) Peer() dist.Peer { return dist.Peer{} }
func (e *ending) Close() error    { return nil }
func (e *ending) Read(*dist.Frame) error {
	e.read()
	return errors.New("the end")
}

// What is in a batch for a process that dies meanwhile is a dead letter, message by
// message; a batch ends with the last that is there, and is full at its size.
func TestBatchForTheDead(t *testing.T) {
	n, r := readerOf(t, Config{Blocked: time.Hour}, func() { t.Error("nothing keeps it") }) // however busy the machine is
	defer (*peer).Leave(&peer{n: n})
	pid, err := n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	frame := func(msg any) *dist.Frame { return &dist.Frame{Op: dist.OpSend, To: pid, Payload: msg} }
	assert.False(t, r.Pack(frame(0), false), "one alone needs no batch")
	for i := range 5 {
		require.True(t, r.Pack(frame(i), true))
	}
	assert.False(t, r.Pack(&dist.Frame{Op: dist.OpSend, To: n.sys.Origin.PID(1 << 40), Payload: 1}, true), "for another")
	assert.False(t, r.Pack(&dist.Frame{Op: dist.OpLink, To: pid}, true))
	n.Exit(pid, Kill)
	dead := n.DeadLetters(64)
	r.Deliver()
	for i := range 5 {
		l := <-dead.C
		assert.Equal(t, deadletter.Letter{Cause: deadletter.NoProcess, To: pid, Message: i}, deadletter.Letter{Cause: l.Cause, To: l.To, Message: l.Message})
	}
	assert.EqualValues(t, 5, n.Stats().DeadLetters[deadletter.NoProcess])
	r.Deliver() // nothing

	pid, err = n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	for i := range inbox.RunSize {
		require.True(t, r.Pack(frame(i), true))
	}
	if executor.Inline {
		assert.Equal(t, inbox.RunSize, r.Owed(), "it has been delivered")
	}
	assert.True(t, r.Help())
}

// What a batch sets off the reader does, until it takes long: then workers; and somebody else
// is the reader when it does not end.
func TestReaderHandlesBatches(t *testing.T) {
	if !executor.Inline {
		t.Skip("built so that readers run nothing themselves")
	}
	left := make(chan struct{})
	n, r := readerOf(t, Config{Workers: 8, Blocked: 5 * time.Second}, func() { close(left) }) // a fifth of it is long on any machine
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
	batch := func(f func()) (still bool) {
		do.Store(&f)
		for i := range inbox.RunSize {
			require.True(t, r.Pack(&dist.Frame{Op: dist.OpSend, To: pid, Payload: i}, true))
		}
		return r.Owed() == 0 || r.Help()
	}
	idle := func() { // or the next batch is for who handles this one
		for info, err := n.Info(pid); info.State != observe.Idle; info, err = n.Info(pid) {
			require.NoError(t, err)
			runtime.Gosched()
		}
	}
	me := fiber.GoroutineID()
	until := func(mine bool, f func()) { // the reader handles batches of f, or workers do
		for range 1000 {
			require.True(t, batch(f))
			by := <-handled
			idle()
			if mine == (by == me) {
				return
			}
		}
		t.Fatal("never, in 1,000 batches")
	}
	defer func() {
		if t.Failed() { // this goroutine still is the reader
			(*peer).Leave(&peer{n: n})
		}
	}()
	until(true, func() {}) // at the first, unless the machine is busy
	until(false, func() {  // at the third, unless the reading takes long, too
		for start := time.Now(); time.Since(start) <= 2*time.Millisecond; {
		}
	})
	for range 1000 { // the reader's turn comes again, and another goroutine is the reader
		still := batch(func() {
			if fiber.GoroutineID() == me {
				<-left
			}
		})
		<-handled
		if !still {
			return
		}
		idle()
	}
	t.Fatal("nobody else was the reader, in 1,000 batches")
}

// A run in a mailbox is as many messages as it has: to be counted, shown, left for another
// behaviour and taken by a match, for every kind of process that gets runs.
func TestRunInMailbox(t *testing.T) {
	n, r := readerOf(t, Config{}, func() { t.Error("nothing keeps it") })
	defer (*peer).Leave(&peer{n: n})
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
			require.NoError(t, n.Send(pid, "hold"))
			<-held
			first, left := inbox.RunSize, 0
			for i := range inbox.RunSize {
				require.True(t, r.Pack(&dist.Frame{Op: dist.OpSend, To: pid, Payload: i}, true))
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
