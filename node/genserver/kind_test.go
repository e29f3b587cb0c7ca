package genserver_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// asked is a request that does not say what it returns.
type asked struct{ N int }

func (a asked) String() string { return fmt.Sprint("asked ", a.N) }

// heard names the handler that took a message.
func heard[Q any](name string) func(*probe, *genserver.Context, Q) (string, error) {
	return func(*probe, *genserver.Context, Q) (string, error) { return name, nil }
}

func noting[M any](name string) func(*probe, *genserver.Context, M) error {
	return func(p *probe, _ *genserver.Context, _ M) error { p.note("%s", name); return nil }
}

func notes(p *probe, _ *genserver.Context, _ Notes) ([]string, error) { return p.noted(), nil }

// true and false go to a handler of booleans, or else to one of atoms, as in Erlang.
func TestWhoTakesBooleans(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	atom := func(_ *probe, _ *genserver.Context, a node.Atom) (string, error) { return "atom " + string(a), nil }
	boolean := func(_ *probe, _ *genserver.Context, b bool) (string, error) { return fmt.Sprint("bool ", b), nil }
	for _, c := range []struct {
		k    *genserver.Kind[*probe]
		want string
	}{
		{genserver.Define(genserver.OnAnyCall(atom)), "atom "},
		{genserver.Define(genserver.OnAnyCall(atom), genserver.OnAnyCall(boolean)), "bool "},
	} {
		pid, err := c.k.Start(testkit.Context(t), n, &probe{}, node.Options{})
		require.NoError(t, err)
		for _, b := range []bool{true, false} {
			got, err := node.Call[string](testkit.Context(t), n, pid, b)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(c.want, b), got)
		}
	}
	k := genserver.Define(genserver.OnCall(notes), genserver.OnCast(noting[node.Atom]("atom")))
	pid, err := k.Start(testkit.Context(t), n, &probe{}, node.Options{})
	require.NoError(t, err)
	require.NoError(t, genserver.Cast(n, pid, true))
	require.Contains(t, ask(t, n, pid, Notes{}), "atom")
}

// Which handler takes a message: the one for its exact type, then those for interfaces in their order, then the one for
// any.
func TestWhoTakesWhat(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	k := genserver.Define(
		genserver.OnCall(notes),
		genserver.OnAnyCall(heard[any]("any")),
		genserver.OnAnyCall(heard[int]("int")),
		genserver.OnAnyCall(heard[fmt.Stringer]("Stringer")),
		genserver.OnAnyCall(heard[error]("error")),
		genserver.OnCast(noting[any]("cast any")),
		genserver.OnCast(noting[int]("cast int")),
		genserver.OnCast(noting[fmt.Stringer]("cast Stringer")),
		genserver.OnInfo(noting[any]("any")),
		genserver.OnInfo(noting[int]("int")),
		genserver.OnInfo(noting[fmt.Stringer]("Stringer")),
	)
	pid, err := k.Start(testkit.Context(t), n, &probe{}, node.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		body any
		want string
	}{
		{1, "int"}, {asked{1}, "Stringer"}, {wire.Tuple{}, "Stringer"}, {errors.New("x"), "error"}, {"x", "any"}, {nil, "any"},
	} {
		got, err := node.Call[string](testkit.Context(t), n, pid, c.body)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%v", c.body)
		if c.want == "error" {
			c.want = "any"
		}
		require.NoError(t, genserver.Cast(n, pid, c.body))
		require.NoError(t, n.Send(pid, wire.Tuple{a("$gen_cast"), c.body}))
		require.NoError(t, n.Send(pid, c.body))
		got2 := ask(t, n, pid, Notes{})
		assert.Equal(t, []string{"cast " + c.want, "cast " + c.want, c.want}, got2[len(got2)-3:], "%v", c.body)
	}
	// The compiler knows the type here.
	got, err := node.Call[string](testkit.Context(t), n, pid, asked{1})
	require.NoError(t, err)
	assert.Equal(t, "Stringer", got)
	require.NoError(t, genserver.Cast(n, pid, asked{1}))
	assert.Equal(t, "cast Stringer", last(ask(t, n, pid, Notes{})))
}

func last(l []string) string { return l[len(l)-1] }

type (
	m1 int
	m2 int
	m3 int
	m4 int
	m5 int
	m6 int
	m7 int
	m8 int
	m9 int
)

// So many handlers that they are not searched one by one.
func TestManyHandlers(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	all := []genserver.Handler[*probe]{
		genserver.OnInfo(noting[m1]("1")), genserver.OnInfo(noting[m2]("2")), genserver.OnInfo(noting[m3]("3")),
		genserver.OnCast(noting[m4]("4")), genserver.OnCast(noting[m5]("5")), genserver.OnCast(noting[m6]("6")),
		genserver.OnAnyCall(heard[m7]("7")), genserver.OnAnyCall(heard[m8]("8")), genserver.OnAnyCall(heard[m9]("9")),
	}
	for count := range len(all) + 1 {
		k := genserver.Define(append(all[:count:count], genserver.OnCall(notes))...)
		pid, err := k.Start(testkit.Context(t), n, &probe{}, node.Options{})
		require.NoError(t, err)
		for _, m := range []any{m1(0), m2(0), m3(0)} {
			n.Send(pid, m)
		}
		genserver.Cast(n, pid, m4(0))
		genserver.Cast(n, pid, m5(0))
		genserver.Cast(n, pid, m6(0))
		for i, q := range []any{m7(0), m8(0), m9(0)} {
			r, err := node.Call[string](testkit.Context(t), n, pid, q)
			if u := (*genserver.UnhandledError)(nil); count < 7+i {
				assert.ErrorAs(t, err, &u)
			} else {
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint(7+i), r)
			}
		}
		assert.Equal(t, []string{"1", "2", "3", "4", "5", "6"}[:min(count, 6)], ask(t, n, pid, Notes{}))
	}
}

func TestDefineRefuses(t *testing.T) {
	for want, f := range map[string]func(){
		"genserver: Define: two handlers for a call of type int": func() {
			genserver.Define(genserver.OnAnyCall(heard[int]("")), genserver.OnAnyCall(heard[int]("")))
		},
		"genserver: Define: two handlers for a cast of type interface {}": func() {
			genserver.Define(genserver.OnCast(noting[any]("")), genserver.OnCast(noting[any]("")))
		},
		"genserver: Define: two handlers for a message of type string": func() {
			genserver.Define(genserver.OnInfo(noting[string]("")), genserver.OnCast(noting[string]("")),
				genserver.OnInfo(noting[string]("")))
		},
	} {
		assert.PanicsWithValue(t, want, f)
	}
}

// A Kind without handlers, a state that is not a pointer, and a nil one.
func TestBareServers(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid, err := genserver.Define[int]().Start(testkit.Context(t), n, 5, node.Options{})
	require.NoError(t, err)
	_, err = node.Call[int](testkit.Context(t), n, pid, "x")
	assert.EqualError(t, err, "genserver: int does not handle calls of type string")
	require.NoError(t, sys.Stop(testkit.Context(t), n, pid, node.Normal))

	pid, err = genserver.Define[any](genserver.OnAnyCall(func(any, *genserver.Context, any) (any, error) { return nil, nil })).
		Start(testkit.Context(t), n, nil, node.Options{})
	require.NoError(t, err)
	r, err := node.Call[*int](testkit.Context(t), n, pid, "x")
	require.NoError(t, err)
	assert.Nil(t, r)
	require.NoError(t, sys.Stop(testkit.Context(t), n, pid, node.Normal))
}
