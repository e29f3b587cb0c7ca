package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// pipes is a network within the program, without buffers: what a client does not read, the server cannot write.
type pipes struct{ now atomic.Pointer[listener] }

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) listen(string, string) (net.Listener, error) {
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	p.now.Store(l)
	return l, nil
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	l := p.now.Load()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// server is a node with its chat.
type server struct {
	*chat
	t    *testing.T
	node *node.Node
	top  node.PID
	http *http.Client
}

// serve starts the chat on a node.
func serve(t *testing.T, n *node.Node, set func(*settings)) *server {
	c, err := newChat()
	require.NoError(t, err)
	c.Pace = 0
	if set != nil {
		set(&c.settings)
	}
	require.NoError(t, c.Check())
	network := new(pipes)
	c.listen = network.listen
	top, err := supervisor.Start(t.Context(), n, c.spec(), node.Options{})
	require.NoError(t, err)
	transport := &http.Transport{DialContext: network.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &server{c, t, n, top, &http.Client{Transport: transport}}
}

// three starts three nodes that connect to each other, and again after a failure.
func three(t *testing.T) (*nodetest.Cluster, []*server) {
	cluster := nodetest.NewCluster(t)
	var all []*server
	for _, name := range []node.Atom{"a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1"} {
		n := cluster.Start(node.Config{Name: name, Distribution: &node.Distribution{Mesh: &discovery.Mesh{}}})
		all = append(all, serve(t, n, nil))
	}
	return cluster, all
}

// person is a WebSocket client.
type person struct {
	*websocket.Conn
	t *testing.T
}

func (s *server) dial(room, name, origin string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	return websocket.Dial(s.t.Context(), "ws://chat/room/"+url.PathEscape(room)+"?name="+url.QueryEscape(name),
		&websocket.DialOptions{HTTPClient: s.http, HTTPHeader: header})
}

// enter connects a person to a room.
func (s *server) enter(room, name string) *person {
	conn, _, err := s.dial(room, name, "http://chat")
	require.NoError(s.t, err)
	s.t.Cleanup(func() { conn.CloseNow() })
	return &person{conn, s.t}
}

func (s *server) get(path string) (*http.Response, string) {
	r, err := s.http.Get("http://chat" + path)
	require.NoError(s.t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	return r, string(text)
}

func (p *person) say(text string) {
	require.NoError(p.t, p.Write(p.t.Context(), websocket.MessageText, []byte(text)))
}

func (p *person) next() (e Event) {
	_, text, err := p.Read(p.t.Context())
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(text, &e))
	return e
}

// sees reads until the list of those in the room is this one, and returns what was said until then.
func (p *person) sees(names ...string) (said []Event) {
	for {
		e := p.next()
		if e.From != "" {
			said = append(said, e)
		}
		if equal(e.Who, names) {
			return said
		}
	}
}

func equal(a, b []string) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// hears reads until something is said.
func (p *person) hears(from, text string) {
	for {
		if e := p.next(); e.From != "" {
			require.Equal(p.t, Event{From: from, Text: text}, e)
			return
		}
	}
}

// closed reads until the connection ends, and returns the code, or -1 if there is none.
func (p *person) closed() websocket.StatusCode {
	for {
		if _, _, err := p.Read(p.t.Context()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}
