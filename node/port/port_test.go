//go:build unix

package port

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestCounter(t *testing.T) { inEach(t, testCounter) }

func testCounter(t *testing.T, l language) {
	w := newPortTest(t)
	pid := w.start(l.counter(t), node.Options{Name: "pycounter"})
	sum, err := node.Call[int](ctx, w.n, node.Atom("pycounter"), wire.Tuple{wire.Atom("add"), 5})
	require.NoError(t, err)
	require.Equal(t, 5, sum)
	require.NoError(t, w.n.Send(pid, node.Cast[any]{Body: wire.Tuple{wire.Atom("add"), 2}}))
	require.Equal(t, "7", w.call(pid, "get"))
	require.Equal(t, "18446744073709551623", w.call(pid, "{add,18446744073709551616}"))
	require.Equal(t, "error: {unknown,{what,<<\"x\">>}}", w.call(pid, `{what,<<"x">>}`))
	require.Equal(t, `error: {exit_status,1}`, w.call(pid, "crash"))
	require.Equal(t, "{exit_status,1}", format(w.reason(pid)))
	require.Contains(t, w.log.String(), `text="RuntimeError: told to"`)
}

// A program whose msgpack knows no extensions.
func TestPlain(t *testing.T) { inEach(t, testPlain) }

func testPlain(t *testing.T, l language) {
	w := newPortTest(t)
	cfg := l.plain(t)
	cfg.Codec = Plain
	pid := w.start(cfg, node.Options{})
	require.Equal(t, `[<<"add">>,5,#{<<"k">> => [true,undefined,1.5]}]`, w.call(pid, "{add,5,#{k => {true,undefined,1.5}}}"))
	require.Equal(t, `{ok,<<"text">>}`, w.call(pid, "ok"))
	me, err := node.Call[node.PID](ctx, w.n, pid, wire.Atom("me"))
	require.NoError(t, err)
	require.Equal(t, pid, me)
}

// The program inherits three files, and the environment that it is given.
func TestEnvironment(t *testing.T) {
	w := newPortTest(t)
	t.Setenv("PORT_TEST_A", "inherited")
	t.Setenv("PORT_TEST_B", "inherited")
	cfg := runs(t, "environment")
	cfg.Env["PORT_TEST_B"] = "given"
	cfg.Dir = "/"
	l, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range l { // variables that the tests inherit by accident are not the port's
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		cfg.Args = append(cfg.Args, to)
	}
	pid := w.start(cfg, node.Options{})
	require.Equal(t, `[<<"inherited">>,<<"given">>,<<"/">>,3,true]`, w.call(pid, "get"))
}
