package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// startLimited starts a node with these limits, which offers hold:register/2, and a peer of it.
func startLimited(t *testing.T, l node.ClusterLimits) (far, near *node.Node, log *logtest.Text) {
	c, log := clustertest.NewCluster(t), new(logtest.Text)
	c.Log = log.Logger()
	far, near = c.StartWith("far", node.Distribution{Limits: node.Limits{Cluster: l}}), c.Start("near")
	require.NoError(t, rpc.ExportBehaviour(far, mfa("hold", "echo", 0), func([]any) (node.Actor, error) {
		return node.ActorFunc(echo), nil
	}))
	require.NoError(t, rpc.Export(far, mfa("hold", "register", 2), func(ctx context.Context, args []any) (any, error) {
		return wire.AtomOK, far.Inside(process.Key{}).RegisterFor(runner.CallingPeer(ctx), args[0].(wire.Atom), args[1].(wire.PID))
	}))
	return far, near, log
}

// Names that a peer has registered by calls and by spawns count together, until they go: by Unregister, by the death of
// the process, or because another process takes them.
func TestQuotaNamesByCall(t *testing.T) {
	far, near, log := startLimited(t, node.ClusterLimits{Names: 2})
	started := func() node.PID {
		pid, err := far.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		return pid
	}
	register := func(name node.Atom, pid node.PID) error {
		_, err := rpc.Call[any](testkit.Context(t), near, far.Name(), "hold", "register", name, pid)
		return err
	}
	full := func(name node.Atom) {
		t.Helper()
		var raised *rpc.Error
		require.ErrorAs(t, register(name, started()), &raised)
		assert.Equal(t, node.Atom("system_limit"), raised.Reason)
		_, ok := far.Whereis(name)
		assert.False(t, ok)
		assert.EqualValues(t, 2, limitOf(t, far, "names").Used)
	}
	a, b := started(), started()
	require.NoError(t, register("a", a))
	require.Error(t, register("a", b), "it is taken, and counts for nothing")
	require.Error(t, register("b", a), "it has a name")
	require.NoError(t, register("b", b))
	full("c")
	require.NoError(t, far.Unregister("a"))
	require.NoError(t, register("a", a), "it was given back")
	full("c")
	far.Exit(b, node.Kill)
	require.NoError(t, register("b", started()), "with its process")
	full("c")
	assert.EqualValues(t, 3, limitOf(t, far, "names").Refused)
	require.NoError(t, far.Register("own", started()), "the node's own names count for nobody")
	require.NoError(t, far.Inside(process.Key{}).RegisterFor(far.Name(), "own2", started()))
	for _, name := range []node.Atom{"a", "b"} {
		require.NoError(t, far.Unregister(name))
	}
	assert.Zero(t, limitOf(t, far, "names").Used)
	log.Await(t, "peer=near@127.0.0.1 what=names limit=2")
}

// A process that is started for a peer counts for it, and one that fails to start does not.
func TestQuotaSpawnFor(t *testing.T) {
	far, near, log := startLimited(t, node.ClusterLimits{Spawned: 2, Names: 1})
	require.NoError(t, near.Connect(testkit.Context(t), far.Name()))
	near.Inside(process.Key{}).Release(far.Name()) // a process asks for that, too
	o := node.Options{For: near.Name(), Name: "one"}
	pid, err := far.SpawnOpt(o, node.ActorFunc(echo))
	require.NoError(t, err)
	used := func(spawned, names int64) {
		t.Helper()
		assert.Equal(t, spawned, limitOf(t, far, "spawned").Used)
		assert.Equal(t, names, limitOf(t, far, "names").Used)
	}
	for _, c := range []struct {
		o node.Options
		b node.Actor
		e error
	}{
		{o, node.ActorFunc(echo), node.ErrNameTaken},
		{o, nil, node.ErrArgument},
		{node.Options{For: near.Name(), Name: "two"}, node.ActorFunc(echo), node.ErrTooMany},
		{node.Options{For: near.Name(), Place: node.Beside(node.PID{})}, node.ActorFunc(echo), node.ErrNoProcess},
	} {
		_, err := far.SpawnOpt(c.o, c.b)
		require.ErrorIs(t, err, c.e)
		used(1, 1)
	}
	_, err = node.SpawnWait(testkit.Context(t), far, node.Options{For: near.Name()}, failing{})
	require.Error(t, err)
	testkit.Until(t, func() string {
		if limitOf(t, far, "spawned").Used != 1 {
			return "it was not given back"
		}
		return ""
	})
	_, err = rpc.Spawn(testkit.Context(t), near, far.Name(), "hold", "echo")
	require.NoError(t, err, "together with those it spawns itself")
	_, err = far.SpawnOpt(node.Options{For: near.Name()}, node.ActorFunc(echo))
	require.ErrorIs(t, err, node.ErrTooMany)
	assert.Equal(t, node.Atom("system_limit"), values.ErrorTerm(err))
	assert.ErrorContains(t, err, "near@127.0.0.1 has started its limit of 2 processes here")
	for _, nobody := range []node.Atom{"", far.Name()} {
		_, err = far.SpawnOpt(node.Options{For: nobody}, node.ActorFunc(echo))
		require.NoError(t, err)
	}
	used(2, 1)
	for _, want := range []error{nil, nil, node.ErrTooMany} {
		_, err = far.SpawnOpt(node.Options{For: limits.Unknown}, node.ActorFunc(echo))
		require.ErrorIs(t, err, want, "all that are not known together")
	}
	require.ErrorContains(t, err, "an unknown peer has started its limit of 2 processes")
	far.Exit(pid, node.Kill)
	used(2, 0)
	log.Await(t, "peer=near@127.0.0.1 what=names limit=1")
	log.Await(t, "peer=near@127.0.0.1 what=spawned limit=2")
}

// failing fails to start.
type failing struct{}

func (failing) Init(*node.Context) error         { return errors.New("no") }
func (failing) Receive(*node.Context, any) error { return nil }

// A call of rex counts for the peer that has sent it, whatever group leader it names; calls that a process here has
// passed on, whose peer nobody knows, count together.
func TestQuotaRexByConnection(t *testing.T) {
	for _, passedOn := range []bool{false, true} {
		t.Run(fmt.Sprintf("passed on: %v", passedOn), func(t *testing.T) {
			tr := clustertest.NewPipes(t)
			n, _ := exposed(t, tr, &erldist.Protocol{}, node.Distribution{
				Limits: node.Limits{Cluster: node.ClusterLimits{Spawned: 2}}})
			require.NoError(t, rpc.Export(n, mfa("quota", "wait", 0), func(ctx context.Context, _ []any) (any, error) {
				<-ctx.Done()
				return nil, nil
			}))
			r := connectRaw(t, n, tr, &erldist.Protocol{}, "many@127.0.0.1")
			me := r.id.PID(5)
			for _, leader := range []node.Atom{"x@127.0.0.1", "y@127.0.0.1", "z@127.0.0.1"} {
				call := wire.Tuple{me, wire.Tuple{node.Atom("call"), node.Atom("quota"), node.Atom("wait"), wire.List{},
					wire.NewOrigin(wire.NodeID{Name: leader, Creation: 1}).PID(1)}}
				if passedOn {
					require.NoError(t, n.Send(node.Atom("rex"), call))
				} else {
					require.NoError(t, r.say(dist.Frame{Op: dist.OpSend, From: me, Name: "rex", Payload: call}))
				}
			}
			_, err := r.Flush(false)
			require.NoError(t, err)
			assert.Equal(t, "{rex,{badrpc,{'EXIT',system_limit}}}", wire.Format(r.until(t, dist.OpSend).Payload))
			assert.EqualValues(t, 2, limitOf(t, n, "spawned").Used)
			assert.EqualValues(t, 1, limitOf(t, n, "spawned").Refused)
		})
	}
}
