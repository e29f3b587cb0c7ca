//go:build unix

package port

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/tree"
	"github.com/actornode/actornode/wire"
)

// A supervisor restarts the program when it fails, in its order.
func TestSupervised(t *testing.T) { inEach(t, testSupervised) }

func testSupervised(t *testing.T, l language) {
	w := newPortTest(t)
	top, err := supervisor.Start(ctx, w.self, supervisor.Spec{
		Intensity: 10,
		Children: []supervisor.Child{{
			ID:      "pycounter",
			Start:   func(...any) (node.Actor, error) { return New(l.counter(t)), nil },
			Options: node.Options{Name: "pycounter"},
		}},
	}, node.Options{})
	require.NoError(t, err)
	w.self.Monitor(top)
	first, _ := w.n.Whereis("pycounter")
	require.Equal(t, "3", w.call(first, "{add,3}"))
	old := w.info(first).OSPID
	require.Contains(t, w.call(first, "crash"), "exit_status")
	var second node.PID
	testkit.UntilTrue(t, func() bool {
		second, _ = w.n.Whereis("pycounter")
		return !second.IsZero() && second != first
	}, "another")
	require.Equal(t, "0", w.call(second, "get"))
	require.True(t, gone(old))
	w.n.Exit(top, node.Shutdown)
	require.Equal(t, node.Shutdown, w.reason(top))
}

// The start fails, with the reason, before the supervisor has started.
func TestSupervisedStartFails(t *testing.T) {
	w := newPortTest(t)
	exits := runs(t, "exit", "7")
	exits.Ready = testkit.Limit
	for want, cfg := range map[string]Config{
		"{not_started,enoent}": {Command: "/nonexistent"},
		"{exit_status,7}":      exits,
	} {
		_, err := supervisor.Start(ctx, w.n, supervisor.Spec{Children: []supervisor.Child{{
			ID: "p", Start: func(...any) (node.Actor, error) { return New(cfg), nil },
		}}}, node.Options{})
		require.Error(t, err)
		require.Contains(t, format(values.ErrorTerm(err)), want)
	}
}

// sampleTree returns the sample's tree, adapted for programs that run here.
func sampleTree(t *testing.T) string {
	b, err := os.ReadFile(samples + "/tree.yaml")
	require.NoError(t, err)
	return strings.ReplaceAll(string(b), "deploy/", "../../deploy/")
}

// A port in a supervision tree that is described in a file.
func TestTree(t *testing.T) {
	t.Run("go", func(t *testing.T) { // in place of each other program
		cfg := runs(t, "counter")
		args := regexp.MustCompile(`command: \S+`).ReplaceAllString(sampleTree(t), fmt.Sprintf("command: %q", cfg.Command))
		args = regexp.MustCompile(`args: \[.*\]`).ReplaceAllString(args, "args: []")
		args = strings.ReplaceAll(args, "env: {PYTHONDONTWRITEBYTECODE: 1}", "env: {"+programVar+": counter}")
		args = strings.ReplaceAll(args, "codec: etf", "codec: etf\n          args: [etf]\n          env: {"+programVar+": counter}")
		testTree(t, args)
	})
	t.Run("python and erlang", func(t *testing.T) {
		testkit.Program(t, testkit.Merge, "python3")
		erltest.NeedTool(t, "escript")
		testTree(t, sampleTree(t))
	})
}

func testTree(t *testing.T, text string) {
	w := newPortTest(t)
	require.NoError(t, Allow(w.n, nil))
	require.ErrorIs(t, Allow(w.n, nil), node.ErrNameTaken)
	text = strings.ReplaceAll(text, "ready: 20s", "ready: 5m") // however busy the machine is
	f, err := tree.Check("ports.yaml", strings.NewReader(text), tree.Known{Behaviours: rpc.Behaviours(w.n)})
	require.NoError(t, err)
	top, err := f.Start(ctx, w.self)
	require.NoError(t, err)
	w.self.Monitor(top)
	pid, ok := w.n.Whereis("pycounter")
	require.True(t, ok)
	require.Equal(t, "42", w.call(pid, "{add,2}"))
	other, ok := w.n.Whereis("erlcounter")
	require.True(t, ok)
	require.Equal(t, "3", w.call(other, "{add,2}"))
	w.n.Exit(top, node.Shutdown)
	require.Equal(t, node.Shutdown, w.reason(top))
	require.False(t, w.n.IsAlive(pid))
}

func TestTreeBadConfig(t *testing.T) {
	w := newPortTest(t)
	require.NoError(t, Allow(w.n, func(cfg Config) error {
		if cfg.Command == "ruby" {
			return errors.New("ruby may not run here")
		}
		return nil
	}))
	for old, c := range map[string]struct{ new, want string }{
		"command: python3": {"command: ruby", "ruby may not run here"},
		"ready: 20s":       {"ready: -1s", `port: invalid configuration: ready: <<"-1s">>; want a time above 0`},
		"init: 40":         {"codec: xml", `port: invalid configuration: codec: <<"xml">>; want msgpack, plain or etf`},
		"grace: 1s":        {"graze: 1s", "port: invalid configuration: graze: unknown field; want command, args"},
	} {
		f, err := tree.Check("ports.yaml", strings.NewReader(strings.Replace(sampleTree(t), old, c.new, 1)),
			tree.Known{Behaviours: rpc.Behaviours(w.n)})
		require.NoError(t, err)
		_, err = f.Start(ctx, w.n)
		require.Error(t, err)
		require.Contains(t, strings.ReplaceAll(format(values.ErrorTerm(err)), `\"`, `"`), c.want)
	}
}

// Only processes of this node start ports by name: a spawn by another node, or without a parent, does not.
func TestAllowIsForChildren(t *testing.T) {
	w := newPortTest(t)
	require.NoError(t, Allow(w.n, nil))
	copies := runs(t, "copy")
	env := wire.NewMap(programVar, "copy")
	b, err := rpc.NewActor(w.n, Module, "start", []any{wire.NewMap("command", copies.Command, "env", env)})
	require.NoError(t, err)
	_, err = node.SpawnWait(ctx, w.n, node.Options{}, b)
	require.ErrorContains(t, err, "only a process of this node may start a port by name")
	b, err = rpc.NewActor(w.n, Module, "start", []any{wire.List{
		wire.Tuple{wire.Atom("command"), wire.Charlist(copies.Command)}, wire.Tuple{wire.Atom("env"), env}}})
	require.NoError(t, err)
	_, err = node.SpawnWait(ctx, w.self, node.Options{}, b)
	require.NoError(t, err)
}

func TestAllowIsNotForOtherNodes(t *testing.T) {
	w := newErlangPortTest(t)
	require.NoError(t, Allow(w.n, nil))
	require.Contains(t, w.rpc("erlang", "spawn_monitor", w.n.Name(), Module, wire.Atom("start"),
		wire.List{wire.NewMap("command", "/bin/cat")}), "{<")
	testkit.UntilTrue(t, func() bool {
		return len(rpc.Behaviours(w.n)) > 0 && w.n.Stats().Processes <= 3 // net_kernel, rex and our own process
	}, "the end of what has been spawned")
}
