package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

const ruled = `demo: true
rights:
  cookies: {ops: theirs}
  rules:
    - {cookie: ops, may: [all]}
    - {peer: "shop@*", may: [connect, call counter]}
    - {peer: "look@*", may: [connect, admin_read]}
`

// What the rights of a file permit to a node with a name, and what more with a cookie or a certificate.
func TestCheckRights(t *testing.T) {
	env, out, errs := newEnvironment(t, nil)
	file := filepath.Join(t.TempDir(), "a.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	check := func(peer, want string) {
		t.Helper()
		require.Equal(t, exitOK, run(t.Context(), []string{"check", file, "--rights", peer}, env), errs.String())
		require.True(t, strings.HasSuffix(out.String(), want), "%s\nwant %s", out, want)
	}
	write("name: go@127.0.0.1\n")
	check("a@h", "a@h may: all (there are no rules)\n"+
		"operators: it may act, trace and profile, as far as it has the rights admin_act, trace and profile\n"+
		"allow: all that is exported, as far as it has the rights spawn and rpc\n")
	write("name: go@127.0.0.1\noperators: [\"*@h\"]\nallow: [\"a@h lists:*\", \"lists:sum/1\"]\n" + ruled +
		"    - {tls: \"dns:*.example.org\", may: [connect, rpc]}\n")
	check("shop@h", "shop@h may: connect, call counter (rule 2)\n  with the cookie ops: all (rule 1)\n"+
		"operators: it may act, trace and profile, as far as it has the rights admin_act, trace and profile\nallow: lists:sum/1\n")
	check("a@i", "a@i may: none (no rule is for it)\n  with the cookie ops: all (rule 1)\n"+
		"  with a certificate for dns:*.example.org: connect, rpc (rule 4)\n"+
		"operators: it may only look, as far as it has the right admin_read\nallow: lists:sum/1\n")
	require.Equal(t, exitUsage, run(t.Context(), []string{"check", file, "--rights", "shop"}, env))
	require.Contains(t, errs.String(), "--rights: shop: want name@host")

	require.Equal(t, exitOK, run(t.Context(), []string{"check", file, "--print"}, env))
	require.NotContains(t, out.String(), "theirs")
	require.Contains(t, out.String(), "{may: [connect, call counter], peer: shop@*}")

	// The same, by variables.
	write("name: go@127.0.0.1\n")
	env, out, errs = newEnvironment(t, map[string]string{"ACTORNODE_RIGHTS_COOKIES": "ops=theirs",
		"ACTORNODE_RIGHTS_RULES": "cookie=ops may all; peer=shop@* may connect, call counter"})
	check("shop@h", "shop@h may: connect, call counter (rule 2)\n  with the cookie ops: all (rule 1)\n"+
		"operators: it may act, trace and profile, as far as it has the rights admin_act, trace and profile\n"+
		"allow: all that is exported, as far as it has the rights spawn and rpc\n")
}

// A daemon takes the rights of nodes from its file, also after a change, and its log names the nodes that have acted.
func TestRightsOfDaemon(t *testing.T) {
	t.Parallel()
	p := begin(t, ruled).up()
	const at = "go@127.0.0.1"
	to := &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{at: {{Protocol: "erlang", Addr: "127.0.0.1:" + p.port}}}}
	start := func(name node.Atom, cookie string) *node.Node {
		return nodetest.Start(t, node.Config{Name: name,
			Distribution: &node.Distribution{Cookie: cookie, Listen: "-", Finder: to}})
	}
	ctx := testkit.Context(t)
	counter := node.At{Name: "counter", Node: at}
	shop, look, ops := start("shop@127.0.0.1", "secret"), start("look@127.0.0.1", "secret"), start("ops@127.0.0.1", "theirs")
	_, err := node.Call[any](ctx, shop, counter, wire.Atom("get"))
	require.NoError(t, err)
	_, err = admin.Status(ctx, shop, at)
	require.Error(t, err)
	_, err = admin.Status(ctx, look, at)
	require.NoError(t, err)
	_, err = node.Call[any](ctx, look, counter, wire.Atom("get"))
	require.ErrorIs(t, err, node.ErrNoName)
	_, err = admin.Exit(ctx, look, at, wire.Atom("counter"), node.Kill)
	require.ErrorIs(t, err, admin.ErrNotAllowed)
	_, err = admin.Exit(ctx, ops, at, wire.Atom("counter"), node.Kill)
	require.NoError(t, err)
	require.Error(t, start("other@127.0.0.1", "secret").Connect(ctx, at))
	require.Contains(t, get(t, p.http, "/metrics"), `actornode_rights_refused_total{right="call"} `)

	file := filepath.Join(p.home, "actornode.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.Replace(string(text), "call counter", "admin_read", 1)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	p.signal(syscall.SIGHUP)
	eventually(t, "the rules have changed", func() bool { return strings.Contains(p.log.String(), `"changed":"rights.rules"`) })
	_, err = admin.Status(ctx, shop, at)
	require.NoError(t, err)
	_, err = node.Call[any](ctx, shop, counter, wire.Atom("get"))
	require.ErrorIs(t, err, node.ErrNoName)
	require.NoError(t, admin.Stop(ctx, ops, at))
	require.Equal(t, exitOK, p.end(), p.log.String())
	actions := map[string]string{}
	for _, r := range p.records() {
		if r["msg"] == "operator action" {
			actions[r["peer"].(string)+" "+r["action"].(string)] = r["outcome"].(string)
			require.NotEmpty(t, r["addr"])
		}
	}
	assert.Equal(t, "ok", actions["ops@127.0.0.1 exit"])
	assert.Contains(t, actions["look@127.0.0.1 exit"], "its rights are connect, admin_read")
}

// A command connects to the daemon without being a peer: the daemon's log, metrics and list of nodes do not show it.
func TestCommandIsNoPeer(t *testing.T) {
	t.Parallel()
	p := begin(t, "demo: true\n").up()
	env, out, errs := newEnvironment(t, map[string]string{"ACTORNODE_COOKIE": "secret"})
	for _, args := range [][]string{{"status"}, {"nodes"}, {"ps"}, {"call", "counter", "get"}} {
		args = append(args, "--node", "go@127.0.0.1", "--no-epmd", "--peer", "go@127.0.0.1=127.0.0.1:"+p.port)
		require.Equal(t, exitOK, run(t.Context(), args, env), "%v\n%s", args, errs)
	}
	require.NotContains(t, out.String(), "ctl")
	require.NotContains(t, get(t, p.http, "/metrics"), "actornode_peer_up{")
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end())
	for _, r := range p.records() {
		assert.NotContains(t, r["msg"], "node up", "%v", r)
		assert.NotContains(t, r["msg"], "node down", "%v", r)
		assert.False(t, r["level"] == "WARN" && !strings.Contains(r["msg"].(string), slowMachine), "%v", r)
	}
}
