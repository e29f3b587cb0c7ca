package otp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// observed adds observer's own modules to an Erlang node; false: their source is not here. They are compiled anew for
// their inner functions.
func observed(t *testing.T, e *erltest.Node) bool {
	t.Helper()
	src, _ := filepath.Glob("/usr/lib/erlang/lib/observer-*/src")
	backend, _ := filepath.Glob("/usr/lib/erlang/lib/runtime_tools-*/ebin/observer_backend.beam")
	if len(src) == 0 || len(backend) == 0 {
		return false
	}
	args := []string{"+export_all", "+nowarn_export_all", "-I", src[0], "-I", filepath.Join(src[0], "../include")}
	for _, m := range []string{"lib", "wx", "sys_wx", "procinfo", "alloc_wx", "perf_wx", "port_wx", "sock_wx", "html_lib"} {
		args = append(args, filepath.Join(src[0], "observer_"+m+".erl"))
	}
	modules, err := erltest.Build(append(args, filepath.Join(src[0], "etop.erl"), filepath.Join(src[0], "etop_txt.erl"))...)
	if err != nil {
		return false
	}
	dir := t.TempDir()
	modules.Write(t, dir)
	require.Equal(t, "true", e.Ask("code:add_patha(%q)", dir))
	return true
}

// startBoth starts a node of Go with the tools, the output of its process user, and an Erlang node that is connected to
// it.
func startBoth(t *testing.T) (n *node.Node, out *logtest.Text, e *erltest.Node) {
	t.Helper()
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	n = nodetest.Start(t, node.Config{Name: "go@127.0.0.1", Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: cfg}}})
	out = &logtest.Text{}
	require.NoError(t, otp.Serve(n, otp.Config{Output: out}))
	e = erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", EPMD: cfg.Port, Sources: []string{"testdata/tools.erl"}, Args: []string{"+S", "2:2"}})
	require.Equal(t, "true", e.Ask("tools:start()"))
	require.Equal(t, "pong", e.Ask("net_adm:ping('go@127.0.0.1')"))
	return n, out, e
}

// alone starts a node of Go without a distribution.
func alone(t *testing.T, c otp.Config) *node.Node {
	t.Helper()
	n := nodetest.Start(t, node.Config{})
	require.NoError(t, otp.Serve(n, c))
	return n
}

// server is a gen_server.
type server struct{}

var servers = genserver.Define(genserver.OnAnyCall(func(s *server, _ *genserver.Context, term any) (any, error) { return term, nil }))

// apply calls an exported function as another node would.
func apply(t *testing.T, n *node.Node, m, f string, args ...any) string {
	t.Helper()
	v, err := rpc.Apply(t.Context(), n, wire.Atom(m), wire.Atom(f), args)
	if err != nil {
		return "! " + wire.Format(values.ErrorTerm(err))
	}
	return wire.Format(v)
}

func spawn(t *testing.T, n *node.Node, o node.Options, b node.Actor) wire.PID {
	t.Helper()
	pid, err := n.SpawnOpt(o, b)
	require.NoError(t, err)
	return pid
}

// idle is a process that takes only the message stop.
func idle(p *node.Process) error {
	p.ReceiveMatch(func(m any) bool { return m == wire.Atom("stop") })
	return nil
}

// documentation returns the text of doc.go.
func documentation(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	return string(b)
}
