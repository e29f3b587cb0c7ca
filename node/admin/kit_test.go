package admin_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/admin"
)

// limit bounds every wait of a test for something that must happen.
const limit = 30 * time.Second

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// places is a node.Finder: the nodes of one test.
type places struct {
	mu sync.Mutex
	m  map[node.Atom][]node.Endpoint
}

func newPlaces() *places { return &places{m: make(map[node.Atom][]node.Endpoint)} }

func (p *places) Find(_ context.Context, name node.Atom) ([]node.Endpoint, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.m[name]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("no node %s", name)
}

func (p *places) Announce(_ context.Context, me node.Announcement) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.m[me.Name] = me.Endpoints
	return func() {}, nil
}

func startNode(t testing.TB, f node.Finder, name string) *node.Node {
	t.Helper()
	c := node.Config{Name: node.Atom(name + "@127.0.0.1")}
	if f != nil {
		c.Distribution = &node.Distribution{Cookie: "secret", Finder: f}
	}
	n, err := node.Start(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, n.Stop()) })
	return n
}

// two starts a node with a service and another, which asks.
func two(t testing.TB, c admin.Config) (far, near *node.Node) {
	t.Helper()
	f := newPlaces()
	far, near = startNode(t, f, "far"), startNode(t, f, "near")
	require.NoError(t, admin.Start(bounded(t), far, c))
	return far, near
}

// echo answers calls with what they ask.
func echo(c *node.Context, msg any) error {
	if r, ok := c.Node().AsRequest(msg); ok {
		if r.Body == node.Atom("die") {
			return node.ExitWith(node.Atom("oops"))
		}
		c.Reply(r.From, r.Body)
	}
	return nil
}

func spawn(t testing.TB, n *node.Node, name node.Atom, b node.Actor) node.PID {
	t.Helper()
	pid, err := n.SpawnOpt(node.Options{Name: name}, b)
	require.NoError(t, err)
	return pid
}

// next takes the next event of a stream.
func next[T any](t testing.TB, s *admin.Stream[T]) T {
	t.Helper()
	select {
	case e, ok := <-s.C:
		require.True(t, ok, "the stream has ended: %v %v", s.Why(), s.Err())
		return e
	case <-time.After(limit):
		require.Fail(t, "no event")
		panic("unreachable")
	}
}

// drained reads a stream to its end.
func drained[T any](t testing.TB, s *admin.Stream[T]) (all []T) {
	t.Helper()
	for timeout := time.After(limit); ; {
		select {
		case e, ok := <-s.C:
			if !ok {
				return all
			}
			all = append(all, e)
		case <-timeout:
			require.Fail(t, "the stream does not end")
		}
	}
}

// settles waits for what other processes are about to do.
func settles(t testing.TB, what func() bool) {
	t.Helper()
	require.Eventually(t, what, limit, 5*time.Millisecond)
}
