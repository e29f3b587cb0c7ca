package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// A failure is an error that arises on node there, or on the way to it, and is reported here: errors.Is finds its
// cause, whatever it has passed through, and its text is readable. These tests are the table of the ways for an error
// to arise and the ways to learn of it, on one node and between two.

// failures is where the failures take place.
type failures struct {
	*testing.T
	ctx         context.Context
	here, there *node.Node
	me          *nodetest.Probe // of here; it traps exits
	log         *logtest.Text   // of there
}

// overEachPlace runs a test on one node, and between two that speak each protocol.
func overEachPlace(t *testing.T, test func(f *failures)) {
	run := func(t *testing.T, here, there *node.Node, log *logtest.Text) {
		me := nodetest.NewProbe(t, here)
		me.TrapExit(true)
		test(&failures{t, testkit.Context(t), here, there, me, log})
	}
	t.Run("near", func(t *testing.T) {
		c := clustertest.NewMemoryCluster(t)
		n, log := c.StartLogged("a", node.Distribution{Types: farTypes(t)})
		run(t, n, n, log)
	})
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		there, log := c.StartLogged("b", node.Distribution{Types: farTypes(t)})
		run(t, c.StartWith("a", node.Distribution{Types: farTypes(t)}), there, log)
	})
}

// noCups is the error that all of these fail with.
func noCups() error { return fmt.Errorf("no cups: %w", errSoldOut) }

// fails checks an error that was caused by noCups.
func (f *failures) fails(way string, err error) {
	f.Helper()
	if assert.ErrorIs(f, err, errSoldOut, way) {
		assert.Contains(f, err.Error(), "no cups: sold out", way)
		assert.NotContains(f, err.Error(), "<<", way)
	}
}

// failingInit fails to start.
type failingInit struct {
	node.ActorFunc
	init func() error
}

func (f failingInit) Init(*node.Context) error { return f.init() }

// A process that learns of the end of another finds its cause.
func TestFailuresOfProcesses(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		for way, end := range actortest.FailedEnds(noCups) {
			spawn := func() node.PID {
				pid, err := f.there.Spawn(node.ActorFunc(func(c *node.Context, _ any) error { return end(c) }))
				require.NoError(f, err)
				return pid
			}
			_, err := node.Call[int](f.ctx, f.me, spawn(), 1)
			f.fails("Call after "+way, err)
			_, err = node.Call[int](f.ctx, f.here, spawn(), 1)
			f.fails("Call by a goroutine after "+way, err)
			_, err = node.Await(f.ctx, f.me, node.Async[int](f.me, spawn(), 1))
			f.fails("Async after "+way, err)
			_, err = node.Await(f.ctx, f.me, node.Async[int](f.me, spawn(), 1))
			f.fails("Await after "+way, err)
			node.SendRequest(f.me, spawn(), "tag", 1)
			f.fails("SendRequest after "+way, nodetest.Expect[node.Result](f.me).Err)

			pid := spawn()
			ref := f.me.Monitor(pid)
			require.NoError(f, f.me.Send(pid, 1))
			f.fails("Down after "+way, &node.ExitError{Reason: f.me.ExpectDown(ref).Reason})
			pid = spawn()
			f.me.Link(pid)
			require.NoError(f, f.me.Send(pid, 1))
			f.fails("Exited after "+way, &node.ExitError{Reason: nodetest.Expect[node.Exited](f.me).Reason})

			pid = spawn()
			exit := make(chan any, 1)
			go func() { // ends with pid
				reason, err := node.AwaitExit(f.ctx, f.here, pid)
				if err != nil {
					reason = err
				}
				exit <- reason
			}()
			testkit.UntilTrue(f, func() bool {
				i, err := f.there.Info(pid)
				return err == nil && (len(i.Watchers) > 0 || i.Calls > 0)
			}, "somebody waits for the exit")
			require.NoError(f, f.me.Send(pid, 1))
			if reason := testkit.Receive(f, exit); reason != node.NoProc {
				f.fails("AwaitExit after "+way, &node.ExitError{Reason: reason})
			}
		}
		assert.Contains(f, f.log.String(), "no cups: sold out")
	})
}

// A process that learns that another has not started finds the cause.
func TestFailuresOfStarts(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		for way, init := range actortest.FailedStarts(noCups) {
			b := failingInit{init: init}
			child := supervisor.Child{ID: "cups", Restart: supervisor.Temporary, Start: func(...any) (node.Actor, error) { return b, nil }}
			if f.here == f.there {
				_, err := node.SpawnWait(f.ctx, f.me, node.Options{}, b)
				f.fails("SpawnWait after "+way, err)

				_, err = supervisor.Start(f.ctx, f.me, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
				f.fails("supervisor.Start after "+way, err)
				assert.Contains(f, err.Error(), `the child "cups" did not start`, way)
				var failed *supervisor.StartError
				require.ErrorAs(f, err, &failed)
				assert.Equal(f, "cups", failed.ID)

				inner := supervisor.Child{ID: "inner", Type: supervisor.Supervisor, Start: func(...any) (node.Actor, error) {
					return supervisor.New(supervisor.Spec{Children: []supervisor.Child{child}}), nil
				}}
				_, err = supervisor.Start(f.ctx, f.me, supervisor.Spec{Children: []supervisor.Child{inner}}, node.Options{})
				f.fails("a supervisor in another after "+way, err)
				assert.Contains(f, err.Error(), `the child "inner" did not start: shutdown: the child "cups" did not start`, way)

				f.application("an application after "+way, func(_ context.Context, c node.Caller) (node.PID, error) {
					return supervisor.Start(f.ctx, c, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
				})
			}
			sup, err := supervisor.Start(f.ctx, f.there, supervisor.Spec{}, node.Options{})
			require.NoError(f, err)
			name := wire.Export{Module: "cups", Function: node.Atom(way), Arity: 0}
			require.NoError(f, rpc.ExportBehaviour(f.there, name, func([]any) (node.Actor, error) { return b, nil }))
			named := supervisor.Child{ID: "cups", Named: supervisor.Named{Module: "cups", Function: node.Atom(way)}}
			_, err = supervisor.StartChild(f.ctx, f.me, sup, named)
			f.fails("StartChild after "+way, err)

			simple, err := supervisor.Start(f.ctx, f.there, supervisor.Spec{Strategy: supervisor.SimpleOneForOne,
				Children: []supervisor.Child{child}}, node.Options{})
			require.NoError(f, err)
			_, err = supervisor.StartDynamic(f.ctx, f.me, simple)
			f.fails("StartDynamic after "+way, err)

			_, err = rpc.Spawn(f.ctx, f.me, f.there.Name(), "cups", node.Atom(way))
			require.NoError(f, err, "it has been spawned: its Init fails later")
		}
	})
}

// application checks the error of an application that does not start.
func (f *failures) application(way string, start func(context.Context, node.Caller) (node.PID, error)) {
	n := nodetest.Start(f, node.Config{})
	c, err := application.Start(f.ctx, n)
	require.NoError(f, err)
	require.NoError(f, c.Load(application.Spec{Name: "shop", Start: func(ctx context.Context, p *node.Process) (node.PID, error) { return start(ctx, p) }}))
	f.fails(way, c.Start(f.ctx, "shop", application.Temporary))
	f.fails(way+", StartAll", c.StartAll(f.ctx))
}

// The Start of a child returns an error, or panics.
func TestFailuresOfStartFunctions(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		for way, start := range map[string]func([]any) (node.Actor, error){
			"an error": func([]any) (node.Actor, error) { return nil, noCups() },
			"a panic":  func([]any) (node.Actor, error) { panic(noCups()) },
		} {
			child := supervisor.Child{ID: "cups", Start: func(args ...any) (node.Actor, error) { return start(args) }}
			_, err := supervisor.Start(f.ctx, f.there, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
			f.fails("supervisor.Start after "+way, err)
			require.NoError(f, rpc.ExportBehaviour(f.there, wire.Export{Module: "start", Function: node.Atom(way)}, start))
			sup, err := supervisor.Start(f.ctx, f.there, supervisor.Spec{}, node.Options{})
			require.NoError(f, err)
			_, err = supervisor.StartChild(f.ctx, f.me, sup, supervisor.Child{ID: 1, Named: supervisor.Named{Module: "start",
				Function: node.Atom(way)}})
			f.fails("StartChild after "+way, err)
			_, err = rpc.Spawn(f.ctx, f.me, f.there.Name(), "start", node.Atom(way))
			require.NoError(f, err, "it has been spawned, and crashes")
		}
	})
}

type cupsServer struct{}

type takeCup struct{ genserver.Returns[int] }

func (cupsServer) take(*genserver.Context, takeCup) (int, error) { return 0, noCups() }

type cupsMachine struct{}

func (*cupsMachine) open(*statem.Context, statem.Event) (statem.State[*cupsMachine], error) {
	return nil, noCups()
}

// A reply that is an error.
func TestFailuresOfReplies(t *testing.T) {
	servers := genserver.Define(genserver.OnCall(cupsServer.take))
	machines := statem.Define((*cupsMachine).open)
	overEachPlace(t, func(f *failures) {
		for way, b := range map[string]node.Actor{
			"Fail": answering(noCups()), "a server": servers.New(cupsServer{}), "a machine": machines.New(&cupsMachine{}),
		} {
			pid, err := f.there.Spawn(b)
			require.NoError(f, err)
			_, err = genserver.Call(f.ctx, f.me, pid, takeCup{})
			f.fails("Call of "+way, err)
			_, err = node.Await(f.ctx, f.me, genserver.Async(f.me, pid, takeCup{}))
			f.fails("Async of "+way, err)
			_, err = node.Await(f.ctx, f.me, genserver.Async(f.here, pid, takeCup{}))
			f.fails("Await of "+way, err)
			node.SendRequest(f.me, pid, "tag", takeCup{})
			f.fails("SendRequest of "+way, nodetest.Expect[node.Result](f.me).Err)
		}
	})
}

// A function that is called by name.
func TestFailuresOfFunctions(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		ways := actortest.FailedFunctions(noCups)
		ways["Raise"] = func() error { return rpc.Raise(noCups()) }
		ways["Throw"] = func() error { return rpc.Throw(noCups()) }
		ways["a call"] = func() error {
			pid, err := f.there.Spawn(answering(noCups()))
			if err == nil {
				_, err = node.Call[int](f.ctx, f.there, pid, 1)
			}
			return err
		}
		for way, fn := range ways {
			name := wire.Export{Module: "cups", Function: node.Atom(way)}
			require.NoError(f, rpc.Export(f.there, name, func(context.Context, []any) (any, error) { return nil, fn() }))
			_, err := rpc.Call[int](f.ctx, f.me, f.there.Name(), "cups", name.Function)
			f.fails("rpc.Call after "+way, err)
			_, err = node.Await(f.ctx, f.me, rpc.Async[int](f.me, f.there.Name(), "cups", name.Function))
			f.fails("rpc.Async after "+way, err)
			f.fails("rpc.Multi after "+way, rpc.Multi[int](f.ctx, f.me, []node.Atom{f.there.Name()}, "cups", name.Function)[0].Err)
		}
		_, err := rpc.Call[int](f.ctx, f.me, f.there.Name(), "cups", "none")
		require.ErrorIs(f, err, rpc.ErrUndef)
	})
}

// The log names the cause and the process, with its node, wherever a process ends or does not start.
func TestFailuresInLogs(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n, log := c.StartLogged("a", node.Distribution{Types: farTypes(t)})
	ctx, me := testkit.Context(t), nodetest.NewProbe(t, n)
	logs := func(who, way string, with ...string) {
		t.Helper()
		who += " after " + way
		text := log.Take()
		assert.Contains(t, text, "no cups: sold out", who)
		for _, part := range with {
			assert.Contains(t, text, part, who)
		}
		if way != "an exit in a term" { // which is shown as a term
			assert.NotContains(t, text, "<<", who)
		}
	}
	quiet := func(kind, way string) bool { // {shutdown, _} is no crash, a signal's sender knows it, a process may exit by itself
		return way == "an exit in a term" || way == "an exit signal" || way == "an exit" && kind == "a process"
	}
	for way, end := range actortest.FailedEnds(noCups) {
		handlers := map[string]node.Actor{
			"a process": node.ActorFunc(func(c *node.Context, _ any) error { return end(c) }),
			"a server": genserver.Define(genserver.OnCast(func(_ cupsServer, c *genserver.Context, _ any) error {
				return end(c.ActorContext)
			})).New(cupsServer{}),
		}
		for kind, b := range handlers {
			pid, err := n.Spawn(b)
			require.NoError(t, err)
			ref := me.Monitor(pid)
			require.NoError(t, genserver.Cast(me, pid, 1))
			me.ExpectDown(ref)
			if quiet(kind, way) {
				assert.NotContains(t, log.Take(), "level=ERROR", "%s after %s", kind, way)
				continue
			}
			logs(kind, way, "level=ERROR", pid.String())
		}
	}
	for way, init := range actortest.FailedStarts(noCups) {
		child := supervisor.Child{ID: "cups", Start: func(...any) (node.Actor, error) { return failingInit{init: init}, nil }}
		_, err := supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
		require.Error(t, err)
		logs("a supervisor", way, "level=ERROR", "child=cups")
		child.Start = func(...any) (node.Actor, error) { return nil, init() }
		_, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
		require.Error(t, err)
		logs("a start function", way, "level=ERROR", "child=cups")
	}
}

// Values that cannot be sent, and values of the wrong type.
func TestFailuresOfValues(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		fns := map[string]rpc.Function{
			"chan":  func(context.Context, []any) (any, error) { return make(chan int), nil },
			"raise": func(context.Context, []any) (any, error) { return nil, rpc.Raise(make(chan int)) },
			"throw": func(context.Context, []any) (any, error) { return nil, rpc.Throw(make(chan int)) },
			"wrong": func(context.Context, []any) (any, error) { return wire.Tuple{1, wire.List{"a", 7}}, nil },
		}
		for name, fn := range fns {
			require.NoError(f, rpc.Export(f.there, wire.Export{Module: "m", Function: node.Atom(name)}, fn))
		}
		_, err := rpc.Call[struct {
			A int
			B []string
		}](f.ctx, f.me, f.there.Name(), "m", "wrong")
		require.ErrorIs(f, err, node.ErrReplyType)
		if f.here == f.there {
			return // a value of this program does not cross
		}
		pid, err := f.there.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			r, _ := c.Node().AsRequest(msg)
			return r.Reply(make(chan int))
		}))
		require.NoError(f, err)
		var encode *wire.EncodeError
		require.ErrorAs(f, f.me.Send(pid, make(chan int)), &encode)
		_, err = node.Call[int](f.ctx, f.me, pid, make(chan int))
		require.ErrorAs(f, err, &encode)
		for _, name := range []node.Atom{"chan", "raise", "throw"} {
			_, err = rpc.Call[int](f.ctx, f.me, f.there.Name(), "m", name)
			require.Error(f, err)
			assert.Contains(f, err.Error(), "chan int", name)
			assert.NotContains(f, err.Error(), "#Ref", name)
		}
		_, err = node.Call[int](f.ctx, f.me, pid, 1)
		require.Error(f, err)
		assert.Contains(f, err.Error(), "chan int")
	})
}

// Failures for lack of space.
func TestFailuresOfLimits(t *testing.T) {
	n := nodetest.Start(t, node.Config{MaxProcesses: 3})
	ctx := testkit.Context(t)
	sup, err := supervisor.Start(ctx, n, supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{{
		ID: 1, Start: func(...any) (node.Actor, error) { return answering(nil), nil },
	}}}, node.Options{})
	require.NoError(t, err)
	for err == nil {
		_, err = n.Spawn(answering(nil))
	}
	require.ErrorIs(t, err, node.ErrTooMany)
	_, err = node.SpawnWait(ctx, n, node.Options{}, answering(nil))
	require.ErrorIs(t, err, node.ErrTooMany)
	_, err = supervisor.StartDynamic(ctx, n, sup)
	require.ErrorIs(t, err, node.ErrTooMany)
}

// A name that is taken, wherever that is detected.
func TestFailuresOfNames(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	_, err := n.SpawnOpt(node.Options{Name: "cups"}, answering(nil))
	require.NoError(t, err)
	child := supervisor.Child{ID: "cups", Options: node.Options{Name: "cups"},
		Start: func(...any) (node.Actor, error) { return answering(nil), nil }}
	_, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
	require.ErrorIs(t, err, node.ErrNameTaken)
	sup, err := supervisor.Start(ctx, n, supervisor.Spec{}, node.Options{})
	require.NoError(t, err)
	_, err = supervisor.StartChild(ctx, n, sup, child)
	require.ErrorIs(t, err, node.ErrNameTaken)
	var started *supervisor.AlreadyStartedError
	require.ErrorAs(t, err, &started)
	simple, err := supervisor.Start(ctx, n, supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{child}},
		node.Options{})
	require.NoError(t, err)
	_, err = supervisor.StartDynamic(ctx, n, simple)
	require.ErrorIs(t, err, node.ErrNameTaken)
	_, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{{ID: "a", Start: child.Start}, {ID: "b"}}}, node.Options{})
	var spec *supervisor.SpecError
	require.ErrorAs(t, err, &spec)
	require.Equal(t, "b", spec.ID)
	require.Equal(t, 2, spec.Child)
	_, err = supervisor.Start(ctx, n, supervisor.Spec{Strategy: "one_for_won"}, node.Options{})
	require.ErrorAs(t, err, &spec)
	require.Zero(t, spec.Child)
}

// A node that cannot be reached: everybody who learns of it is told which node, and why.
func TestFailuresOfConnections(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n, log := c.StartLogged("a", node.Distribution{})
	letters := n.DeadLetters(10)
	defer letters.Close()
	me := nodetest.NewProbe(t, n)
	ctx := testkit.Context(t)
	why := n.Connect(ctx, "none@h")
	require.Error(t, why)
	why = errors.Unwrap(why)
	at := node.At{Name: "x", Node: "none@h"}
	check := func(way string, err error) {
		t.Helper()
		require.ErrorIs(t, err, node.ErrNoConnection, way)
		require.Contains(t, err.Error(), "none@h", way)
		require.Contains(t, err.Error(), why.Error(), way)
	}
	_, err := node.Call[int](ctx, me, at, 1)
	check("Call", err)
	_, err = node.Await(ctx, me, node.Async[int](me, at, 1))
	check("Async", err)
	node.SendRequest(me, at, 1, 1)
	check("SendRequest", nodetest.Expect[node.Result](me).Err)
	_, err = rpc.Call[int](ctx, me, "none@h", "m", "f")
	check("rpc.Call", err)
	_, err = rpc.Spawn(ctx, me, "none@h", "m", "f")
	check("rpc.Spawn", err)
	d := me.ExpectDown(me.Monitor(at))
	require.Equal(t, node.NoConnection, d.Reason)
	require.EqualError(t, d.Cause, why.Error())
	require.NoError(t, me.Send(at, "lost"))
	for l := range letters.C {
		if l.Message == "lost" {
			require.Equal(t, deadletter.NotConnected, l.Cause)
			require.Equal(t, node.Atom("none@h"), l.Node)
			require.EqualError(t, l.Why, why.Error())
			break
		}
	}
	require.Contains(t, log.String(), why.Error())

	alone := nodetest.Start(t, node.Config{})
	_, err = node.Call[int](ctx, alone, at, 1)
	require.ErrorIs(t, err, node.ErrNoConnection)
	require.ErrorIs(t, err, node.ErrNotHere)
}
