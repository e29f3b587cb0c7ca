package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/epmdtest"
	"github.com/actornode/actornode/internal/erltest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/epmd"
)

// otpHost is where Erlang and Go nodes of one test run: a port mapper of their
// own.
type otpHost struct {
	t      *testing.T
	mapper epmd.Config
}

func newOTPHost(t *testing.T) *otpHost {
	t.Helper()
	erltest.NeedNodes(t)
	return &otpHost{t, epmdtest.Serve(t, "127.0.0.1")}
}

// config is that of a Go node.
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

// echo is the process of that name on e.
func (e *farErl) echo() node.At { return node.At{Name: "echo", Node: e.name} }

// catcher is a Process that gives what it gets to a channel; it traps exits.
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

// inside has f run by a catcher and waits for it.
func inCatcher(n *node.Node, pid node.PID, f func(*node.Process)) {
	done := make(chan struct{})
	n.Send(pid, func(p *node.Process) { defer close(done); f(p) })
	<-done
}

func caught(t *testing.T, ch chan any) any {
	t.Helper()
	return testkit.Receive(t, ch)
}
