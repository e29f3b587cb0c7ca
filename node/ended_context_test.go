package node_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	otpio "github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/node/registry"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/stage"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
)

// contextWorld holds the arguments for functions whose context has ended.
type contextWorld struct {
	n      *node.Node
	me     *node.Process
	pid    node.PID
	future *node.Future[int] // never answered
	scope  *pg.Scope
	apps   *application.Controller
}

// ofContexts are the functions of the packages of processes that take a context. nil: the end of ctx has no effect
// there, or the function is documented to act all the same.
var ofContexts = map[string]func(w contextWorld, ctx context.Context) error{
	"node.Call": func(w contextWorld, ctx context.Context) error {
		_, err := node.Call[int](ctx, w.me, w.pid, 1)
		return err
	},
	"node.Await": func(w contextWorld, ctx context.Context) error { _, err := node.Await(ctx, w.me, w.future); return err },
	"node.AwaitExit": func(w contextWorld, ctx context.Context) error {
		_, err := node.AwaitExit(ctx, w.me, w.pid)
		return err
	},
	"node.Deliver":  func(w contextWorld, ctx context.Context) error { return node.Deliver(ctx, w.me, w.pid, 1) },
	"node.*Connect": func(w contextWorld, ctx context.Context) error { return w.n.Connect(ctx, "b@h") },
	"node.Repeat": func(w contextWorld, ctx context.Context) error {
		_, err := node.Repeat(ctx, w.me, func() (int, error) { return 0, node.ErrMailboxFull })
		return err
	},
	"node.Retry": func(w contextWorld, ctx context.Context) error {
		_, err := node.Retry(ctx, w.me, func() (int, error) { return 0, node.ErrNoName })
		return err
	},
	"node.*Ping": func(w contextWorld, ctx context.Context) error { return w.n.Ping(ctx, "b@h") },
	"node.SpawnWait": func(w contextWorld, ctx context.Context) error {
		_, err := node.SpawnWait(ctx, w.me, node.Options{}, answering(nil))
		return err
	},
	"node.Calling": nil,

	"node_rpc.Apply": nil,
	"node_rpc.Call": func(w contextWorld, ctx context.Context) error {
		_, err := rpc.Call[int](ctx, w.me, w.n.Name(), "m", "f")
		return err
	},
	"node_rpc.Multi": func(w contextWorld, ctx context.Context) error {
		return rpc.Multi[int](ctx, w.me, []node.Atom{w.n.Name()}, "m", "f")[0].Err
	},
	"node_rpc.Spawn": func(w contextWorld, ctx context.Context) error {
		_, err := rpc.Spawn(ctx, w.me, w.n.Name(), "m", "f")
		return err
	},

	"node_genserver.Call": func(w contextWorld, ctx context.Context) error {
		_, err := genserver.Call(ctx, w.me, w.pid, askCup{})
		return err
	},
	"node_genserver.CallTo": func(w contextWorld, ctx context.Context) error {
		_, err := genserver.CallTo(ctx, w.me, genserver.AddrOf[cupsServer](w.pid), askCup{})
		return err
	},
	"node_genserver.*Start": func(w contextWorld, ctx context.Context) error {
		_, err := genserver.Define[cupsServer]().Start(ctx, w.me, cupsServer{}, node.Options{})
		return err
	},
	"node_genserver.*StartAddr": func(w contextWorld, ctx context.Context) error {
		_, err := genserver.Define[cupsServer]().StartAddr(ctx, w.me, cupsServer{}, node.Options{})
		return err
	},
	"node_statem.*Start": func(w contextWorld, ctx context.Context) error {
		_, err := statem.Define((*cupsMachine).open).Start(ctx, w.me, &cupsMachine{}, node.Options{})
		return err
	},

	"node_event.Add": func(w contextWorld, ctx context.Context) error { return event.Add(ctx, w.me, w.pid, event.ID{}, nil) },
	"node_event.Call": func(w contextWorld, ctx context.Context) error {
		_, err := event.Call[int](ctx, w.me, w.pid, event.ID{}, 1)
		return err
	},
	"node_event.Delete": func(w contextWorld, ctx context.Context) error {
		_, err := event.Delete(ctx, w.me, w.pid, event.ID{}, 1)
		return err
	},
	"node_event.Handlers": func(w contextWorld, ctx context.Context) error {
		_, err := event.Handlers(ctx, w.me, w.pid)
		return err
	},
	"node_event.Start": func(w contextWorld, ctx context.Context) error {
		_, err := event.Start(ctx, w.me, event.Config{}, node.Options{})
		return err
	},
	"node_event.Subscribe": func(w contextWorld, ctx context.Context) error {
		_, err := event.Subscribe[int](ctx, w.me, w.pid, 1)
		return err
	},
	"node_event.Swap": func(w contextWorld, ctx context.Context) error {
		return event.Swap(ctx, w.me, w.pid, event.ID{}, 1, event.ID{}, nil)
	},
	"node_event.SyncNotify": func(w contextWorld, ctx context.Context) error { return event.SyncNotify(ctx, w.me, w.pid, 1) },

	"node_sys.ChangeCode": func(w contextWorld, ctx context.Context) error { return sys.ChangeCode(ctx, w.me, w.pid, "m", 1, 2) },
	"node_sys.Debug": func(w contextWorld, ctx context.Context) error {
		_, err := sys.Debug(ctx, w.me, w.pid, node.Atom("no_debug"))
		return err
	},
	"node_sys.GetState":  func(w contextWorld, ctx context.Context) error { _, err := sys.GetState(ctx, w.me, w.pid); return err },
	"node_sys.GetStatus": func(w contextWorld, ctx context.Context) error { _, err := sys.GetStatus(ctx, w.me, w.pid); return err },
	"node_sys.ReplaceState": func(w contextWorld, ctx context.Context) error {
		_, err := sys.ReplaceState(ctx, w.me, w.pid, nil)
		return err
	},
	"node_sys.Resume":  func(w contextWorld, ctx context.Context) error { return sys.Resume(ctx, w.me, w.pid) },
	"node_sys.Stop":    func(w contextWorld, ctx context.Context) error { return sys.Stop(ctx, w.me, w.pid, node.Normal) },
	"node_sys.Suspend": func(w contextWorld, ctx context.Context) error { return sys.Suspend(ctx, w.me, w.pid) },

	"node_global.Disconnect": func(w contextWorld, ctx context.Context) error { _, err := global.Disconnect(ctx, w.me); return err },
	"node_global.Lock": func(w contextWorld, ctx context.Context) error {
		return global.Lock(ctx, w.me, global.ID{Resource: 1, Requester: 2})
	},
	"node_global.Look": func(w contextWorld, ctx context.Context) error { _, err := global.Look(ctx, w.me); return err },
	"node_global.Register": func(w contextWorld, ctx context.Context) error {
		return global.Register(ctx, w.me, "g", w.pid, global.Options{})
	},
	"node_global.Sync": func(w contextWorld, ctx context.Context) error { return global.Sync(ctx, w.me) },
	"node_global.Trans": func(w contextWorld, ctx context.Context) error {
		return global.Trans(ctx, w.me, global.ID{Resource: 1, Requester: 2}, func() error { return errors.New("it has been called") })
	},
	"node_global.TryLock": func(w contextWorld, ctx context.Context) error {
		_, err := global.TryLock(ctx, w.me, global.ID{Resource: 1, Requester: 2})
		return err
	},
	"node_global.Unlock":     nil, // the lock is removed all the same
	"node_global.Unregister": func(w contextWorld, ctx context.Context) error { return global.Unregister(ctx, w.me, "g") },

	"node_pg.Find": func(w contextWorld, ctx context.Context) error { _, err := pg.Find(ctx, w.me, "none"); return err },
	"node_pg.Start": func(w contextWorld, ctx context.Context) error {
		_, err := pg.Start(ctx, w.me, pg.Config{Name: "other"})
		return err
	},
	"node_pg.*Demonitor": func(w contextWorld, ctx context.Context) error {
		_, err := w.scope.Demonitor(ctx, w.me, w.n.MakeRef())
		return err
	},
	"node_pg.*Join":     func(w contextWorld, ctx context.Context) error { return w.scope.Join(ctx, w.me, "g", w.pid) },
	"node_pg.*Leave":    func(w contextWorld, ctx context.Context) error { return w.scope.Leave(ctx, w.me, "g", w.pid) },
	"node_pg.*LeaveAll": func(w contextWorld, ctx context.Context) error { _, err := w.scope.LeaveAll(ctx, w.me); return err },
	"node_pg.*Monitor": func(w contextWorld, ctx context.Context) error {
		_, _, err := w.scope.Monitor(ctx, w.me, "g")
		return err
	},
	"node_pg.*MonitorScope": func(w contextWorld, ctx context.Context) error {
		_, _, err := w.scope.MonitorScope(ctx, w.me)
		return err
	},
	"node_port.Inspect": func(w contextWorld, ctx context.Context) error { _, err := port.Inspect(ctx, w.me, w.pid); return err },
	"node_port.Start": func(w contextWorld, ctx context.Context) error {
		_, err := port.Start(ctx, w.me, port.Config{Command: "true"}, node.Options{})
		return err
	},
	"node_migrate.Start": func(w contextWorld, ctx context.Context) error { return migrate.Start(ctx, w.n) },
	"node_migrate.To": func(w contextWorld, ctx context.Context) error {
		_, err := migrate.To(ctx, w.n, w.pid, "b@h")
		return err
	},
	"node_otp.Call":      func(w contextWorld, ctx context.Context) error { _, err := otpio.Call(ctx, w.me, w.pid, 1); return err },
	"node_otp.Print":     nil, // it is the context of the process that prints
	"node_otp.Writer":    nil,
	"node_lifetime.Call": func(w contextWorld, ctx context.Context) error { return lifetimeCall(w, ctx) },
	"node_keyed.Start": func(w contextWorld, ctx context.Context) error {
		_, err := keyed.Start(ctx, w.n, answeringByKey)
		return err
	},
	"node_keyed.Call": func(w contextWorld, ctx context.Context) error {
		_, err := keyed.Call[int](ctx, w.me, byKey(w), 1, 1)
		return err
	},
	"node_keyed.Ask": func(w contextWorld, ctx context.Context) error {
		_, err := keyed.Ask(ctx, w.me, byKey(w), 1, askCup{})
		return err
	},
	"node_keyed.Send": func(w contextWorld, ctx context.Context) error { return keyed.Send(ctx, w.me, byKey(w), 1, 1) },
	"node_keyed.*Use": func(w contextWorld, ctx context.Context) error {
		return byKey(w).Use(ctx, w.me, 1, func(node.PID) error { return nil })
	},
	"node_keyed.*End": func(w contextWorld, ctx context.Context) error { return byKey(w).End(ctx, w.me, 1) },
	"node_pool.Start": func(w contextWorld, ctx context.Context) error {
		_, err := pool.Start(ctx, w.n, answeringPool)
		return err
	},
	"node_pool.First": func(w contextWorld, ctx context.Context) error {
		_, err := pool.First[int](ctx, w.me, startPool(w), 1)
		return err
	},
	"node_pool.*Resize": func(w contextWorld, ctx context.Context) error { return startPool(w).Resize(ctx, w.me, 2) },
	"node_tasks.Start": func(w contextWorld, ctx context.Context) error {
		_, err := tasks.Start(ctx, w.n, tasks.Options{}, node.Options{})
		return err
	},
	"node_tasks.Map":          mapping(tasks.Map[int, int]),
	"node_tasks.MapUnordered": mapping(tasks.MapUnordered[int, int]),
	"node_registry.Start": func(w contextWorld, ctx context.Context) error {
		_, err := registry.Start[string, int](ctx, w.n, registry.Options{})
		return err
	},
	"node_lifetime.Idle":  nil, // they look, and change nothing
	"node_lifetime.Wait":  nil,
	"node_stage.*Close":   nil, // of the caller's own stage: it is closed all the same
	"node_stage.SetCount": func(w contextWorld, ctx context.Context) error { return stage.SetCount(ctx, w.n, 2) },
	"node.*Context":       nil, // returns one

	"supervisor.ChildSpec": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.ChildSpec(ctx, w.me, w.pid, 1)
		return err
	},
	"supervisor.CountChildren": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.CountChildren(ctx, w.me, w.pid)
		return err
	},
	"supervisor.DeleteChild": func(w contextWorld, ctx context.Context) error { return supervisor.DeleteChild(ctx, w.me, w.pid, 1) },
	"supervisor.RestartChild": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.RestartChild(ctx, w.me, w.pid, 1)
		return err
	},
	"supervisor.Run": nil, // stops the tree, and then has no error
	"supervisor.Start": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.Start(ctx, w.me, supervisor.Spec{}, node.Options{})
		return err
	},
	"supervisor.StartChild": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.StartChild(ctx, w.me, w.pid, supervisor.Child{})
		return err
	},
	"supervisor.StartDynamic": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.StartDynamic(ctx, w.me, w.pid)
		return err
	},
	"supervisor.TerminateChild": func(w contextWorld, ctx context.Context) error { return supervisor.TerminateChild(ctx, w.me, w.pid, 1) },
	"supervisor.WhichChildren": func(w contextWorld, ctx context.Context) error {
		_, err := supervisor.WhichChildren(ctx, w.me, w.pid)
		return err
	},

	"supervisor_application.Start": func(w contextWorld, ctx context.Context) error { _, err := application.Start(ctx, w.n); return err },
	"supervisor_application.*EnsureAllStarted": func(w contextWorld, ctx context.Context) error {
		_, err := w.apps.EnsureAllStarted(ctx, "shop", "")
		return err
	},
	"supervisor_application.*Start":    func(w contextWorld, ctx context.Context) error { return w.apps.Start(ctx, "shop", "") },
	"supervisor_application.*StartAll": func(w contextWorld, ctx context.Context) error { return w.apps.StartAll(ctx) },
	"supervisor_application.*Stop":     func(w contextWorld, ctx context.Context) error { return w.apps.Stop(ctx, "shop") },
	"supervisor_application.*StopAll":  func(w contextWorld, ctx context.Context) error { return w.apps.StopAll(ctx) },
	"supervisor_application.*Unload":   func(w contextWorld, ctx context.Context) error { return w.apps.Unload(ctx, "shop") },
	"supervisor_application.*Which":    func(w contextWorld, ctx context.Context) error { _, err := w.apps.Which(ctx); return err },
}

type askCup struct{ genserver.To[cupsServer, int] }

var answeringPool = pool.Options{New: func() node.Actor { return answering(nil) }}

// startPool starts a pool on the node of w.
func startPool(w contextWorld) *pool.Pool {
	p, err := pool.Start(context.Background(), w.n, answeringPool)
	if err != nil {
		panic(err)
	}
	return p
}

var answeringByKey = keyed.Kind[int]{Name: "keyed", New: func(int) (node.Actor, error) { return answering(nil), nil }}

// byKey returns a group with a process for the key 1. The next one takes its place.
func byKey(w contextWorld) *keyed.Group[int] {
	ctx := context.Background()
	w.n.Exit(node.Atom("keyed"), node.Kill)
	g, err := keyed.Start(ctx, w.n, answeringByKey)
	if err == nil {
		err = g.Use(ctx, w.n, 1, func(node.PID) error { return nil })
	}
	if err != nil {
		panic(err)
	}
	return g
}

// mapping calls a function for one item.
func mapping(m func(ctx context.Context, from node.Caller, limit int, items iter.Seq[int],
	f func(p *node.Process, item int) (int, error)) iter.Seq2[int, error]) func(w contextWorld, ctx context.Context) error {
	return func(w contextWorld, ctx context.Context) (err error) {
		for _, err = range m(ctx, w.n, 1, slices.Values([]int{1}), func(p *node.Process, _ int) (int, error) {
			return 0, p.Send(w.pid, "an item")
		}) {
		}
		return err
	}
}

func lifetimeCall(w contextWorld, ctx context.Context) error {
	o, err := lifetime.Own(w.n, answering(nil), node.Options{})
	if err != nil {
		return err
	}
	_, err = lifetime.Call[int](ctx, w.n, o, 1)
	w.n.Exit(o.PID(), node.Kill)
	return err
}

// otherPackages take contexts for other purposes than asking processes.
var otherPackages = []string{"node_discovery", "node_dns", "node_gossip", "node_channel", "node_stream", "node_admin", "node_active",
	"node_futures", "node_match", "node_trace", "node_forward", "node_otel"}

// takesContext finds the functions and methods in the API list.
var takesContext = regexp.MustCompile(`(?m)^func (\([^)]*\) )?(\w+)(\[[^(]*\])?\([^)]*context\.Context`)

// No function that takes a context is forgotten.
func TestEndedContextsAreAll(t *testing.T) {
	files, err := filepath.Glob("../testdata/api/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		if !strings.HasPrefix(name, "node") && !strings.HasPrefix(name, "supervisor") || name == "supervisor_tree" ||
			slices.Contains(otherPackages, name) {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		text = bytes.ReplaceAll(text, []byte("func(ctx context.Context"), nil)
		for _, m := range takesContext.FindAllSubmatch(text, -1) {
			key := name + "."
			if len(m[1]) > 0 {
				key += "*"
			}
			require.Contains(t, ofContexts, key+string(m[2]), "a function that takes a context, and that no test calls with one that has ended")
		}
	}
}

// A function that is called with an ended context sends nothing and starts nothing, and returns the error of the
// context and the cause of its end.
func TestEndedContexts(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n := c.StartWith("a", node.Distribution{Published: global.Join(global.Config{})})
	live := testkit.Context(t)
	counting := make(chan any, 1000)
	pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		if r, ok := msg.(node.Request[string]); !ok || r.Body != "mute" {
			counting <- msg
		}
		return nil
	}))
	require.NoError(t, err)
	w := contextWorld{n: n, me: nodetest.NewProbe(t, n).Process, pid: pid, future: node.Async[int](n, pid, "mute")}
	w.scope, err = pg.Start(live, n, pg.Config{})
	require.NoError(t, err)
	w.apps, err = application.Start(live, n)
	require.NoError(t, err)
	require.NoError(t, w.apps.Load(application.Spec{Name: "shop", Start: func(context.Context, *node.Process) (node.PID, error) {
		return node.PID{}, errors.New("it is started")
	}}))
	cause := errors.New("no patience")
	ctx, cancel := context.WithCancelCause(live)
	cancel(cause)
	for name, call := range ofContexts {
		if call == nil {
			continue
		}
		err := call(w, ctx)
		assert.ErrorIs(t, err, context.Canceled, name)
		assert.ErrorIs(t, err, cause, name)
		select {
		case msg := <-counting:
			t.Errorf("%s: %v has been sent", name, msg)
		default:
		}
	}
	require.NoError(t, n.Send(pid, "last"))
	require.Equal(t, "last", testkit.Receive(t, counting))
}
