//go:build unix

package port

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Programs that a real Erlang node calls, and a program that is an Erlang node.

// infinity is for calls in Erlang, whose own bound is five seconds.
const infinity = node.Atom("infinity")

const erlName = "portcaller@127.0.0.1"

// erlangPortTest is a portTest to which a real Erlang node can connect.
type erlangPortTest struct {
	*portTest
	erl *erltest.Node
}

func newErlangPortTest(t *testing.T) *erlangPortTest {
	erltest.Need(t)
	testkit.Program(t, testkit.Merge, "python3")
	cfg := epmdtest.Serve(t, "127.0.0.1")
	w := newPortTestWith(t, node.Config{Name: "portgo@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: cfg}}})
	return &erlangPortTest{w, erltest.Start(t, erltest.Options{Name: erlName, EPMD: cfg.Port})}
}

// rpc runs a function on the Erlang node.
func (w *erlangPortTest) rpc(module, function node.Atom, args ...any) string {
	w.Helper()
	v, err := rpc.Call[any](ctx, w.n, erlName, module, function, args...)
	if e, ok := err.(*rpc.Error); ok {
		return "error: " + format(e.Reason)
	}
	require.NoError(w, err)
	return format(v)
}

func TestCalledFromErlang(t *testing.T) {
	w := newErlangPortTest(t)
	w.start(pythonCounter(t), node.Options{Name: "pycounter"})
	to := wire.Tuple{node.Atom("pycounter"), w.n.Name()}
	add := wire.Tuple{node.Atom("add"), 5}
	require.Equal(t, "5", w.rpc("gen_server", "call", to, add, infinity))
	require.Equal(t, "ok", w.rpc("gen_server", "cast", to, add))
	require.Equal(t, "10", w.rpc("gen_server", "call", to, node.Atom("get"), infinity))
	require.Equal(t, "{error,{unknown,#{a => [1.5]}}}",
		w.rpc("gen_server", "call", to, wire.NewMap(node.Atom("a"), wire.List{1.5}), infinity))
	require.Contains(t, w.rpc("sys", "get_state", to), "frames_in => 4")
	require.Contains(t, w.rpc("gen_server", "call", to, node.Atom("crash"), infinity), "{exit_status,1}")
	require.Contains(t, w.rpc("gen_server", "call", to, node.Atom("get"), infinity), "noproc")
}

// Everything that Erlang can send comes back unchanged: pids, references, funs.
func TestEchoToErlang(t *testing.T) {
	w := newErlangPortTest(t)
	w.start(python("port = Port()\n@port.on_call\ndef call(b, c): return b\nport.run()"), node.Options{Name: "echo"})
	require.Equal(t, "true", w.erl.Ask(`R = gen_server:call({echo, 'portgo@127.0.0.1'}, T = {self(), make_ref(), fun lists:map/2, fun(X) -> {X, node()} end, `+
		`1 bsl 70, -(1 bsl 64), 1 bsl 63, <<5:3>>, [a | b], #{{a} => 1.5, "k" => [[], #{}]}, undefined, nil, true, 'é', "text", <<"bin">>, `+
		`[undefined, 1], [undefined | x], [[]], {undefined}, [{}], #{undefined => 1, [] => 2, true => 3, {undefined} => 4, [undefined] => 5}, hd(erlang:ports()), `+
		`[alias | make_ref()], {}, list_to_tuple(lists:seq(1, 300)), binary:copy(<<0>>, 100000)}), R =:= T`))
}

// The program calls, monitors and sends to processes of the Erlang node.
func TestProgramCallsErlang(t *testing.T) {
	w := newErlangPortTest(t)
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	pid := w.start(python(everything), node.Options{})
	far := func(name string) any { return wire.Tuple{node.Atom(name), node.Atom(erlName)} }
	require.Equal(t, "{ok,yes}", format(w.ask(pid, "call", far("net_kernel"), wire.Tuple{node.Atom("is_auth"), w.n.Name()})))
	require.Equal(t, "{failed,noproc}", format(w.ask(pid, "call", far("nobody"), 1)))
	w.ask(pid, "monitor", 1, far("nobody"))
	require.Equal(t, "{down,1,{nobody,'"+erlName+"'},noproc}", format(w.receive()))
	w.ask(pid, "monitor", 2, far("net_kernel"))
	require.True(t, w.n.Disconnect(erlName))
	require.Equal(t, "{down,2,{net_kernel,'"+erlName+"'},noconnection}", format(w.receive()))
}

// A program that speaks {packet, 4} and term_to_binary: one in Go, and one in Erlang.
func TestETF(t *testing.T) {
	t.Run("go", func(t *testing.T) {
		cfg := runs(t, "counter", string(ETF))
		cfg.Codec, cfg.Init = ETF, 10
		testETF(t, cfg)
	})
	t.Run("erlang", func(t *testing.T) {
		erltest.NeedTool(t, "escript")
		testETF(t, Config{Command: samples + "/counter.escript", Codec: ETF, Init: 10, Grace: testkit.Limit})
	})
}

func testETF(t *testing.T, cfg Config) {
	w := newPortTest(t)
	pid := w.start(cfg, node.Options{})
	require.Equal(t, "15", w.call(pid, "{add,5}"))
	require.NoError(t, w.n.Send(pid, node.Cast[any]{Body: wire.Tuple{wire.Atom("add"), 1}}))
	require.Equal(t, "16", w.call(pid, "get"))
	require.Equal(t, "error: {unknown,what}", w.call(pid, "what"))
	require.NoError(t, w.n.Send(pid, wire.Tuple{wire.Atom("ping"), w.self.Self()}))
	require.Equal(t, wire.Tuple{wire.Atom("pong"), 16}, w.receive())
	big := wire.Tuple{wire.Atom("echo"), wire.List{make([]byte, 3<<20), w.self.Self(), w.n.MakeRef(), 1.5,
		wire.NewMap("k", wire.ImproperList{Head: []any{1}, Tail: 2})}}
	v, err := node.Call[any](ctx, w.n, pid, big)
	require.NoError(t, err)
	require.True(t, wire.Equal(big[1], v))
	w.n.Exit(pid, node.Shutdown)
	require.Equal(t, node.Shutdown, w.reason(pid))
}
