package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// guarded is a node with rights, and its processes.
type guarded struct {
	*node.Node
	cluster         *clustertest.Cluster
	policy          *rights.Policy
	log             *logtest.Text
	got             chan any // what the processes named and pub receive
	named, pub, pid node.PID // pid has no name
}

// startGuarded starts a node g@127.0.0.1 with rights.
func startGuarded(t *testing.T, c *clustertest.Cluster, r rights.Config, d node.Distribution) *guarded {
	t.Helper()
	p, err := rights.New(r)
	require.NoError(t, err)
	g := &guarded{cluster: c, policy: p, got: make(chan any, 100)}
	d.Access.Rights = p
	g.Node, g.log = c.StartLogged("g", d)
	spawn := func(name node.Atom) node.PID {
		pid, err := g.SpawnOpt(node.Options{Name: name}, node.ActorFunc(func(_ *node.Context, msg any) error {
			if r, ok := g.AsRequest(msg); ok {
				return r.Reply("called")
			}
			g.got <- msg
			return nil
		}))
		require.NoError(t, err)
		return pid
	}
	g.named, g.pub, g.pid = spawn("named"), spawn("pub"), spawn("")
	lib := wire.Export{Module: "lib", Function: "echo", Arity: 1}
	require.NoError(t, rpc.Export(g.Node, lib, func(_ context.Context, args []any) (any, error) { return args[0], nil }))
	require.NoError(t, rpc.ExportBehaviour(g.Node, wire.Export{Module: "lib", Function: "start"}, func([]any) (node.Actor, error) {
		return node.ActorFunc(echo), nil
	}))
	return g
}

// peer starts a node with a cookie.
func (g *guarded) peer(t *testing.T, name, cookie string, d node.Distribution) *node.Node {
	t.Helper()
	d.Cookie = cookie
	return g.cluster.StartWith(name, d)
}

// at is a name on the node.
func (g *guarded) at(name node.Atom) node.At { return node.At{Name: name, Node: g.Name()} }

// refused returns how often something was refused for lack of a right.
func (g *guarded) refused(right string) (n uint64) {
	for _, c := range g.Node.Inside(process.Key{}).Counts("rights_refused") {
		if c.Labels[0] == right {
			n = c.N
		}
	}
	return n
}

// attempts are what a peer may try, by the right that it needs. Each returns nil if it had an effect, or how it was
// refused.
var attempts = map[string]func(t *testing.T, g *guarded, b *node.Node) error{
	"send named": func(t *testing.T, g *guarded, b *node.Node) error {
		return g.comes(t, b, g.at("named"))
	},
	"send": func(t *testing.T, g *guarded, b *node.Node) error { return g.comes(t, b, g.pid) },
	"call named": func(t *testing.T, g *guarded, b *node.Node) error {
		_, err := node.Call[string](testkit.Context(t), b, g.at("named"), 1)
		if _, byPID := node.Call[string](testkit.Context(t), b, g.named, 1); (err == nil) != (byPID == nil) {
			return fmt.Errorf("by name %w, by PID %w", err, byPID)
		}
		return err
	},
	"call": func(t *testing.T, g *guarded, b *node.Node) error {
		_, err := node.Call[string](testkit.Context(t), b, g.pid, 1)
		return err
	},
	"spawn lib:start/0": func(t *testing.T, g *guarded, b *node.Node) error {
		h := nodetest.NewProbe(t, b)
		pid, err := rpc.Spawn(testkit.Context(t), h, g.Name(), "lib", "start")
		if err != nil {
			return err
		}
		// A process may be used by the one that started it.
		if v, err := node.Call[int](testkit.Context(t), h, pid, 5); err == nil && v == 5 {
			h.Exit(pid, node.Kill)
			h.ExpectDown(h.Monitor(pid))
			return nil
		}
		return node.ErrNoProcess // undef ends it
	},
	"rpc lib:echo/1": func(t *testing.T, g *guarded, b *node.Node) error {
		v, err := rpc.Call[int](testkit.Context(t), b, g.Name(), "lib", "echo", 7)
		if err == nil && v != 7 {
			return errors.New("another answer")
		}
		return err
	},
	"signal": func(t *testing.T, g *guarded, b *node.Node) error {
		h := nodetest.NewProbe(t, b)
		h.TrapExit(true)
		pid, err := g.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
		require.NoError(t, err)
		h.Link(pid)
		h.Exit(pid, node.Kill)
		e := nodetest.Expect[node.Exited](h)
		if e.Reason == node.NoProc {
			_, err := g.Info(pid)
			require.NoError(t, err, "it lives")
			return node.ErrNoProcess
		}
		return nil
	},
}

// comes reports whether a message of b has arrived once a later one that is always allowed has: the reply to a call
// from here.
func (g *guarded) comes(t *testing.T, b *node.Node, to node.Dest) error {
	t.Helper()
	h := nodetest.NewProbe(t, b)
	require.NoError(t, h.Send(to, "hello"))
	answered := make(chan error, 1)
	go func() { // ends with the call
		_, err := node.Call[string](testkit.Context(t), g.Node, h.Self(), 1)
		answered <- err
	}()
	r := nodetest.Expect[node.Request[int]](h)
	require.NoError(t, r.Reply("yes"))
	require.NoError(t, testkit.Receive(t, answered), "who is asked may answer")
	for _, pid := range []node.PID{g.named, g.pub, g.pid} { // after these calls, earlier messages have been handled
		_, err := node.Call[string](testkit.Context(t), g.Node, pid, 1)
		require.NoError(t, err)
	}
	select {
	case msg := <-g.got:
		require.Equal(t, "hello", msg)
		return nil
	default:
		return node.ErrNoProcess
	}
}

// Each right lets a peer do what it is for, and nothing else; a refusal looks as if nothing were there, and is counted
// and logged.
func TestRights(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{}, node.Distribution{})
		b := g.peer(t, "b@127.0.0.1", "secret", node.Distribution{})
		require.NoError(t, b.Ping(testkit.Context(t), g.Name()))
		for right := range attempts {
			require.NoError(t, g.policy.Set(rights.Config{Rules: []rights.Rule{{Peer: "b@*", May: []string{"connect", right}}}}))
			for what, attempt := range attempts {
				may := what == right || what == "send named" && right == "send" || what == "call named" && right == "call"
				err := attempt(t, g, b)
				assert.Equal(t, may, err == nil, "%s with the right %s: %v", what, right, err)
			}
			require.NoError(t, b.Ping(testkit.Context(t), g.Name()), "who may connect may ask whether the node is there")
		}
		for _, right := range []string{"send", "call", "spawn", "rpc", "signal"} {
			require.NotZero(t, g.refused(right), right)
		}
		require.Contains(t, g.log.String(),
			`level=WARN msg="refused what another node asked for: it has no right to it" peer=b@127.0.0.1 addr=`)
		require.NoError(t, g.policy.Set(rights.Config{}))
		for what, attempt := range attempts {
			require.NoError(t, attempt(t, g, b), "%s without rules", what)
		}
	})
}

// A monitor needs the right to call or to send, a receipt tells a sender of a refusal, and whoever knows an alias may
// use it.
func TestRightsToWatch(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{Rules: []rights.Rule{{May: []string{"connect", "call named", "send pub"}}}},
			node.Distribution{})
		b := g.peer(t, "b@127.0.0.1", "secret", node.Distribution{})
		h := nodetest.NewProbe(t, b)
		ref := h.Monitor(g.pid)
		require.Equal(t, node.NoProc, h.ExpectDown(ref).Reason)
		named, pub := h.Monitor(g.at("named")), h.Monitor(g.pub)
		_, err := node.Call[string](testkit.Context(t), h, g.at("named"), 1)
		require.NoError(t, err, "which comes after the monitors")
		g.Exit(g.named, node.Kill)
		require.Equal(t, node.Killed, h.ExpectDown(named).Reason)
		g.Exit(g.pub, node.Kill)
		require.Equal(t, node.Killed, h.ExpectDown(pub).Reason)
		if protocol, _ := node.FarProtocol(b, g.Name()); protocol == "native" {
			require.Error(t, node.Deliver(testkit.Context(t), h, g.pid, 1))
		}
		own := nodetest.NewProbe(t, g.Node)
		require.NoError(t, h.Send(own.Alias(), "by the alias"))
		require.Equal(t, "by the alias", nodetest.Expect[string](own))
	})
}

// A peer without the right to connect is not connected, whoever dials, and is disconnected once the rules take that
// right away.
func TestRightToConnect(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{Rules: []rights.Rule{{Peer: "good@*", May: []string{"connect"}}}},
			node.Distribution{Timing: node.Timing{TickTime: 2 * time.Second}})
		bad := g.peer(t, "bad@127.0.0.1", "secret", node.Distribution{Timing: node.Timing{TickTime: 2 * time.Second}})
		good := g.peer(t, "good@127.0.0.1", "secret", node.Distribution{Timing: node.Timing{TickTime: 2 * time.Second}})
		require.ErrorIs(t, bad.Connect(testkit.Context(t), g.Name()), dist.ErrNotAllowed)
		err := g.Connect(testkit.Context(t), bad.Name())
		require.ErrorIs(t, err, dist.ErrNotAllowed)
		require.ErrorContains(t, err, "the rights of this node do not let bad@127.0.0.1 connect, with no certificate")
		testkit.Until(t, func() string {
			const want = "the rights of this node do not let bad@127.0.0.1 connect"
			if !strings.Contains(g.log.String(), want) {
				return "the log does not say: " + want
			}
			return ""
		})
		require.NoError(t, good.Connect(testkit.Context(t), g.Name()))
		h := nodetest.NewProbe(t, good)
		h.MonitorNode(g.Name())
		require.NoError(t, g.policy.Set(rights.Config{Rules: []rights.Rule{}}))
		require.Equal(t, g.Name(), nodetest.Expect[node.NodeDown](h).Node, "with the next tick")
	})
}

// A connecting peer may know a further cookie instead; a rule can be for that cookie.
func TestRightsByCookie(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{Cookies: map[string]string{"ops": "theirs", "unused": "3"}, Rules: []rights.Rule{
			{Cookie: "ops", May: []string{"connect", "call named"}}, {May: []string{"connect"}},
		}}, node.Distribution{})
		call := func(n *node.Node) error {
			_, err := node.Call[string](testkit.Context(t), n, g.at("named"), 1)
			return err
		}
		require.NoError(t, call(g.peer(t, "o@127.0.0.1", "theirs", node.Distribution{})))
		require.ErrorIs(t, call(g.peer(t, "s@127.0.0.1", "secret", node.Distribution{})), node.ErrNoName)
		none := g.peer(t, "n@127.0.0.1", "wrong", node.Distribution{})
		require.ErrorIs(t, none.Connect(testkit.Context(t), g.Name()), dist.ErrCookie)
		// A name does not bring the rights of its previous owner.
		taken := g.peer(t, "t@127.0.0.1", "theirs", node.Distribution{})
		require.NoError(t, call(taken))
		h := nodetest.NewProbe(t, g.Node)
		h.MonitorNode(taken.Name())
		require.NoError(t, taken.Stop())
		nodetest.Expect[node.NodeDown](h) // until then the name is kept for the old peer
		require.ErrorIs(t, call(g.peer(t, "t@127.0.0.1", "secret", node.Distribution{})), node.ErrNoName)
	})
}

// While a node is connected nobody with fewer rights takes its name, nor what it owns: neither by another cookie nor by
// none. A node with the same cookie is that node, restarted.
func TestConnectedNameIsKept(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{Cookies: map[string]string{"ops": "theirs"}, Rules: []rights.Rule{
			{Cookie: "ops", May: []string{"all"}}, {May: []string{"connect"}},
		}}, node.Distribution{})
		o := g.peer(t, "o@127.0.0.1", "theirs", node.Distribution{})
		h := nodetest.NewProbe(t, o)
		h.MonitorNode(g.Name())
		pid, err := rpc.Spawn(testkit.Context(t), h, g.Name(), "lib", "start")
		require.NoError(t, err)
		places := new(clustertest.Places) // the thief is at another address
		places.Put(g.Name(), g.Endpoints())
		for _, cookie := range []string{"secret", "wrong"} {
			thief := c.StartWith("o@127.0.0.1", node.Distribution{Cookie: cookie, Finder: places})
			require.Error(t, thief.Connect(testkit.Context(t), g.Name()), cookie)
			thief.Exit(pid, node.Kill)
			require.NoError(t, thief.Stop())
		}
		v, err := node.Call[int](testkit.Context(t), h, pid, 5)
		require.NoError(t, err)
		require.Equal(t, 5, v)
		h.ExpectNone() // the connection is the same
	})
}

// A certificate is an identity that a rule can be for.
func TestRightsByCertificate(t *testing.T) {
	ca := certtest.New(t, "ca")
	leaf := func(dns string) certtest.Files {
		l := certtest.Host("127.0.0.1")
		l.Name, l.DNS = "node of "+dns, append(l.DNS, dns)
		return ca.Write(t.TempDir(), l)
	}
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		p, err := rights.New(rights.Config{Rules: []rights.Rule{
			{TLS: "dns:*.ops.example.org", May: []string{"connect", "call echo"}},
			{TLS: "cn:node of *.shop.example.org", May: []string{"connect"}},
		}})
		require.NoError(t, err)
		start := func(name, dns string, p *rights.Policy) *node.Node {
			d := *c.ConfigWith(name, node.Distribution{Access: node.Access{Rights: p}}).Distribution
			n, _ := secure(t, name, c.Places, leaf(dns), d)
			return n
		}
		g := start("g@127.0.0.1", "g.example.org", p)
		echo := node.At{Name: "echo", Node: g.Name()}
		ops, shop, none := start("ops@127.0.0.1", "a.ops.example.org", nil), start("shop@127.0.0.1", "a.shop.example.org", nil),
			start("none@127.0.0.1", "a.example.org", nil)
		_, err = node.Call[int](testkit.Context(t), ops, echo, 5)
		require.NoError(t, err)
		_, err = node.Call[int](testkit.Context(t), shop, echo, 5)
		require.ErrorIs(t, err, node.ErrNoName)
		require.ErrorIs(t, none.Connect(testkit.Context(t), g.Name()), dist.ErrNotAllowed)
		// The dialled peer has shown its certificate, too.
		require.True(t, g.Disconnect(ops.Name()))
		require.NoError(t, g.Connect(testkit.Context(t), ops.Name()))
		_, err = node.Call[int](testkit.Context(t), ops, echo, 5)
		require.NoError(t, err)
		require.ErrorIs(t, g.Connect(testkit.Context(t), none.Name()), dist.ErrNotAllowed)
	})
}

// Without a right, OTP gets the same answer as for something that does not exist.
func TestRightsOfOTP(t *testing.T) {
	needOTP(t, false)
	port, finder := otpMapper(t, "127.0.0.1")
	p, err := rights.New(rights.Config{})
	require.NoError(t, err)
	g, log := otpPeer(t, "go@127.0.0.1", node.Distribution{Finder: finder, Access: node.Access{Rights: p}})
	require.NoError(t, rpc.Export(g, wire.Export{Module: "lib", Function: "echo", Arity: 1},
		func(_ context.Context, args []any) (any, error) { return args[0], nil }))
	o := startOTP(t, port, "-name", "e@127.0.0.1")
	require.Equal(t, "pong", o.Ask("net_adm:ping('go@127.0.0.1')"))
	require.Equal(t, "true", o.Ask("net_kernel:connect_node('go@127.0.0.1')"))
	require.Equal(t, "ok", o.Ask("persistent_term:put(echo, rpc:call('go@127.0.0.1', erlang, whereis, [echo]))"))
	for _, c := range []struct{ right, ask, refused, permitted string }{
		{"call echo", "try gen_server:call({echo, 'go@127.0.0.1'}, 5) catch exit:{R, _} -> R end", "noproc", "5"},
		{"rpc", "case rpc:call('go@127.0.0.1', lib, echo, [5]) of {badrpc, {'EXIT', {undef, _}}} -> undef; V -> V end", "undef", "5"},
		{"rpc", "case rpc:block_call('go@127.0.0.1', lib, echo, [5]) of {badrpc, {'EXIT', {undef, _}}} -> undef; V2 -> V2 end",
			"undef", "5"},
		{"rpc", "try erpc:call('go@127.0.0.1', lib, echo, [5]) catch error:{exception, undef, _} -> undef end", "undef", "5"},
		{"spawn", "begin {_, M3} = spawn_monitor('go@127.0.0.1', lib, echo, [5]), receive {'DOWN', M3, _, _, {undef, _}} -> undef; " +
			"{'DOWN', M3, _, _, R3} -> R3 end end", "undef", "normal"},
		{"signal", "begin process_flag(trap_exit, true), P4 = persistent_term:get(echo), link(P4), " +
			"receive {'EXIT', P4, R4} -> R4 after 1000 -> unlink(P4), linked end end", "noproc", "linked"},
	} {
		require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{{May: []string{"connect"}}}}))
		require.Equal(t, c.refused, o.Ask("%s", c.ask), "without %s", c.right)
		require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{{May: []string{"connect", c.right}}}}))
		require.Equal(t, c.permitted, o.Ask("%s", c.ask), "with %s", c.right)
	}
	// A caller that waits for an answer gets an error instead, whatever its request looks like.
	for ask, right := range map[string]string{
		"try gen_event:call({echo, 'go@127.0.0.1'}, handler, 5, infinity) catch exit:{R5, _} -> R5 end": "send echo",
		"try sys:get_state({echo, 'go@127.0.0.1'}, infinity) catch exit:{R6, _} -> R6 end":              "send echo",
		"try sys:terminate({echo, 'go@127.0.0.1'}, oops, infinity) catch exit:{R7, _} -> R7 end":        "call echo",
		"element(2, io:request(persistent_term:get(echo), {put_chars, unicode, <<\"a\">>}))":            "call echo",
	} {
		require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{{May: []string{"connect", right}}}}))
		require.Contains(t, []string{"noproc", "terminated"}, o.Ask("%s", ask), "%s with %s", ask, right)
	}
	require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{{May: []string{"connect", "call"}}}}))
	require.Equal(t, "5", o.Ask("gen_server:call(persistent_term:get(echo), 5)"), "nothing has ended it")
	require.Contains(t, log.String(), "it has no right to it")
	require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{}}))
	require.Equal(t, "pang", o.Ask("begin erlang:disconnect_node('go@127.0.0.1'), net_adm:ping('go@127.0.0.1') end"))
}

// A client is no peer: nobody is told of it, and nothing counts it; it has its rights all the same.
func TestClientIsNoPeer(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		g := startGuarded(t, c, rights.Config{Rules: []rights.Rule{{Peer: "tool@*", May: []string{"connect", "call named"}}}},
			node.Distribution{})
		watcher := nodetest.NewProbe(t, g.Node)
		watcher.MonitorNodes()
		tool := g.peer(t, "tool@127.0.0.1", "secret", node.Distribution{Client: true, Listen: "-"})
		_, err := node.Call[string](testkit.Context(t), tool, g.at("named"), 1)
		require.NoError(t, err)
		_, err = node.Call[string](testkit.Context(t), tool, g.at("pub"), 1)
		require.ErrorIs(t, err, node.ErrNoName)
		require.Empty(t, g.AllNodes())
		require.Empty(t, g.Peers())
		require.NotContains(t, g.log.String(), "node up")
		require.Equal(t, []node.Atom{g.Name()}, tool.AllNodes(), "it sees the node")
		require.NoError(t, tool.Stop())
		other := g.peer(t, "other@127.0.0.1", "secret", node.Distribution{Client: true, Listen: "-"})
		require.ErrorIs(t, other.Connect(testkit.Context(t), g.Name()), dist.ErrNotAllowed, "it is no way round the rights")
		require.NotContains(t, g.log.String(), "node down")
		watcher.ExpectNone()
	})
}
