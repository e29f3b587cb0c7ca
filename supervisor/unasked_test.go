package supervisor_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// secret is in each value that the runtime must not look into.
const secret = "hunter2"

// busy is a typical state in Go: what others write is behind a lock, which only its own code takes.
type busy struct {
	Password string
	Cache    busyCache
	Deep     *busyCache
	List     []map[string]int
}

type busyCache struct {
	mu    sync.Mutex
	Table map[int]string
	Words []string
	Any   []any
}

func newBusy() *busy {
	b := &busy{Password: secret, Deep: &busyCache{}, List: []map[string]int{{secret: 1}}}
	for _, c := range []*busyCache{&b.Cache, b.Deep} {
		c.Table, c.Words, c.Any = map[int]string{1: secret}, []string{secret}, []any{secret}
	}
	return b
}

// write writes all maps and slices until stop is closed.
func (b *busy) write(stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		for _, c := range []*busyCache{&b.Cache, b.Deep} {
			c.mu.Lock()
			c.Table[i%64], c.Words[0], c.Any[0] = secret, fmt.Sprint(secret, i), i
			delete(c.Table, (i+7)%64)
			c.mu.Unlock()
		}
		b.List[0][secret] = i
	}
}

type (
	busyServer  struct{ *busy }
	busyMachine struct{ *busy }
	busyHandler struct{ *busy }
	crashNow    struct{ How any } // nil: returns an error
	hidden      struct{ Password string }
)

func (s *busyServer) crash(_ *genserver.Context, m crashNow) error {
	if m.How == nil {
		return errors.New("broken")
	}
	panic(m.How)
}

func (m *busyMachine) only(_ *statem.Context, e statem.Event) (statem.State[*busyMachine], error) {
	if _, ok := e.Content.(crashNow); ok {
		panic("broken")
	}
	return nil, statem.ErrUnhandled
}

func (busyHandler) HandleEvent(_ *event.Context, e any) error { panic("broken") }

var busyServers = genserver.Define(genserver.OnInfo((*busyServer).crash))

// The runtime never looks into a user's value unasked: whatever it reports of a message, a state or a reason is the
// type. The maps and slices are written all the time; the race detector would see a read, and so would Go, which ends a
// program that ranges over such a map.
func TestNobodysValueIsWalkedUnasked(t *testing.T) {
	ctx := testkit.Context(t)
	shared := newBusy()
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { shared.write(stop) })
	defer writer.Wait()
	defer close(stop)

	var log logtest.Text
	n := nodetest.Start(t, node.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	checked := nodetest.Start(t, node.Config{Log: n.Log(), Isolation: isolation.Config{Check: true}})
	dead, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	n.Exit(dead, node.Kill)
	testkit.UntilTrue(t, func() bool { return !n.IsAlive(dead) }, "it lives")
	server := func(t *testing.T) node.PID {
		pid, err := busyServers.Start(ctx, n, &busyServer{shared}, node.Options{})
		require.NoError(t, err)
		return pid
	}
	machine := func(t *testing.T) node.PID {
		pid, err := statem.Define((*busyMachine).only).Start(ctx, n, &busyMachine{shared}, node.Options{})
		require.NoError(t, err)
		return pid
	}
	manager := func(t *testing.T) node.PID {
		pid, err := event.Start(ctx, n, event.Config{}, node.Options{})
		require.NoError(t, err)
		require.NoError(t, event.Add(ctx, n, pid, event.ID{Module: "busy"}, busyHandler{shared}))
		return pid
	}
	logs := func(to func(*testing.T) node.PID, msg any, want string) func(*testing.T) string {
		return func(t *testing.T) string {
			require.NoError(t, n.Send(to(t), msg))
			log.Await(t, want)
			return ""
		}
	}
	exits := func(how func() error) func(*testing.T) string {
		return func(t *testing.T) string {
			pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return how() }))
			require.NoError(t, err)
			require.NoError(t, n.Send(pid, 1))
			log.Await(t, "crash report")
			return ""
		}
	}
	asks := func(to func(*testing.T) node.PID, ask func(node.PID) (any, error)) func(*testing.T) string {
		return func(t *testing.T) string {
			v, err := ask(to(t))
			require.NoError(t, err)
			return wire.Format(v)
		}
	}
	state := func(pid node.PID) (any, error) { return sys.GetState(ctx, n, pid) }
	status := func(pid node.PID) (any, error) { return sys.GetStatus(ctx, n, pid) }
	logged := func(pid node.PID) (any, error) {
		if _, err := sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), true}); err != nil {
			return nil, err
		}
		if err := n.Send(pid, shared); err != nil {
			return nil, err
		}
		return sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), wire.Atom("get")})
	}
	values := map[string]any{"pointer": shared, "in a tuple": wire.Tuple{wire.Atom("login"), shared}, "map": shared.List[0],
		"slice": shared.Deep.Any, "texts": shared.Deep.Words, "secret": secret, "struct": hidden{secret}, "bytes": []byte(secret)}
	paths := map[string]func(*testing.T) string{
		"server crash":   logs(server, crashNow{"broken"}, "crash report"),
		"server error":   logs(server, crashNow{}, "crash report"),
		"server state":   asks(server, state),
		"server status":  asks(server, status),
		"server log":     asks(server, logged),
		"machine crash":  logs(machine, crashNow{}, "crash report"),
		"machine state":  asks(machine, state),
		"machine status": asks(machine, status),
		"machine log":    asks(machine, logged),
		"handler crash": func(t *testing.T) string {
			require.NoError(t, event.Notify(n, manager(t), hidden{secret}))
			log.Await(t, "event handler terminated")
			return ""
		},
		"isolation": func(t *testing.T) string {
			got := make(chan struct{}, 1)
			pid, err := checked.Spawn(node.ActorFunc(func(*node.Context, any) error { got <- struct{}{}; return nil }))
			require.NoError(t, err)
			for _, m := range []any{shared, &busyServer{shared}, wire.Tuple{wire.Atom("login"), shared}} {
				require.NoError(t, checked.Send(pid, m))
				<-got
			}
			enter, leave := make(chan struct{}), make(chan struct{})
			pid, err = checked.Spawn(node.ActorFunc(func(*node.Context, any) error { enter <- struct{}{}; <-leave; return nil }))
			require.NoError(t, err)
			require.NoError(t, checked.Send(pid, 1))
			<-enter
			note := &hidden{secret}
			require.NoError(t, checked.Send(pid, note))
			note.Password += "3" //actornode:ignore aftersend the report of this is tested
			leave <- struct{}{}
			log.Await(t, "was changed after it was sent")
			<-enter
			close(leave)
			return ""
		},
		"handler state":      asks(manager, state),
		"panic with a state": exits(func() error { panic(shared) }),
		"exit with a state": func(t *testing.T) string {
			pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error {
				return fmt.Errorf("broken: %w", node.ExitWith(shared))
			}))
			require.NoError(t, err)
			_, err = node.Call[int](ctx, n, pid, 1)
			require.Error(t, err)
			return err.Error()
		},
		"text of an exit": func(*testing.T) string {
			return (&node.ExitError{Reason: shared}).Error() + node.ExitWith(shared).Error()
		},
		"id of a child": func(t *testing.T) string {
			sup, err := supervisor.Start(ctx, n, supervisor.Spec{}, node.Options{})
			require.NoError(t, err)
			_, err = supervisor.StartChild(ctx, n, sup, supervisor.Child{ID: shared, Start: nil})
			require.Error(t, err)
			return err.Error()
		},
	}
	for name, v := range values {
		paths["dead letter: "+name] = func(t *testing.T) string {
			letters := n.DeadLetters(1)
			defer letters.Close()
			require.NoError(t, n.Send(dead, v))
			<-letters.C
			return log.String()
		}
		paths["text of a term: "+name] = func(*testing.T) string { return wire.Format(wire.Tuple{busyServer{shared}, []any{v}}) }
		for who, to := range map[string]func(*testing.T) node.PID{"server": server, "machine": machine, "manager": manager} {
			paths["unexpected by a "+who+": "+name] = logs(to, v, "unexpected")
		}
		paths["bounded mailbox: "+name] = func(t *testing.T) string {
			pid, err := n.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Bytes: 1 << 20}},
				node.ActorFunc(func(*node.Context, any) error { return nil }))
			require.NoError(t, err)
			if name == "pointer" || name == "in a tuple" { // the size of values without a lock is counted
				require.NoError(t, n.Send(pid, v))
			}
			return ""
		}
		paths["trace: "+name] = func(t *testing.T) string {
			pid := server(t)
			tr, err := trace.Open(n, trace.Config{}, pid)
			require.NoError(t, err)
			defer tr.Close()
			require.NoError(t, n.Send(pid, v))
			<-tr.C
			info, err := n.Info(pid)
			require.NoError(t, err)
			require.NotEqual(t, observe.Dead, info.State)
			return ""
		}
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			log.Take()
			text := path(t) + log.String()
			require.NotContains(t, text, secret)
		})
	}
}
