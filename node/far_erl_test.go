package node_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/epmd"
)

// farPatience is how long the tests wait for what another program is to do.
const farPatience = 30 * time.Second

// country is where Erlang and Go nodes of one test live: a port mapper of their
// own.
type country struct {
	t    *testing.T
	port int
	dir  string // of far.beam
}

func newCountry(t *testing.T) *country {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Erlang is started")
	}
	for _, tool := range []string{"erl", "erlc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on the PATH: nothing to talk to", tool)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &country{t: t, port: l.Addr().(*net.TCPAddr).Port, dir: t.TempDir()}
	s, err := epmd.NewServer(c.mapper())
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { // ended by Stop
		defer close(done)
		_ = s.Serve(context.Background(), l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
	out, err := exec.Command("erlc", "-o", c.dir, "testdata/far.erl").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return c
}

func (c *country) mapper() epmd.Config {
	return epmd.Config{Port: c.port, Logger: slog.New(slog.DiscardHandler)}
}

// config is that of a Go node.
func (c *country) config(name string) node.Config {
	return node.Config{Name: node.Atom(name + "@127.0.0.1"), StopTimeout: 2 * time.Second,
		Distribution: &node.Distribution{Cookie: "secret", Finder: &node.EPMD{Config: c.mapper()}}}
}

func (c *country) start(cfg node.Config) *node.Node {
	c.t.Helper()
	n, err := node.Start(cfg)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { n.Stop() })
	return n
}

// farErl is a running Erlang node that evaluates what it is told.
type farErl struct {
	t     *testing.T
	name  node.Atom
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // answers
	gone  chan struct{} // closed when it has ended

	mu  sync.Mutex
	log []string // what else it prints
}

func (c *country) erl(name, cookie string, args ...string) *farErl {
	c.t.Helper()
	e := &farErl{t: c.t, name: node.Atom(name + "@127.0.0.1"), lines: make(chan string, 16), gone: make(chan struct{})}
	e.cmd = exec.Command("erl", append([]string{"+S", "2:2", "-noshell", "-pa", c.dir, "-name", string(e.name), "-setcookie", cookie,
		"-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-kernel", "prevent_overlapping_partitions", "false", "-s", "far", "main"}, args...)...)
	e.cmd.Env = []string{"ERL_EPMD_PORT=" + strconv.Itoa(c.port), "ERL_EPMD_ADDRESS=127.0.0.1", "HOME=" + c.t.TempDir(), "PATH=" + os.Getenv("PATH")}
	e.cmd.Dir = c.t.TempDir()
	var err error
	e.in, err = e.cmd.StdinPipe()
	require.NoError(c.t, err)
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(c.t, err)
	e.cmd.Stderr = e.cmd.Stdout
	require.NoError(c.t, e.cmd.Start())
	go func() { // ended by erl's end
		defer close(e.gone)
		s := bufio.NewScanner(stdout)
		for s.Buffer(nil, 16<<20); s.Scan(); {
			if answer, ok := strings.CutPrefix(s.Text(), "=> "); ok {
				e.lines <- answer
				continue
			}
			e.mu.Lock()
			e.log = append(e.log, s.Text())
			e.mu.Unlock()
		}
	}()
	c.t.Cleanup(func() {
		e.kill()
		if c.t.Failed() {
			c.t.Logf("%s said:\n%s", e.name, e.said())
		}
	})
	require.Equal(c.t, "ready", e.answer())
	return e
}

// kill is kill -9.
func (e *farErl) kill() {
	_ = e.in.Close()
	_ = e.cmd.Process.Kill()
	for {
		select {
		case <-e.lines:
		case <-e.gone:
			_ = e.cmd.Wait()
			return
		}
	}
}

func (e *farErl) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.log, "\n")
}

func (e *farErl) answer() string {
	e.t.Helper()
	select {
	case l := <-e.lines:
		return l
	case <-e.gone:
		require.Fail(e.t, "erl has ended", "%s", e.said())
	case <-time.After(farPatience):
		require.Fail(e.t, "erl is silent", "%s", e.said())
	}
	return ""
}

// ask has expr evaluated and waits for its value.
func (e *farErl) ask(expr string, args ...any) string {
	e.t.Helper()
	e.tell(expr, args...)
	return e.answer()
}

func (e *farErl) tell(expr string, args ...any) {
	_, err := fmt.Fprintf(e.in, "%s.\n", fmt.Sprintf(expr, args...))
	require.NoError(e.t, err)
}

// echo is the process of that name on e.
func (e *farErl) echo() node.At { return node.At{Name: "echo", Node: e.name} }

// within is a context with farPatience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), farPatience)
	t.Cleanup(cancel)
	return ctx
}

// catcher is a Process that gives what it gets to a channel; it traps exits.
func catcher(t *testing.T, n *node.Node, name node.Atom) (node.PID, chan any) {
	ch := make(chan any, 1<<16)
	pid, err := n.SpawnOpt(node.Options{Name: name}, node.Process(func(p *node.Self) error {
		p.TrapExit(true)
		for {
			msg := p.Receive()
			if d, ok := msg.(func(*node.Self)); ok {
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
func inCatcher(n *node.Node, pid node.PID, f func(*node.Self)) {
	done := make(chan struct{})
	n.Send(pid, func(p *node.Self) { defer close(done); f(p) })
	<-done
}

func caught(t *testing.T, ch chan any) any {
	t.Helper()
	select {
	case m := <-ch:
		return m
	case <-time.After(farPatience):
		require.Fail(t, "nothing comes")
	}
	return nil
}
