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

// Node is a running Erlang that evaluates the expressions sent to it.
type Node struct {
	Name string       // as in Options
	Log  logtest.Text // its output other than answers

	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // answers
	gone  chan struct{} // closed when erl has ended
}

// Start starts a Node and waits until it is up. It ends with the test; a failing test logs its output.
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

// Kill kills the Node with kill -9, and waits for its end. It may be called again.
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

// Signal sends a signal of the operating system, such as SIGSTOP, to it.
func (n *Node) Signal(s os.Signal) {
	n.t.Helper()
	require.NoError(n.t, n.cmd.Process.Signal(s))
}

// Tell starts evaluating expressions, formatted by fmt.Sprintf, separated by commas, without a final dot and without
// newlines. Variables are new each time; the process is the same. Answer returns the value of the last expression, or
// {Class, Reason} of an exception, in the format ~0tp.
func (n *Node) Tell(format string, args ...any) {
	n.t.Helper()
	_, err := fmt.Fprintf(n.in, format+".\n", args...)
	require.NoError(n.t, err)
}

// Answer waits for the oldest answer not yet returned.
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
