package demo

import (
	"context"
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

var ctx = context.Background()

// run runs a test on a node with the demo on it, in a bubble, so that
// synctest.Wait waits for restarts.
func run(t *testing.T, test func(t *testing.T, n *node.Node, sup node.PID)) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{})
		require.NoError(t, err)
		defer func() { require.NoError(t, n.Stop()) }()
		sup, err := Start(ctx, n)
		require.NoError(t, err)
		test(t, n, sup)
	})
}

func term(t *testing.T, text string) any {
	v, err := wire.Parse(text)
	require.NoError(t, err)
	return v
}

func TestCalls(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		for _, c := range []struct {
			to              wire.Atom
			call, want, err string
		}{
			{"counter", "get", "0", ""},
			{"counter", "{add,5}", "5", ""},
			{"counter", "{add,-7}", "-2", ""},
			{"counter", "{add,x}", "", `{unhandled_request,{add,x}}`},
			{"counter", "{add,1,2}", "", `{unhandled_request,{add,1,2}}`},
			{"counter", "#{}", "", `{unhandled_request,#{}}`},
			{"counter", "crash", "", `crash`},
			{"echo", "#{a => [1.5]}", "#{a => [1.5]}", ""},
			{"echo", "crash", "crash", ""},
			{"echo", "[]", "[]", ""},
		} {
			v, err := node.Call[any](ctx, n, c.to, term(t, c.call))
			if c.err != "" {
				require.Error(t, err, c.call)
				require.Equal(t, c.err, wire.Format(values.ErrorTerm(err)), c.call)
			} else {
				require.NoError(t, err, c.call)
				require.Equal(t, c.want, wire.Format(v), c.call)
			}
		}
	})
}

// The messages of Erlang's gen_server:call, and its reply.
func TestErlangCall(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		self := nodetest.NewProbe(t, n)
		ref := n.MakeRef()
		call := func(to, text string) any {
			require.NoError(t, self.Send(wire.Atom(to),
				wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{self.Self(), ref}, term(t, text)}))
			reply := self.Receive().(wire.Tuple)
			require.Equal(t, ref, reply[0])
			return reply[1]
		}
		require.NoError(t, self.Send(node.Atom("counter"), wire.Tuple{wire.Atom("$gen_cast"), term(t, "{add,3}")}))
		require.Equal(t, 4, call("counter", "{add,1}"))
		require.Equal(t, wire.Atom("hello"), call("echo", "hello"))
		require.Equal(t, "{error,{unhandled_request,what}}", wire.Format(call("counter", "what")))
	})
}

func TestMessagesToEcho(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		self := nodetest.NewProbe(t, n)
		echo, _ := n.Whereis("echo")
		fresh, err := rpc.NewActor(n, Module, "echo", nil)
		require.NoError(t, err)
		other, err := n.Spawn(fresh)
		require.NoError(t, err)
		for _, to := range []node.PID{echo, other} {
			for _, m := range []any{wire.Tuple{self.Self()}, wire.Tuple{1, 2}, wire.Atom("x"), wire.Tuple{self.Self(), wire.List{1}}} {
				require.NoError(t, n.Send(to, m))
			}
			require.Equal(t, wire.Tuple{to, wire.List{1}}, self.Receive())
			require.NoError(t, n.Send(to, wire.Tuple{self.AliasOnce(), 2}))
			require.Equal(t, wire.Tuple{to, 2}, self.Receive())
		}
	})
}

func TestTypedRequests(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		const counter = wire.Atom("counter")
		require.NoError(t, genserver.Cast(n, counter, Add{N: 2}))
		total, err := genserver.Call(ctx, n, counter, Add{N: 3})
		require.NoError(t, err)
		require.Equal(t, 5, total)
		total, err = genserver.Call(ctx, n, counter, Get{})
		require.NoError(t, err)
		require.Equal(t, 5, total)
		require.Equal(t, "{add,3}", wire.Format(sysmsg.Term(Add{N: 3})))
		require.Equal(t, "get", wire.Format(sysmsg.Term(Get{})))
	})
}

func TestState(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		const counter = wire.Atom("counter")
		v, err := sys.ReplaceState(ctx, n, counter, func(s any) (any, error) { return s.(int) + 10, nil })
		require.NoError(t, err)
		require.Equal(t, 10, v)
		_, err = sys.ReplaceState(ctx, n, counter, func(any) (any, error) { return wire.Atom("many"), nil })
		require.ErrorContains(t, err, "callback_failed")
		v, err = sys.GetState(ctx, n, counter)
		require.NoError(t, err)
		require.Equal(t, 10, v)
		v, err = sys.GetState(ctx, n, wire.Atom("echo"))
		require.NoError(t, err)
		require.Equal(t, wire.AtomUndefined, v)
	})
}

func TestRestarts(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, sup node.PID) {
		echo, _ := n.Whereis("echo")
		for range 100 {
			_, err := node.Call[any](ctx, n, wire.Atom("counter"), wire.Atom("crash"))
			require.Equal(t, wire.Atom("crash"), err.(*node.ExitError).Reason)
			synctest.Wait()
		}
		self := nodetest.NewProbe(t, n)
		ref := self.Monitor(sup)
		require.NoError(t, n.Send(node.Atom("counter"), wire.Tuple{wire.Atom("$gen_cast"), wire.Atom("nonsense")}))
		require.Equal(t, node.Shutdown, self.ExpectDown(ref).Reason) // one crash too many
		require.False(t, n.IsAlive(echo))
	})
}

func TestTree(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, sup node.PID) {
		require.Equal(t, []wire.Atom{"counter", "demo", "echo"}, n.Registered())
		kids, err := supervisor.WhichChildren(ctx, n, Module)
		require.NoError(t, err)
		counter, _ := n.Whereis("counter")
		echo, _ := n.Whereis("echo")
		require.Equal(t, wire.Tuple{wire.Atom("echo"), echo, wire.Atom("worker"), wire.List{Module}}, sysmsg.Term(kids[0]))
		require.Equal(t, wire.Tuple{wire.Atom("counter"), counter, wire.Atom("worker"), wire.List{Module}}, sysmsg.Term(kids[1]))
	})
}

func TestByName(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		exit, err := rpc.NewActor(n, Module, "exit", []any{wire.Tuple{wire.Atom("bye"), 1}})
		require.NoError(t, err)
		self := nodetest.NewProbe(t, n)
		var ref node.Ref
		_, err = self.SpawnOpt(node.Options{Monitor: &ref}, exit)
		require.NoError(t, err)
		down := self.Receive().(node.Down)
		require.Equal(t, ref, down.Ref)
		require.Equal(t, wire.Tuple{wire.Atom("bye"), 1}, down.Reason)

		sum, err := rpc.Apply(ctx, n, Module, "add", []any{2, 3})
		require.NoError(t, err)
		require.Equal(t, 5, sum)
		sum, err = rpc.Apply(ctx, n, Module, "add", []any{int64(math.MaxInt64), 1})
		require.NoError(t, err)
		require.Equal(t, "9223372036854775808", wire.Format(sum))
		sum, err = rpc.Apply(ctx, n, Module, "add", []any{sum, -1})
		require.NoError(t, err)
		require.Equal(t, "9223372036854775807", wire.Format(sum))
		_, err = rpc.Apply(ctx, n, Module, "add", []any{2, wire.Atom("x")})
		require.Equal(t, wire.Atom("badarith"), values.ErrorTerm(err))
		_, err = rpc.Apply(ctx, n, Module, "add", []any{2})
		require.ErrorIs(t, err, rpc.ErrUndef)
		require.ErrorIs(t, Export(n), node.ErrNameTaken)
	})
}

func TestApplication(t *testing.T) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Stop()) }()
	c, err := application.Start(ctx, n)
	require.NoError(t, err)
	require.NoError(t, Export(n))
	require.NoError(t, c.Load(Application()))
	require.NoError(t, c.StartAll(ctx))
	total, err := genserver.Call(ctx, n, wire.Atom("counter"), Add{N: 1})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	apps, err := rpc.Apply(ctx, n, "application", "which_applications", nil)
	require.NoError(t, err)
	require.Equal(t, `[{demo,"The demo tree","1.0"}]`, wire.Format(apps))
	require.NoError(t, c.StopAll(ctx))
	require.Equal(t, []wire.Atom{wire.Atom("application_controller")}, n.Registered())
}
