package node

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire/dist"
)

// readerOf returns the reader of a peer of n; the calling goroutine is that reader. read is called when another
// goroutine has become the reader.
func readerOf(t *testing.T, cfg Config, read func()) (*Node, *peers.Reader) {
	cfg.Name, cfg.Distribution = "a@127.0.0.1", &Distribution{Cookie: "c", Finder: &discovery.Static{}}
	n, err := Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	p := n.dist.Detached("b@127.0.0.1", &ending{read: read})
	r := p.NewReader(p.Conn())
	r.Begin()
	return n, r
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

// The messages in a batch for a process that dies meanwhile become dead letters, one by one; a batch ends with the last
// message there is, and is full at its size.
func TestBatchForTheDead(t *testing.T) {
	n, r := readerOf(t, Config{Blocked: time.Hour}, func() { t.Error("nothing keeps it") }) // however busy the machine is
	defer n.peers.Leave()
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
	r.Deliver() // nothing to deliver

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

// The reader runs the handlers for a batch, until they take long: then workers do; and another goroutine becomes the
// reader when a handler does not end.
func TestReaderHandlesBatches(t *testing.T) {
	if !executor.Inline {
		t.Skip("built so that readers run nothing themselves")
	}
	left := make(chan struct{})
	n, r := readerOf(t, Config{Workers: 8, Blocked: 5 * time.Second}, func() { close(left) }) // a fifth is long on any machine
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
	idle := func() { // otherwise the next batch goes to whoever handles this one
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
		if t.Failed() { // this goroutine is still the reader
			n.peers.Leave()
		}
	}()
	until(true, func() {}) // at the first try, unless the machine is busy
	until(false, func() {  // at the third try, unless the reading takes long, too
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

// A run in a mailbox counts as all its messages: they are counted, shown, left for another behaviour and taken by a
// match, in every kind of process that gets runs.
func TestRunInMailbox(t *testing.T) {
	n, r := readerOf(t, Config{}, func() { t.Error("nothing keeps it") })
	defer n.peers.Leave()
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
				left = 1 // the message being handled counts
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

// choosy takes even numbers, and odd ones once it has the last even one.
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

// script is a link on which frames come as if in pieces. It notes how many answers have been written each time they are
// sent.
type script struct {
	dist.Link
	frames []dist.Frame
	ends   []int // of the pieces
	read   int
	wrote  int
	sent   []int
}

func (s *script) Peer() dist.Peer { return dist.Peer{} }
func (s *script) Close() error    { return nil }

func (s *script) Read(f *dist.Frame) error {
	if s.read == len(s.frames) {
		return errors.New("the end")
	}
	*f = s.frames[s.read]
	s.read++
	return nil
}

func (s *script) More() bool {
	for _, end := range s.ends {
		if s.read == end {
			return false
		}
	}
	return true
}

func (s *script) Write(*dist.Frame) (int, error) {
	s.wrote++
	return s.wrote, nil
}

func (s *script) Try() bool {
	s.sent = append(s.sent, s.wrote)
	return false
}

// Answers to frames that have come together are sent together, when there is no more to read or there are many.
func TestAnswersTogether(t *testing.T) {
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	defer n.Stop()
	l := &script{ends: []int{1, 41, 43, 48}}
	dead := n.sys.Origin.PID(1 << 40)
	for i := range 48 {
		l.frames = append(l.frames, dist.Frame{Op: dist.OpMonitor, To: dead, Ref: n.sys.Origin.RefOf(uint64(i + 1))})
	}
	n.dist.Detached("b@127.0.0.1", l).NewReader(l).Run()
	assert.Equal(t, []int{1, 33, 41, 43, 48}, l.sent)
}

// A handler that may take long holds back no answer except its own.
func TestAnswersBeforeAHandler(t *testing.T) {
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{},
		Timing: Timing{Awake: -time.Nanosecond}}})
	require.NoError(t, err)
	defer n.Stop()
	l := &script{ends: []int{11}}
	var sent []int
	pid, err := n.Spawn(ActorFunc(func(*Context, any) error {
		sent = append(sent, l.sent...)
		return nil
	}))
	require.NoError(t, err)
	for s := n.sys.Pool.Stats(); s.Active+s.Waiting > 0; s = n.sys.Pool.Stats() {
		runtime.Gosched() // until the actor is at rest: otherwise its worker may handle the message, not the reader
	}
	for i := range 10 {
		f := dist.Frame{Op: dist.OpMonitor, To: n.sys.Origin.PID(1 << 40), Ref: n.sys.Origin.RefOf(uint64(i + 1))}
		l.frames = append(l.frames, f)
	}
	l.frames = append(l.frames, dist.Frame{Op: dist.OpSend, To: pid, Payload: "m"})
	n.dist.Detached("b@127.0.0.1", l).NewReader(l).Run()
	require.NoError(t, n.Stop())
	assert.Equal(t, []int{10}, sent)
}

// bringing is a link that delivers some frames at once and then ends.
type bringing struct {
	dist.Link
	mu     sync.Mutex // readers take turns
	frames []dist.Frame
}

func (b *bringing) Peer() dist.Peer { return dist.Peer{} }
func (b *bringing) Close() error    { return nil }

func (b *bringing) More() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.frames) > 0
}

func (b *bringing) Read(f *dist.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.frames) == 0 {
		return errors.New("the end")
	}
	*f, b.frames = b.frames[0], b.frames[1:]
	return nil
}

// listed is an actor that reports its alias.
type listed struct {
	alias chan Ref
	got   func(msg any)
}

func (l listed) Init(c *Context) error {
	l.alias <- c.Alias()
	return nil
}

func (l listed) Receive(_ *Context, msg any) error {
	l.got(msg)
	return nil
}

// When frames for many processes have come together, the reader runs their handlers once it has read all of them. If
// one of the handlers keeps it, another goroutine reads on.
func TestReaderGathers(t *testing.T) {
	if !executor.Inline {
		t.Skip("built so that readers run nothing themselves")
	}
	n, err := Start(Config{Name: "a@127.0.0.1", Workers: 8, Blocked: 200 * time.Millisecond,
		Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })

	const many = 32 // the reader takes them together
	var mu sync.Mutex
	var by map[uint64]int // messages, by who has handled them
	var handled int
	var others, all chan struct{} // closed when all but one are handled, and when all are
	handle := func() {}
	l := listed{make(chan Ref), func(msg any) {
		if msg == 3 {
			handle()
		}
		mu.Lock()
		defer mu.Unlock()
		by[fiber.GoroutineID()]++
		switch handled++; handled {
		case many - 1:
			close(others)
		case many:
			close(all)
		}
	}}
	var frames []dist.Frame
	var pids []PID
	for i := range many {
		pid, err := n.Spawn(l)
		require.NoError(t, err)
		pids = append(pids, pid)
		frames = append(frames, dist.Frame{Op: dist.OpSend, Ref: <-l.alias, Payload: i})
	}
	read := func() (mine int) { // how many messages the reader has handled itself
		for _, pid := range pids {
			for info, err := n.Info(pid); info.State != observe.Idle; info, err = n.Info(pid) {
				require.NoError(t, err)
				runtime.Gosched()
			}
		}
		by, handled, others, all = map[uint64]int{}, 0, make(chan struct{}), make(chan struct{})
		p := n.dist.Detached("b@127.0.0.1", &bringing{frames: frames})
		me := make(chan uint64, 1)
		go func() {
			me <- fiber.GoroutineID()
			p.NewReader(p.Conn()).Run()
		}()
		<-all
		mu.Lock()
		defer mu.Unlock()
		return by[<-me]
	}
	for mine, i := 0, 0; mine < many; i++ { // at the first try, unless the machine is busy
		require.Less(t, i, 1000, "never all of them")
		mine = read()
	}
	handle = func() { <-others }
	read()
}
