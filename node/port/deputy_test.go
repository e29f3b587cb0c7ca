//go:build unix

package port

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// A peer that may send to a port and call it names a process of this node, or of a third one, as the owner of an Erlang port
// does in its messages, or as the one that asks. The port goes on, and neither it nor its program sends the process anything.
func TestPeerNamesOwner(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, of *clustertest.Cluster) {
		policy, err := rights.New(rights.Config{Rules: []rights.Rule{
			{Peer: "b@127.0.0.1", May: []string{"connect", "send port", "call port"}}, {May: []string{"all"}}}})
		require.NoError(t, err)
		a := of.StartWith("a", node.Distribution{Access: node.Access{Rights: policy}})
		b, c := of.Start("b"), of.Start("c")
		of.Connect(a, b, c)
		port, err := Start(testkit.Context(t), a, counter(t), node.Options{Name: "port"})
		require.NoError(t, err)
		me := nodetest.NewProbe(t, b)
		for _, n := range []*node.Node{a, c} {
			victim := nodetest.NewProbe(t, n)
			victim.TrapExit(true)
			pid := victim.Self()
			command := wire.Tuple{wire.Atom("command"), []byte("x")}
			cast := wire.Atom("$gen_cast")
			for _, to := range []node.Dest{port, node.At{Name: "port", Node: a.Name()}} {
				for _, msg := range []any{
					wire.Tuple{pid, command}, wire.Tuple{pid, wire.Atom("close")}, wire.Tuple{me.Self(), wire.Tuple{wire.Atom("connect"), pid}},
					wire.Tuple{pid, wire.Tuple{wire.Atom("connect"), pid}}, wire.Tuple{port, wire.Tuple{wire.Atom("data"), pid}},
					wire.Tuple{wire.Atom("EXIT"), pid, node.Kill}, calls.MakeCast(wire.Tuple{pid, wire.Atom("close")}),
					calls.MakeCall(wire.Tuple{pid, cast}, wire.Atom("get")), calls.MakeCall(wire.Tuple{pid, b.MakeRef()}, wire.Atom("get")),
					calls.MakeCall(wire.Tuple{pid, n.MakeRef()}, wire.Atom("get")),
					calls.MakeCall(calls.MakeFrom(pid, me.Alias()), wire.Atom("get")),
					wire.Tuple{calls.System, wire.Tuple{pid, cast}, wire.Atom("get_state")},
				} {
					require.NoError(t, me.Send(to, msg))
				}
			}
			_, err = node.Call[any](testkit.Context(t), me, node.At{Name: "port", Node: a.Name()}, wire.Atom("get"))
			require.NoError(t, err) // all before has been handled, also by the program
			require.NoError(t, a.Send(pid, wire.Atom("last")))
			require.Equal(t, []any{wire.Atom("last")}, append([]any{nodetest.Expect[any](victim)}, actortest.Rest(victim)...))
		}
		require.True(t, a.IsAlive(port))
	})
}
