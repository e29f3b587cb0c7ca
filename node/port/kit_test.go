//go:build unix

package port

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

var ctx = context.Background()

// portTest is a node, with a handle on it and its log.
type portTest struct {
	*testing.T
	n    *node.Node
	self *node.Process
	log  *logtest.Text
}

func newPortTest(t *testing.T) *portTest { return newPortTestWith(t, node.Config{}) }

func newPortTestWith(t *testing.T, cfg node.Config) *portTest {
	w := &portTest{T: t, log: &logtest.Text{}}
	h := slog.NewTextHandler(w.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	before := openFiles(t)
	cfg.Log, cfg.StopTimeout = slog.New(h), testkit.Limit
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
		testkit.UntilTrue(t, func() bool { return openFiles(t) <= before }, "all files closed")
		if t.Failed() {
			t.Log(w.log)
		}
	})
	return w
}

// openFiles counts the open descriptors of this process.
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
		if err == nil { // otherwise the thread is gone
			require.Empty(t, strings.TrimSpace(string(b)), "children have been left")
		}
	}
}

// python is a port that runs a program that uses the sample's library.
func python(program string) Config {
	return Config{Command: "python3", Args: []string{"-c",
		"from actornode_port import Port, Atom\nimport os, sys, time\n" + program}, Grace: testkit.Limit,
		Env: map[string]string{"PYTHONPATH": samples + ":" + os.Getenv("PYTHONPATH"), "PYTHONDONTWRITEBYTECODE": "1"}}
}

const samples = "../../deploy/samples/port"

func counter(t *testing.T) Config {
	cfg := runs(t, "counter")
	cfg.Ready, cfg.Init = testkit.Limit, 0
	return cfg
}

func pythonCounter(*testing.T) Config {
	return Config{Command: "python3", Args: []string{samples + "/counter.py"}, Ready: testkit.Limit, Grace: testkit.Limit, Init: 0,
		Env: map[string]string{"PYTHONDONTWRITEBYTECODE": "1"}}
}

// language is the language of the programs of a test. Each language has the same programs.
type language struct {
	counter, plain, answerZero func(t *testing.T) Config
	everything                 func(t *testing.T, last ...string) Config
}

// inEach runs a test with programs in Go, by this package's own codec, and in make merge
// with those in Python, by the sample's library.
func inEach(t *testing.T, test func(t *testing.T, l language)) {
	t.Run("go", func(t *testing.T) {
		test(t, language{
			counter:    counter,
			plain:      func(t *testing.T) Config { return runs(t, "plain") },
			answerZero: func(t *testing.T) Config { return runs(t, "answer 0 only") },
			everything: func(t *testing.T, last ...string) Config { return runs(t, "everything", last...) },
		})
	})
	t.Run("python", func(t *testing.T) {
		testkit.Program(t, testkit.Merge, "python3")
		test(t, language{
			counter: pythonCounter,
			plain: func(*testing.T) Config {
				return python(`
port = Port()
assert isinstance(port.node, bytes) and isinstance(port.me, dict), (port.node, port.me)
@port.on_call
def call(body, caller):
    if body == b"me": return port.me
    if body == b"ok": return {"$tuple": [{"$atom": "ok"}, "text"]}
    return body
port.run()
`)
			},
			answerZero: func(*testing.T) Config {
				return python("port = Port()\n@port.on_call\ndef call(b, c): return Port.LATER if b else 7\nport.run()")
			},
			everything: func(_ *testing.T, last ...string) Config {
				p := everything
				for _, l := range last {
					p += fmt.Sprintf("port.send('sink', %q)\n", l)
				}
				return python(p)
			},
		})
	})
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
	pid, err := node.SpawnWait(ctx, w.self, node.Options{Monitor: new(node.Ref)}, New(cfg))
	require.NoError(w, err, w.log)
	return pid
}

// reason waits for the exit of pid, and returns its reason.
func (w *portTest) reason(pid node.PID) any {
	w.Helper()
	m, err := w.self.ReceiveWithin(testkit.Limit, func(m any) bool {
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
	m, err := w.self.ReceiveWithin(testkit.Limit, nil)
	require.NoError(w, err, w.log)
	return m
}

// call calls a port and returns the reply in Erlang's syntax.
func (w *portTest) call(pid node.PID, term string) string {
	w.Helper()
	t, err := wire.Parse(term)
	require.NoError(w, err)
	v, err := actortest.CallWithin[any](testkit.Limit, w.n, pid, t)
	if err != nil {
		return "error: " + wire.Format(values.ErrorTerm(err))
	}
	return wire.Format(v)
}

func (w *portTest) info(pid node.PID) Info {
	w.Helper()
	i, err := Inspect(ctx, w.n, pid)
	require.NoError(w, err)
	return i
}

// gate is where a program reports that it has started, and where it can be kept waiting.
type gate struct {
	t  *testing.T
	ln *net.TCPListener
}

func newGate(t *testing.T) *gate {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	require.NoError(t, ln.SetDeadline(time.Now().Add(testkit.Limit)))
	return &gate{t, ln}
}

// addr returns the address that a program dials.
func (g *gate) addr() string { return g.ln.Addr().String() }

// accept waits for a program and returns its process number. The connection ends with the program; a program that waits
// at the gate goes on when the connection is closed.
func (g *gate) accept() (pid int, c net.Conn) {
	g.t.Helper()
	c, err := g.ln.Accept()
	require.NoError(g.t, err)
	g.t.Cleanup(func() { c.Close() })
	_, err = fmt.Fscanln(c, &pid)
	require.NoError(g.t, err)
	return pid, c
}

// gone reports whether there is no process with that number.
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func format(t any) string { return wire.Format(t) }
