// Package blocking has what the analyzer blocking finds, and beside it what is right.
package blocking

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/statem"
)

type state struct {
	mu    sync.Mutex
	wg    sync.WaitGroup
	bare  chan int
	slots chan int
	file  *os.File
	conn  net.Conn
	other node.PID
}

func newState() *state { return &state{bare: make(chan int), slots: make(chan int, 10)} }

func (s *state) Init(c *node.Context) (err error) {
	s.file, err = os.Open("state") // once, and before anybody waits
	return err
}

func (s *state) Receive(c *node.Context, msg any) error {
	ctx := c.Context()
	switch m := msg.(type) {
	case time.Duration:
		time.Sleep(m) // want `time.Sleep keeps the stage waiting in a handler: use c.SendAfter`
		c.SendAfter(m, c.Self(), "awake")
	case string:
		conn, err := net.Dial("tcp", m) // want `net.Dial keeps the stage waiting`
		if err != nil {
			return err
		}
		s.conn = conn
		s.conn.Write([]byte(m)) // want `net.Conn.Write keeps the stage`
		http.Get(m)             // want `http.Get keeps the stage`
		n, self := c.Node(), c.Self()
		go func() {
			if r, err := http.Get(m); err == nil {
				n.Send(self, r.StatusCode)
			}
		}()
	case []byte:
		os.WriteFile("x", m, 0o600)      // want `os.WriteFile keeps the stage`
		s.file.Write(m)                  // want `os.File.Write keeps the stage`
		exec.Command("sync").Run()       // want `exec.Cmd.Run keeps the stage`
		defer func() { s.file.Sync() }() // want `os.File.Sync keeps the stage`
		io.Discard.Write(m)
	case int:
		s.bare <- m // want `a send on a channel keeps the stage`
		s.slots <- m
		select {
		case s.bare <- m:
		default:
		}
		select { // want `a select without default keeps the stage`
		case s.bare <- m:
		case <-ctx.Done():
		}
	case chan int:
		<-m           // want `a receive from a channel keeps the stage`
		for range m { // want `a range over a channel keeps the stage`
		}
		buffered := make(chan int, 1)
		buffered <- 1
	case bool:
		s.mu.Lock() // want `sync.Mutex.Lock keeps the stage .* keep what is shared in a process`
		s.mu.Unlock()
		if s.mu.TryLock() {
			s.mu.Unlock()
		}
		s.wg.Wait() // want `sync.WaitGroup.Wait keeps the stage`
	case *node.Future[int]:
		node.Await(ctx, c.Node(), m) // want `node.Await in the name of the node .* pass the handler`
		m.Result()
		node.Await(ctx, c, m)
	case float64:
		node.Call[int](ctx, c.Node(), s.other, m) // want `node.Call in the name of the node .* pass the handler`
		node.Call[int](ctx, c, s.other, m)
	case error:
		s.save() // want `save, which calls os.WriteFile, keeps the stage`
		s.count()
	default:
	}
	return nil
}

func (s *state) save() error { return os.WriteFile("x", nil, 0o600) }

func (s *state) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

type question struct{ genserver.Returns[int] }

func (s *state) ask(_ *genserver.Context, q question) (int, error) {
	time.Sleep(1) // want `time.Sleep keeps the stage`
	return 1, nil
}

func (s *state) idle(c *statem.Context, e statem.Event) (statem.State[*state], error) {
	time.Sleep(1) // want `time.Sleep keeps the stage`
	c.SetTimeout(statem.StateTimeout, time.Second, nil)
	return nil, nil
}

func (s *state) HandleEvent(c *event.Context, ev any) error {
	time.Sleep(1) // want `time.Sleep keeps the stage`
	return nil
}

// flush gives up its stage while it blocks.
func (s *state) flush(c *genserver.Context, msg any) (err error) {
	c.Blocking(func() { err = s.file.Sync() })
	return err
}

func (s *state) Terminate(c *genserver.Context, reason any) { s.file.Sync() }

// waits is a process of its own, and may wait.
func waits(p *node.Process) error {
	time.Sleep(1)
	return nil
}

type writer struct{ file *os.File }

// Receive may block.
//
//actornode:blocks it is spawned with node.Detached() by its users
func (w *writer) Receive(c *node.Context, msg any) error {
	_, err := w.file.Write(msg.([]byte))
	return err
}

// reader may block in all its methods.
//
//actornode:blocks it is spawned with node.Detached() by its users
type reader struct{ file *os.File }

func (r *reader) Receive(c *node.Context, msg any) error {
	_, err := r.file.Read(msg.([]byte))
	return err
}

type alone struct{ file *os.File }

func (a *alone) Receive(c *node.Context, msg any) error { return a.file.Sync() }

func start(n *node.Node) (node.PID, error) {
	n.SpawnOpt(node.Options{Place: node.Detached()}, node.ActorFunc(func(c *node.Context, msg any) error {
		time.Sleep(1)
		return nil
	}))
	return n.SpawnOpt(node.Options{Place: node.Detached()}, &alone{})
}

var _ = context.Background
