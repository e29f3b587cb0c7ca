package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire/epmd"
)

// otpHost is the port mapper of the Erlang and Go nodes of one test.
type otpHost struct {
	t      *testing.T
	mapper epmd.Config
}

func newOTPHost(t *testing.T) *otpHost {
	t.Helper()
	erltest.Need(t)
	return &otpHost{t, epmdtest.Serve(t, "127.0.0.1")}
}

// config is the Config of a Go node.
func (c *otpHost) config(name string) node.Config {
	return node.Config{Name: node.Atom(name + "@127.0.0.1"), StopTimeout: 2 * time.Second,
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: c.mapper}}}
}

func (c *otpHost) start(cfg node.Config) *node.Node {
	c.t.Helper()
	n, err := node.Start(cfg)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { n.Stop() })
	return n
}

// farErl is a running Erlang node with testdata/far.erl.
type farErl struct {
	*erltest.Node
	t    *testing.T
	name node.Atom
}

func (c *otpHost) erl(name, cookie string, args ...string) *farErl {
	c.t.Helper()
	name += "@127.0.0.1"
	n := erltest.Start(c.t, erltest.Options{
		Name: name, Cookie: cookie, EPMD: c.mapper.Port, Sources: []string{"testdata/far.erl"},
		Args: append([]string{"+S", "2:2", "-kernel", "prevent_overlapping_partitions", "false"}, args...),
	})
	require.Equal(c.t, "true", n.Ask("far:start()"))
	return &farErl{n, c.t, node.Atom(name)}
}

// echo is the process named echo on e.
func (e *farErl) echo() node.At { return node.At{Name: "echo", Node: e.name} }

// catcher is a Process that sends everything it gets to a channel; it traps exits.
func catcher(t *testing.T, n *node.Node, name node.Atom) (node.PID, chan any) {
	ch := make(chan any, 1<<16)
	pid, err := n.SpawnOpt(node.Options{Name: name}, node.ProcessFunc(func(p *node.Process) error {
		p.TrapExit(true)
		for {
			msg := p.Receive()
			if d, ok := msg.(func(*node.Process)); ok {
				d(p)
				continue
			}
			ch <- msg
		}
	}))
	require.NoError(t, err)
	return pid, ch
}

// inCatcher makes a catcher run f and waits for it.
func inCatcher(n *node.Node, pid node.PID, f func(*node.Process)) {
	done := make(chan struct{})
	n.Send(pid, func(p *node.Process) { defer close(done); f(p) })
	<-done
}

func caught(t *testing.T, ch chan any) any {
	t.Helper()
	return testkit.Receive(t, ch)
}

// otp is a running Erlang node.
type otp struct {
	*erltest.Node
	t    *testing.T
	name node.Atom
}

// needOTP skips a test that needs real Erlang nodes where Erlang is missing. With tls it needs OTP's ssl application
// too.
func needOTP(t *testing.T, tls bool) {
	t.Helper()
	erltest.Need(t)
	if tls {
		erltest.NeedTLS(t)
	}
}

// startOTP starts a node with arguments; kind is -name or -sname. EPMD is at a
// port, 0 for none.
func startOTP(t *testing.T, epmdPort int, kind, name string, args ...string) *otp {
	t.Helper()
	n := erltest.Start(t, erltest.Options{Name: name, Short: kind == "-sname", EPMD: epmdPort, Args: args})
	return &otp{n, t, node.Atom(name)}
}

// otpMapper serves EPMD on a free port of an address, and returns it with a
// Finder that uses it.
func otpMapper(t *testing.T, host string) (port int, f *discovery.EPMD) {
	t.Helper()
	cfg := epmdtest.Serve(t, host)
	return cfg.Port, &discovery.EPMD{Config: cfg}
}

// otpPeer starts a Go node with an echo on it, and a log.
func otpPeer(t *testing.T, name string, d node.Distribution) (*node.Node, *logtest.Text) {
	t.Helper()
	log := &logtest.Text{}
	d.Cookie = erltest.Cookie
	n := nodetest.Start(t, node.Config{Name: node.Atom(name), Distribution: &d, Log: log.Logger()})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said:\n%s", name, log)
		}
	})
	_, err := n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	return n, log
}

// bothWays makes each node dial the other, and talks.
func (o *otp) bothWays(n *node.Node) {
	o.t.Helper()
	require.NoError(o.t, n.Ping(testkit.Context(o.t), o.name), "we dial erl")
	o.talk(n)
	require.Equal(o.t, "true", o.Ask("erlang:disconnect_node('%s')", n.Name()))
	o.alone(n)
	require.Equal(o.t, "true", o.Ask("net_kernel:connect_node('%s')", n.Name()), "erl dials us")
	o.talk(n)
}

// alone waits until neither node has a connection.
func (o *otp) alone(n *node.Node) {
	o.t.Helper()
	testkit.UntilTrue(o.t, func() bool { return len(n.AllNodes()) == 0 && o.Ask("nodes(connected)") == "[]" }, "neither has a connection")
}

// talk uses the existing connection, in both directions.
func (o *otp) talk(n *node.Node) {
	o.t.Helper()
	require.Equal(o.t, "[hello,1]", o.Ask("gen_server:call({echo, '%s'}, [hello, 1], infinity)", n.Name()))
	require.Equal(o.t, "true", o.Ask("B = binary:copy(<<7>>, 300000), B =:= gen_server:call({echo, '%s'}, B, infinity)", n.Name()))
	v, err := rpc.Call[any](testkit.Context(o.t), n, o.name, "erlang", "node")
	require.NoError(o.t, err)
	require.Equal(o.t, o.name, v)
}
