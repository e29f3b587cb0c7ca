package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/supervisor/tree"
	"github.com/actornode/actornode/wire"
)

func start(t *testing.T) *node.Node { return nodetest.Start(t, node.Config{}) }

// echoes exports a behaviour that sends its arguments to the process registered as test.
func echoes(t *testing.T, n *node.Node, arity int) {
	require.NoError(t, rpc.ExportBehaviour(n, wire.Export{Module: "test", Function: "echo", Arity: arity},
		func(args []any) (node.Actor, error) {
			return node.ProcessFunc(func(p *node.Process) error {
				p.Send(node.Atom("test"), wire.List(args))
				p.Receive()
				return nil
			}), nil
		}))
}

// The demo's tree from a file equals that of package demo.
func TestDemo(t *testing.T) {
	n := start(t)
	require.NoError(t, demo.Export(n))
	f, err := tree.CheckFile("testdata/good/demo.yaml", tree.Known{Behaviours: rpc.Behaviours(n)})
	require.NoError(t, err)
	require.Equal(t, demo.Spec(), *f.Top)
	require.Equal(t, node.Options{Name: demo.Module}, f.TopOptions)
	ctx := context.Background()
	_, err = f.Start(ctx, n)
	require.NoError(t, err)
	require.Equal(t, []wire.Atom{"counter", "demo", "echo"}, n.Registered())
}

// A tree with supervisors below it runs, arguments included.
func TestNested(t *testing.T) {
	n := start(t)
	echoes(t, n, 2)
	self := nodetest.NewProbe(t, n)
	require.NoError(t, n.Register("test", self.Self()))
	f, err := tree.Check("nested.yaml", strings.NewReader(`
supervisor:
  children:
    - id: middle
      supervisor:
        children:
          - {id: x, start: test:echo, args: [!atom deep, [1, text]]}
          - {id: pool, supervisor: {name: pool, strategy: simple_one_for_one, children: [{id: y, start: test:echo, args: [1]}]}}
`), tree.Known{Behaviours: rpc.Behaviours(n)})
	require.NoError(t, err)
	ctx := context.Background()
	top, err := f.Start(ctx, n)
	require.NoError(t, err)
	require.Equal(t, "[deep,[1,<<\"text\">>]]", wire.Format(self.Receive()))
	_, err = supervisor.StartDynamic(ctx, n, wire.Atom("pool"), 2)
	require.NoError(t, err)
	require.Equal(t, "[1,2]", wire.Format(self.Receive()))
	kids, err := supervisor.WhichChildren(ctx, n, top)
	require.NoError(t, err)
	require.Equal(t, "[{middle,"+kids[0].PID.String()+",supervisor,[supervisor]}]", wire.Format(wire.List{sysmsg.Term(kids[0])}))
}

// Applications are started in the order of their dependencies.
func TestApplications(t *testing.T) {
	n := start(t)
	require.NoError(t, demo.Export(n))
	ctx := context.Background()
	c, err := application.Start(ctx, n)
	require.NoError(t, err)
	f, err := tree.Check("apps.yaml", strings.NewReader(`
applications:
  - name: shop
    depends: [store]
    type: permanent
    env: {port: 8080}
    supervisor: {children: [{name: front, start: demo:echo}]}
  - name: store
    supervisor: {children: [{name: store, start: demo:counter}]}
`), tree.Known{Behaviours: rpc.Behaviours(n)})
	require.NoError(t, err)
	require.NoError(t, f.Load(c))
	require.NoError(t, c.StartAll(ctx))
	all, err := c.Which(ctx)
	require.NoError(t, err)
	require.Equal(t, []application.Info{{Name: "shop"}, {Name: "store"}}, all)
	port, ok := c.Env("shop", "port")
	require.True(t, ok)
	require.Equal(t, 8080, port)
	require.Error(t, f.Load(c)) // already loaded
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	_, err := tree.Check("x", iotest.ErrReader(broken), tree.Known{})
	require.ErrorIs(t, err, broken)

	_, err = tree.Check("x", strings.NewReader(strings.Repeat("# a comment\n", 100_000)), tree.Known{})
	require.EqualError(t, err, "x:1:1: yaml: the file is longer than 1048576 bytes, the most allowed")

	many := "supervisor:\n" + strings.Repeat("  what: 1\n", 500)
	_, err = tree.Check("x", strings.NewReader(many), tree.Known{})
	require.Len(t, errorsOf(t, err), 100)
}

func TestNoTree(t *testing.T) {
	n := start(t)
	f, err := tree.Check("x", strings.NewReader("applications: []"), tree.Known{})
	require.NoError(t, err)
	_, err = f.Start(context.Background(), n)
	require.EqualError(t, err, "tree: the file describes applications: x")
}

// FuzzCheck: no text makes Check panic, and every error has a place.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"testdata/good", "testdata/bad"} {
		files, err := os.ReadDir(pattern)
		require.NoError(f, err)
		for _, e := range files {
			if strings.HasSuffix(e.Name(), ".yaml") {
				text, err := os.ReadFile(pattern + "/" + e.Name())
				require.NoError(f, err)
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := tree.Check("fuzz", strings.NewReader(string(text)), known)
		if err == nil {
			describe(file)
			if file.Top != nil {
				require.NoError(t, supervisor.CheckSpecs(file.Top.Children, file.Top.AutoShutdown))
			}
			for _, a := range file.Applications {
				require.NoError(t, a.Check())
			}
			return
		}
		for _, e := range errorsOf(t, err) {
			require.Positive(t, e.Line, e)
			require.Positive(t, e.Column, e)
			require.NotEmpty(t, e.Field, e)
			require.NotEmpty(t, e.Problem, e)
		}
	})
}

// The behaviours of a file itself are checked with the file and started by it; a specification that is sent to a
// supervisor of the node cannot use them.
func TestOwn(t *testing.T) {
	given := make(chan []any, 4)
	run := wire.Export{Module: "own", Function: "run", Arity: 1}
	known := tree.Known{Own: map[wire.Export]tree.Make{run: func(args []any) (func(...any) (node.Actor, error), error) {
		if !wire.Equal(args[0], "good") {
			return nil, fmt.Errorf("%s; want good", wire.Format(args[0]))
		}
		return func(more ...any) (node.Actor, error) {
			given <- append(args, more...)
			return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
		}, nil
	}}}
	check := func(text string) (*tree.File, error) { return tree.Check("own.yaml", strings.NewReader(text), known) }

	_, err := check("supervisor: {children: [\n{id: a, start: own:run, args: [bad]},\n{id: a, start: own:rum, args: [1]},\n{id: " +
		"c, start: own:run}]}")
	require.EqualError(t, err, "own.yaml:2:31: supervisor.children[0].args: <<\"bad\">>; want good\n"+
		"own.yaml:3:6: supervisor.children[1].id: the id a is already used by the child in line 2\n"+
		"own.yaml:3:16: supervisor.children[1].start: own:rum is not exported; did you mean own:run/1? allowed: own:run/1\n"+
		"own.yaml:4:16: supervisor.children[2].start: own:run is not exported for 0 args; allowed: own:run/1")

	f, err := check("supervisor: {name: top, children: [{id: a, start: own:run, args: [good]},\n" +
		"{id: b, supervisor: {name: many, strategy: simple_one_for_one, children: [{id: x, start: own:run, args: [good]}]}}]}")
	require.NoError(t, err)
	require.Equal(t, []wire.Atom{"own"}, f.Top.Children[0].Modules)
	n := nodetest.Start(t, node.Config{})
	_, err = f.Start(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, []any{[]byte("good")}, <-given)
	_, err = supervisor.StartDynamic(t.Context(), n, node.Atom("many"), 7)
	require.NoError(t, err)
	require.Equal(t, []any{[]byte("good"), 7}, <-given)
	_, err = supervisor.StartChild(t.Context(), n, node.Atom("top"),
		supervisor.Child{ID: "z", Named: supervisor.Named{Module: "own", Function: "run", Args: []any{"good"}}})
	require.ErrorContains(t, err, "undef")
	require.Empty(t, given)
}

// errorsOf returns the errors that err joins, each a *tree.Error.
func errorsOf(t *testing.T, err error) (all []*tree.Error) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%T", err)
	for _, err := range joined.Unwrap() {
		var e *tree.Error
		require.ErrorAs(t, err, &e)
		all = append(all, e)
	}
	return all
}
