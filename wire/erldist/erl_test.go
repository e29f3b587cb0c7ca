package erldist

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// erl is a running Erlang node with testdata/farend.erl.
type erl struct {
	*erltest.Node
	t      *testing.T
	name   wire.Atom
	client *epmdclient.Client
}

// startErl starts a node of its own with a port mapper of its own, or skips.
func startErl(t *testing.T, args ...string) *erl {
	t.Helper()
	return startErlAs(t, "e@127.0.0.1", args...)
}

func startErlAs(t *testing.T, name string, args ...string) *erl {
	t.Helper()
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	client, err := epmdclient.NewClient(cfg)
	require.NoError(t, err)
	n := erltest.Start(t, erltest.Options{
		Name: name, EPMD: cfg.Port, Sources: []string{"testdata/farend.erl"},
		Args: append([]string{"+S", "2:2", "-kernel", "net_setuptime", fmt.Sprint(testkit.Limit.Seconds())}, args...),
	})
	require.Equal(t, "true", n.Ask("farend:start()"))
	return &erl{n, t, "e@127.0.0.1", client}
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

// self is the node that the tests play.
var self = wire.NodeID{Name: "go@127.0.0.1", Creation: 4711}

func knows(cookie string) func(wire.Atom) (string, string) {
	return func(wire.Atom) (string, string) { return cookie, cookie }
}

// handshake allows as long as the tests wait for anything, on both sides, so the machine's speed does not matter.
func (e *erl) handshake() dist.Handshake {
	return dist.Handshake{Local: self, Hidden: true, Peer: e.name, Cookies: knows("secret"),
		Limits: dist.LinkLimits{Timeout: testkit.Limit}}
}

// dial connects to the node, as a hidden node.
func (e *erl) dial(p *Protocol) *side {
	e.t.Helper()
	l, err := p.Dial(e.t.Context(), e.conn(), e.handshake())
	require.NoError(e.t, err)
	return newSide(e.t, l)
}

// listen registers self and returns the listener that accepts erl's connections.
func (e *erl) listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(e.t, err)
	e.t.Cleanup(func() { _ = l.Close() })
	a, err := e.client.Register(e.t.Context(), epmdclient.Registration{Name: "go", Port: uint16(l.Addr().(*net.TCPAddr).Port)})
	require.NoError(e.t, err)
	e.t.Cleanup(a.Stop)
	return l
}

// side is a link with one goroutine that reads it.
type side struct {
	t      *testing.T
	link   dist.Link
	origin wire.Origin
	frames chan dist.Frame
	err    error // why frames was closed
}

func newSide(t *testing.T, l dist.Link) *side {
	s := &side{t: t, link: l, origin: wire.NewOrigin(self), frames: make(chan dist.Frame, 1<<18)}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ended by Close
		defer close(s.frames)
		for {
			var f dist.Frame
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
func (s *side) next() dist.Frame {
	s.t.Helper()
	select {
	case f, ok := <-s.frames:
		if !ok {
			require.Fail(s.t, "the link has ended", "%v", s.err)
		}
		return f
	case <-time.After(testkit.Limit):
		require.Fail(s.t, "no signal comes")
	}
	return dist.Frame{}
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
		case <-time.After(testkit.Limit):
			require.Fail(s.t, "the link goes on")
		}
	}
}

func (s *side) send(f dist.Frame) {
	s.t.Helper()
	s.put(f)
	s.flush()
}

func (s *side) put(f dist.Frame) (buffered int) {
	s.t.Helper()
	for {
		n, err := s.link.Write(&f)
		if !errors.Is(err, dist.ErrLater) {
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
	s.send(dist.Frame{Op: dist.OpSend, From: s.pid(1), Name: name, Payload: payload})
}
