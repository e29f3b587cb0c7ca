package node

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire/dist"
)

// bringing is a link that brings some frames at once and then ends.
type bringing struct {
	dist.Link
	mu     sync.Mutex // one reader comes after the other
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

// listed is an actor that says under which alias it is to be had.
type listed struct {
	alias chan Ref
	got   func(msg any)
}

func (l listed) Init(c *Context) error {
	l.alias <- c.Alias(false)
	return nil
}

func (l listed) Receive(_ *Context, msg any) error {
	l.got(msg)
	return nil
}

// What frames for many processes set off that have come together the reader does, when it has read
// them. If one of them keeps it, another goroutine reads on.
func TestReaderGathers(t *testing.T) {
	if !executor.Inline {
		t.Skip("built so that readers run nothing themselves")
	}
	n, err := Start(Config{Name: "a@127.0.0.1", Workers: 8, Blocked: 200 * time.Millisecond,
		Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })

	const many = 32 // that the reader takes together
	var mu sync.Mutex
	var by map[uint64]int // messages, by who has handled them
	var handled int
	var others, all chan struct{} // closed when all but one are handled, and all
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
		p := n.dist.Detached("b@127.0.0.1", &bringing{frames: frames}).Owner().(*peer)
		me := make(chan uint64, 1)
		go func() {
			me <- fiber.GoroutineID()
			p.Read(p.Link())
		}()
		<-all
		mu.Lock()
		defer mu.Unlock()
		return by[<-me]
	}
	for mine, i := 0, 0; mine < many; i++ { // at the first time, unless the machine is busy
		require.Less(t, i, 1000, "never all of them")
		mine = read()
	}
	handle = func() { <-others }
	read()
}
