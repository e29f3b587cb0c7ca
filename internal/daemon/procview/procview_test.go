package procview_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Processes of this module's behaviours are shown as OTP's; others by their types and functions.
func TestProgramOf(t *testing.T) {
	n, ctx := nodetest.Start(t, node.Config{}), testkit.Context(t)
	server, err := genserver.Define[int]().Start(ctx, n, 1, node.Options{Name: "server"})
	require.NoError(t, err)
	waits := func(p *node.Process) error { p.Receive(); return nil }
	process, err := n.Spawn(node.ProcessFunc(waits))
	require.NoError(t, err)
	for pid, want := range map[node.PID]wire.Atom{server: "gen_server", process: ""} {
		i, err := n.Info(pid)
		require.NoError(t, err)
		p := procview.ProgramOf(&i)
		require.Equal(t, want, p.Kind)
		require.Len(t, p.Initial, 3)
		require.Len(t, p.Current, 3)
		require.Positive(t, procview.Bytes(&i))
	}
}

// A suspended server waits where OTP's would, also when it has answered sys:suspend and still runs; it keeps its
// behaviour, if that is one of OTP's.
func TestProgramOfSuspended(t *testing.T) {
	const code = "github.com/actornode/actornode/internal/sysmsg"
	for behaviour, kind := range map[string]wire.Atom{
		"gen_server": "gen_server", "gen_statem": "gen_statem", "gen_event": "gen_event", "port": "",
	} {
		for _, state := range []observe.State{observe.Running, observe.Waiting} {
			i := observe.Process{State: state, Code: code, Behaviour: behaviour + " (suspended)"}
			p := procview.ProgramOf(&i)
			require.Equal(t, kind, p.Kind)
			require.Equal(t, "{sys,suspend_loop_hib,6}", wire.Format(p.Current))
			require.Equal(t, "{"+behaviour+",init,1}", wire.Format(p.Initial))
		}
	}
}

// Ancestors are shown by name if they have one, the nearest first.
func TestAncestors(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	top := nodetest.NewProbe(t, n)
	require.NoError(t, n.Register("top", top.Self()))
	middle := make(chan node.PID, 1)
	bottom := make(chan node.PID, 1)
	pid, err := top.SpawnOpt(node.Options{Link: true}, node.ProcessFunc(func(p *node.Process) error {
		child, err := p.SpawnOpt(node.Options{Link: true}, node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
		if err != nil {
			return err
		}
		middle <- p.Self()
		bottom <- child
		p.Receive()
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, pid, testkit.Receive(t, middle))
	i, err := n.Info(testkit.Receive(t, bottom))
	require.NoError(t, err)
	require.Equal(t, wire.List{pid, wire.Atom("top")}, procview.Ancestors(n, i))
}

// A counter that Go lacks is 0.
func TestMetrics(t *testing.T) {
	v := procview.Metrics("/memory/classes/total:bytes", "/no/such:thing")
	require.Positive(t, v[0])
	require.Zero(t, v[1])
}
