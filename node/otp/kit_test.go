package otp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

// limit bounds every wait for what another process is to do.
const limit = 60 * time.Second

// transcript is an output that others may read meanwhile.
type transcript struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *transcript) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// take returns what has been written, and forgets it.
func (l *transcript) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// erl is a running Erlang node that evaluates what it is told.
type erl struct {
	t     *testing.T
	in    io.Writer
	lines chan string   // answers
	gone  chan struct{} // closed when it has ended
	log   transcript    // what else it prints
}

// compiled holds testdata/tools.erl, and OTP's observer as far as it has no windows.
var compiled = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "otp"); err != nil {
		return dir, err
	}
	out, err := exec.Command("erlc", "-o", dir, "testdata/tools.erl").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("erlc: %w: %s", err, out)
	}
	return dir, err
})

// observed adds observer's own modules to compiled; false: their source is not
// here. They are compiled anew for their inner functions.
var observed = sync.OnceValue(func() bool {
	dir, err := compiled()
	src, _ := filepath.Glob("/usr/lib/erlang/lib/observer-*/src")
	backend, _ := filepath.Glob("/usr/lib/erlang/lib/runtime_tools-*/ebin/observer_backend.beam")
	if err != nil || len(src) == 0 || len(backend) == 0 {
		return false
	}
	args := []string{"+export_all", "+nowarn_export_all", "-I", src[0], "-I", filepath.Join(src[0], "../include"), "-o", dir}
	for _, m := range []string{"lib", "wx", "sys_wx", "procinfo", "alloc_wx", "perf_wx", "port_wx", "sock_wx", "html_lib"} {
		args = append(args, filepath.Join(src[0], "observer_"+m+".erl"))
	}
	args = append(args, filepath.Join(src[0], "etop.erl"), filepath.Join(src[0], "etop_txt.erl"))
	return exec.Command("erlc", args...).Run() == nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := compiled(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func needErl(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Erlang is started")
	}
	for _, tool := range []string{"erl", "erlc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on the PATH: nothing is compared with OTP", tool)
		}
	}
}

// startErl starts the node e@127.0.0.1.
func startErl(t *testing.T, epmdPort int, args ...string) *erl {
	t.Helper()
	dir, err := compiled()
	require.NoError(t, err)
	e := &erl{t: t, lines: make(chan string, 16), gone: make(chan struct{})}
	cmd := exec.Command("erl", append([]string{"+S", "2:2", "+pc", "unicode", "-noshell", "-start_epmd", "false", "-setcookie", "secret",
		"-name", "e@127.0.0.1", "-pa", dir, "-s", "tools", "main"}, args...)...)
	cmd.Env = []string{"ERL_EPMD_PORT=" + strconv.Itoa(epmdPort), "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "ERL_CRASH_DUMP=/dev/null"}
	cmd.Dir = t.TempDir()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	e.in = stdin
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	go func() { // ended by erl's end
		defer close(e.gone)
		s := bufio.NewScanner(stdout)
		for s.Buffer(nil, 1<<20); s.Scan(); {
			if answer, ok := strings.CutPrefix(s.Text(), "=> "); ok {
				e.lines <- answer
				continue
			}
			fmt.Fprintln(&e.log, s.Text())
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		for over := false; !over; {
			select {
			case <-e.lines:
			case <-e.gone:
				over = true
			}
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("erl said:\n%s", e.log.take())
		}
	})
	require.Equal(t, "ready", e.answer())
	return e
}

func (e *erl) answer() string {
	e.t.Helper()
	select {
	case l := <-e.lines:
		return l
	case <-e.gone:
		require.Fail(e.t, "erl has ended", "%s", e.log.take())
	case <-time.After(limit):
		require.Fail(e.t, "erl is silent", "%s", e.log.take())
	}
	return ""
}

// ask has an expression evaluated.
func (e *erl) ask(format string, args ...any) string {
	e.t.Helper()
	_, err := fmt.Fprintf(e.in, format+".\n", args...)
	require.NoError(e.t, err)
	return e.answer()
}

// pair is a node of Go with the tools, what its process user has written, and an
// Erlang node that is connected to it.
func pair(t *testing.T) (n *node.Node, out *transcript, e *erl) {
	t.Helper()
	needErl(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	cfg := epmd.Config{Port: port, Logger: slog.New(slog.DiscardHandler)}
	s, err := epmd.NewServer(cfg)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { // ended by Stop
		defer close(done)
		_ = s.Serve(context.Background(), l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
	n, err = node.Start(node.Config{Name: "go@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Finder: &node.EPMD{Config: cfg}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	out = &transcript{}
	require.NoError(t, otp.Config{Output: out}.Export(n))
	e = startErl(t, port)
	require.Equal(t, "pong", e.ask("net_adm:ping('go@127.0.0.1')"))
	return n, out, e
}

// alone is a node of Go that talks to nobody.
func alone(t *testing.T, c otp.Config) *node.Node {
	t.Helper()
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	require.NoError(t, c.Export(n))
	return n
}

// server is a gen_server.
type server struct{ total int }

var servers = genserver.Define(genserver.OnRequest(func(s *server, _ *genserver.Context, term any) (any, error) { return term, nil }))

// apply calls an exported function as another node would.
func apply(t *testing.T, n *node.Node, m, f string, args ...any) string {
	t.Helper()
	v, err := n.Apply(t.Context(), wire.Atom(m), wire.Atom(f), args)
	if err != nil {
		return "! " + wire.Format(node.ErrorTerm(err))
	}
	return wire.Format(v)
}

func spawn(t *testing.T, n *node.Node, o node.Options, b node.Actor) wire.PID {
	t.Helper()
	pid, err := n.SpawnOpt(o, b)
	require.NoError(t, err)
	return pid
}

// idle is a process that wants no message but stop.
func idle(p *node.Self) error {
	p.ReceiveMatch(func(m any) bool { return m == wire.Atom("stop") })
	return nil
}

// documentation is the text of doc.go.
func documentation(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	return string(b)
}
