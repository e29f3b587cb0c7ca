package erldist

import (
	"bufio"
	"context"
	"errors"
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

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

// patience is how long the tests wait for what another process is to do.
const patience = 60 * time.Second

// erl is a running Erlang node that evaluates what it is told.
type erl struct {
	t      *testing.T
	name   wire.Atom
	client *epmd.Client
	in     io.Writer
	lines  chan string   // answers
	gone   chan struct{} // closed when it has ended

	mu  sync.Mutex
	log []string // what else it prints
}

// portMapper serves on a free port for as long as the test goes.
func portMapper(t *testing.T) (port int, client *epmd.Client) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = l.Addr().(*net.TCPAddr).Port
	cfg := epmd.Config{Port: port, Logger: slog.New(slog.DiscardHandler)}
	s, err := epmd.NewServer(cfg)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { // ended by Stop
		defer close(done)
		_ = s.Serve(context.Background(), l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
	client, err = epmd.NewClient(cfg)
	require.NoError(t, err)
	return port, client
}

var compiled = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "erldist"); err != nil {
		return dir, err
	}
	out, err := exec.Command("erlc", "-o", dir, "testdata/farend.erl").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("erlc: %w: %s", err, out)
	}
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := compiled(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// startErl starts a node of its own with a port mapper of its own, or skips.
func startErl(t *testing.T, args ...string) *erl {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Erlang is started")
	}
	path, err := exec.LookPath("erl")
	if err != nil {
		t.Skip("no erl on PATH to talk to")
	}
	if _, err := exec.LookPath("erlc"); err != nil {
		t.Skip("no erlc on PATH")
	}
	dir, err := compiled()
	require.NoError(t, err)
	port, client := portMapper(t)
	e := &erl{t: t, name: "e@127.0.0.1", client: client, lines: make(chan string, 16), gone: make(chan struct{})}
	if len(args) == 0 || args[0] != "-sname" && args[0] != "-name" {
		args = append([]string{"-name", string(e.name)}, args...)
	}
	all := append([]string{"+S", "2:2", "-noshell", "-pa", dir, "-setcookie", "secret", "-kernel", "inet_dist_use_interface", "{127,0,0,1}",
		"-s", "farend", "main"}, args...)
	cmd := exec.Command(path, all...)
	cmd.Env = []string{"ERL_EPMD_PORT=" + strconv.Itoa(port), "ERL_EPMD_ADDRESS=127.0.0.1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
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
		for s := bufio.NewScanner(stdout); s.Scan(); {
			if answer, ok := strings.CutPrefix(s.Text(), "=> "); ok {
				e.lines <- answer
				continue
			}
			e.mu.Lock()
			e.log = append(e.log, s.Text())
			e.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		for len(e.lines) > 0 {
			<-e.lines
		}
		<-e.gone
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("erl said:\n%s", e.said())
		}
	})
	require.Equal(t, "ready", e.answer())
	return e
}

func (e *erl) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.log, "\n")
}

func (e *erl) answer() string {
	e.t.Helper()
	select {
	case l := <-e.lines:
		return l
	case <-e.gone:
		require.Fail(e.t, "erl has ended", "%s", e.said())
	case <-time.After(patience):
		require.Fail(e.t, "erl is silent", "%s", e.said())
	}
	return ""
}

// tell has expr evaluated; ask waits for its value.
func (e *erl) tell(expr string) {
	_, err := fmt.Fprintf(e.in, "%s.\n", expr)
	require.NoError(e.t, err)
}

func (e *erl) ask(expr string) string {
	e.t.Helper()
	e.tell(expr)
	return e.answer()
}

// says waits for a text in what the node logs.
func (e *erl) says(text string) {
	e.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if strings.Contains(e.said(), text) {
			return
		}
		require.True(e.t, time.Now().Before(deadline), "erl does not say %q", text)
	}
}

// conn opens a connection to the node.
func (e *erl) conn() net.Conn {
	name, _, _ := strings.Cut(string(e.name), "@")
	r, err := e.client.Lookup(e.t.Context(), "127.0.0.1", name)
	require.NoError(e.t, err)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(r.Port))))
	require.NoError(e.t, err)
	return c
}

// self is the node that the tests are.
var self = wire.NodeID{Name: "go@127.0.0.1", Creation: 4711}

func knows(cookie string) func(wire.Atom) (string, string) {
	return func(wire.Atom) (string, string) { return cookie, cookie }
}

func (e *erl) handshake() wire.Handshake {
	return wire.Handshake{Local: self, Hidden: true, Peer: e.name, Cookies: knows("secret")}
}

// dial connects to the node, as a hidden node.
func (e *erl) dial(p *Protocol) *side {
	e.t.Helper()
	l, err := p.Dial(e.t.Context(), e.conn(), e.handshake())
	require.NoError(e.t, err)
	return newSide(e.t, l)
}

// listen registers self and returns what erl's connections are accepted by.
func (e *erl) listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(e.t, err)
	e.t.Cleanup(func() { _ = l.Close() })
	a, err := e.client.Register(e.t.Context(), epmd.Registration{Name: "go", Port: uint16(l.Addr().(*net.TCPAddr).Port)})
	require.NoError(e.t, err)
	e.t.Cleanup(a.Stop)
	return l
}

// side is a link with one goroutine that reads it.
type side struct {
	t      *testing.T
	link   wire.Link
	origin wire.Origin
	frames chan wire.Frame
	err    error // why frames is closed
}

func newSide(t *testing.T, l wire.Link) *side {
	s := &side{t: t, link: l, origin: wire.NewOrigin(self), frames: make(chan wire.Frame, 1<<18)}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ended by Close
		defer close(s.frames)
		for {
			var f wire.Frame
			err := l.Read(&f)
			if err != nil {
				s.err = err
				return
			}
			s.frames <- f
		}
	}()
	return s
}

// next returns the next signal.
func (s *side) next() wire.Frame {
	s.t.Helper()
	select {
	case f, ok := <-s.frames:
		if !ok {
			require.Fail(s.t, "the link has ended", "%v", s.err)
		}
		return f
	case <-time.After(patience):
		require.Fail(s.t, "no signal comes")
	}
	return wire.Frame{}
}

// ends waits for the link's end and returns why.
func (s *side) ends() error {
	s.t.Helper()
	for {
		select {
		case _, ok := <-s.frames:
			if !ok {
				return s.err
			}
		case <-time.After(patience):
			require.Fail(s.t, "the link goes on")
		}
	}
}

func (s *side) send(f wire.Frame) {
	s.t.Helper()
	s.put(f)
	s.flush()
}

func (s *side) put(f wire.Frame) (buffered int) {
	s.t.Helper()
	for {
		n, err := s.link.Write(&f)
		if !errors.Is(err, wire.ErrLater) {
			require.NoError(s.t, err)
			return n
		}
		s.flush()
	}
}

func (s *side) flush() {
	s.t.Helper()
	for {
		left, err := s.link.Flush(false)
		require.NoError(s.t, err)
		if left == 0 {
			return
		}
	}
}

func (s *side) pid(n uint64) wire.PID { return s.origin.PID(n) }

// to sends a message from our process 1 to a registered one.
func (s *side) to(name wire.Atom, payload any) {
	s.t.Helper()
	s.send(wire.Frame{Op: wire.OpSend, From: s.pid(1), Name: name, Payload: payload})
}
