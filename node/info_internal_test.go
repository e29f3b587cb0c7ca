package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/observe"
)

// observed is what all observers say about one process.
type observed struct {
	info, infos observe.Process
	mailboxes   int
}

// observeOnce asks all observers, on another goroutine.
func observeOnce(t *testing.T, n *Node, pid PID) observed {
	t.Helper()
	answers := make(chan observed, 1)
	go func() {
		var o observed
		var err error
		o.info, err = n.Info(pid)
		assert.NoError(t, err)
		for i := range n.Infos() {
			if i.PID == pid {
				o.infos = i
			}
		}
		o.mailboxes = n.Inside(process.Key{}).Mailboxes([]PID{pid})[0]
		n.Stats()
		answers <- o
	}()
	o := testkit.Receive(t, answers)
	assert.Equal(t, o.info, o.infos)
	assert.Equal(t, o.info.Mailbox, o.mailboxes)
	return o
}

// Whoever holds the stage of a process, or the lock of its queue, keeps it while the process is observed: here it does
// not release it before the observer has its answer.
func TestObservationTakesNothing(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	function := ProcessFunc(func(s *Process) error {
		for {
			if s.Receive() != "hold" {
				continue
			}
			if s.own.Coroutine != nil {
				require.True(t, s.own.Worker.Enter())
				entered <- struct{}{}
				<-release
				s.own.Worker.Leave()
			} else {
				s.own.QueueMu.Lock()
				entered <- struct{}{}
				<-release
				s.own.QueueMu.Unlock()
			}
		}
	})
	actor := ActorFunc(func(c *Context, m any) error {
		switch {
		case m != "hold":
		case c.own.Process.Kind == process.External:
			c.own.Process.Task().(*external).QueueMu.Lock()
			entered <- struct{}{}
			<-release
			c.own.Process.Task().(*external).QueueMu.Unlock()
		default:
			require.True(t, c.own.Worker.Enter())
			entered <- struct{}{}
			<-release
			c.own.Worker.Leave()
		}
		return nil
	})
	for name, c := range map[string]struct {
		b              Actor
		o              Options
		stage, waiting int
	}{
		"actor":           {actor, Options{}, 0, 3},
		"bounded mailbox": {actor, Options{Bounds: mailbox.Bounds{Messages: 9}}, 0, 3},
		"user mailbox":    {actor, Options{Mailbox: inbox.NewBounded(mailbox.Bounds{})}, 0, 3},
		"detached":        {actor, Options{Place: Detached()}, -1, 3},
		"coroutine":       {function, Options{Coroutine: true}, 0, 2},
		"process":         {function, Options{}, -1, 2},
		"boxed process":   {function, Options{Mailbox: inbox.NewBounded(mailbox.Bounds{})}, -1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := Start(Config{Workers: 1, Stages: 1, Blocked: time.Hour})
			require.NoError(t, err)
			defer n.Stop()
			pid, err := n.SpawnOpt(c.o, c.b)
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, n.Send(pid, "before"))
			}
			require.NoError(t, n.Send(pid, "hold"))
			<-entered
			defer func() { release <- struct{}{} }()
			require.NoError(t, n.Send(pid, "behind"))
			require.NoError(t, n.Send(pid, "behind"))
			revoked := n.sys.Pool.Revoked()
			o := observeOnce(t, n, pid)
			assert.Equal(t, observe.Running, o.info.State)
			assert.Equal(t, c.stage, o.info.Stage)
			// The message that an actor is handling still counts as waiting.
			assert.Equal(t, c.waiting, o.info.Mailbox)
			assert.EqualValues(t, 6-c.waiting, o.info.Handled)
			assert.Equal(t, revoked, n.sys.Pool.Revoked(), "stages that were taken")
		})
	}
}
