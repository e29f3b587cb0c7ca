package erltest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// Node is a running Erlang that evaluates the expressions that it is sent.
type Node struct {
	Name string       // as in Options
	Log  logtest.Text // what it prints beside answers

	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // answers
	gone  chan struct{} // closed when it has ended
}

// Start starts a Node and waits until it is up. It ends with the test; what it has
// printed is in the log of one that fails.
func Start(t testing.TB, o Options) *Node {
	t.Helper()
	Need(t)
	n := &Node{Name: o.Name, t: t, lines: make(chan string, 16), gone: make(chan struct{})}
	o.Args = append([]string{"-s", "erltest", "evaluate"}, o.Args...)
	n.cmd = command(context.Background(), t, o, "-noshell") // the test's own context ends before its cleanups
	n.cmd.Dir = t.TempDir()
	var err error
	n.in, err = n.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := n.cmd.StdoutPipe()
	require.NoError(t, err)
	n.cmd.Stderr = n.cmd.Stdout
	require.NoError(t, n.cmd.Start())
	go n.read(out)
	t.Cleanup(func() {
		n.Kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", n.Name, &n.Log)
		}
	})
	require.Equal(t, "ready", n.Answer())
	return n
}

func (n *Node) read(out io.Reader) {
	defer close(n.gone)
	s := bufio.NewScanner(out)
	for s.Buffer(nil, 16<<20); s.Scan(); {
		if answer, ok := strings.CutPrefix(s.Text(), "=> "); ok {
			n.lines <- answer
			continue
		}
		n.Log.Printf("%s", s.Text())
	}
}

// Kill ends the Node as kill -9 does, and waits for its end. It may be called again.
func (n *Node) Kill() {
	_ = n.in.Close()
	_ = n.cmd.Process.Kill()
	for {
		select {
		case <-n.lines:
		case <-n.gone:
			_ = n.cmd.Wait()
			return
		}
	}
}

// Signal sends it a signal of the operating system, such as SIGSTOP.
func (n *Node) Signal(s os.Signal) {
	n.t.Helper()
	require.NoError(n.t, n.cmd.Process.Signal(s))
}

// Tell has expressions evaluated, separated by commas and without a dot at the end,
// as fmt.Sprintf writes them; there is to be no newline in them. Variables are new
// each time; the process is the same. Answer waits for the value of the last one, or
// for {Class, Reason} of an exception, as ~0tp writes it.
func (n *Node) Tell(format string, args ...any) {
	n.t.Helper()
	_, err := fmt.Fprintf(n.in, format+".\n", args...)
	require.NoError(n.t, err)
}

// Answer waits for the oldest answer that has not been taken.
func (n *Node) Answer() string {
	n.t.Helper()
	select {
	case l := <-n.lines:
		return l
	case <-n.gone:
		require.Fail(n.t, "erl has ended", "%s", &n.Log)
	case <-time.After(testkit.Limit):
		require.Fail(n.t, "erl is silent", "%s", &n.Log)
	}
	return ""
}

// Ask is Tell, and then Answer.
func (n *Node) Ask(format string, args ...any) string {
	n.t.Helper()
	n.Tell(format, args...)
	return n.Answer()
}
