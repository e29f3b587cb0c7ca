//go:build unix

package port

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/erltest"
	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

var ctx = context.Background()

// patience is how long the tests wait for programs, which are no business of this
// process's scheduler.
const patience = time.Minute

// journal collects a log.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// portTest is a node, with a handle on it and its log.
type portTest struct {
	*testing.T
	n    *node.Node
	self *node.Process
	log  *journal
}

func newPortTest(t *testing.T) *portTest { return newPortTestWith(t, node.Config{}) }

func newPortTestWith(t *testing.T, cfg node.Config) *portTest {
	erltest.NeedTool(t, "python3", "its port is not tried")
	w := &portTest{T: t, log: &journal{}}
	h := slog.NewTextHandler(w.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	before := openFiles(t)
	cfg.Log, cfg.StopTimeout = slog.New(h), patience
	n, err := node.Start(cfg)
	require.NoError(t, err)
	w.n = n
	w.self, err = n.Open()
	require.NoError(t, err)
	w.self.TrapExit(true)
	t.Cleanup(func() {
		w.self.Close(nil)
		require.NoError(t, n.Stop(), w.log)
		requireNoChildren(t)
		eventually(t, "all files closed", func() bool { return openFiles(t) <= before })
		if t.Failed() {
			t.Log(w.log)
		}
	})
	return w
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	l, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(l)
}

// requireNoChildren makes sure that this process has no children, zombies
// included.
func requireNoChildren(t *testing.T) {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err == nil { // else the thread is gone
			require.Empty(t, strings.TrimSpace(string(b)), "children have been left")
		}
	}
}

// sh is a port that runs a shell script.
func sh(script string) Config { return Config{Command: "/bin/sh", Args: []string{"-c", script}} }

// python is a port that runs a program that uses the sample's library.
func python(program string) Config {
	return Config{Command: "python3", Args: []string{"-c",
		"from actornode_port import Port, Atom\nimport os, sys, time\n" + program}, Grace: patience,
		Env: map[string]string{"PYTHONPATH": samples + ":" + os.Getenv("PYTHONPATH"), "PYTHONDONTWRITEBYTECODE": "1"}}
}

const samples = "../../deploy/samples/port"

func counter() Config {
	return Config{Command: "python3", Args: []string{samples + "/counter.py"}, Ready: patience, Grace: patience, Init: 0,
		Env: map[string]string{"PYTHONDONTWRITEBYTECODE": "1"}}
}

// start starts a port that w's handle is linked to.
func (w *portTest) start(cfg Config, o node.Options) node.PID {
	w.Helper()
	o.Link = true
	pid, err := Start(ctx, w.self, cfg, o)
	require.NoError(w, err, w.log)
	return pid
}

// monitored starts a port that w's handle monitors.
func (w *portTest) monitored(cfg Config) node.PID {
	w.Helper()
	pid, _, err := node.SpawnWaitMonitor(ctx, w.self, node.Options{}, New(cfg))
	require.NoError(w, err, w.log)
	return pid
}

// reason waits for the exit of pid, and returns why it was.
func (w *portTest) reason(pid node.PID) any {
	w.Helper()
	m, err := w.self.ReceiveWithin(patience, func(m any) bool {
		switch m := m.(type) {
		case node.Exited:
			return m.From == pid
		case node.Down:
			return m.PID == pid
		}
		return false
	})
	require.NoError(w, err, "%v does not exit\n%v", pid, w.log)
	switch m := m.(type) {
	case node.Exited:
		return m.Reason
	case node.Down:
		return m.Reason
	}
	return nil
}

// receive takes the next message.
func (w *portTest) receive() any {
	w.Helper()
	m, err := w.self.ReceiveWithin(patience, nil)
	require.NoError(w, err, w.log)
	return m
}

// call calls a port and returns the reply in Erlang's syntax.
func (w *portTest) call(pid node.PID, term string) string {
	w.Helper()
	t, err := wire.Parse(term)
	require.NoError(w, err)
	v, err := nodetest.CallWithin[any](patience, w.n, pid, t)
	if err != nil {
		return "error: " + wire.Format(nodehook.ErrorTerm(err))
	}
	return wire.Format(v)
}

func (w *portTest) info(pid node.PID) Info {
	w.Helper()
	i, err := Inspect(ctx, w.n, pid)
	require.NoError(w, err)
	return i
}

// eventually polls for something that a program does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); {
		require.True(t, time.Now().Before(end), "not within %v: %s", patience, what)
		pause()
	}
}

// pause lets programs run.
func pause() { <-time.After(5 * time.Millisecond) }

// gone reports whether there is no process of that number.
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func format(t any) string { return wire.Format(t) }
