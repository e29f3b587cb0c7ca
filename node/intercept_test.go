package node_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// lines are what interceptors of a test write.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (s *lines) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, fmt.Sprintf(format, args...))
}

func (s *lines) take() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// around writes a line before and after each message.
func (s *lines) around(name string) node.Interceptor {
	return func(c *node.Context, msg any, next node.Handler) error {
		s.add("%s %v", name, msg)
		err := next(c, msg)
		s.add("%s: %v", name, err)
		return err
	}
}

// The first interceptor is the outermost, those of the node are outside, and what the Actor becomes keeps them.
func TestInterceptHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(lines)
		n := nodetest.Start(t, node.Config{Interceptors: []node.Interceptor{s.around("n1"), s.around("n2")}})
		odd := node.ActorFunc(func(c *node.Context, msg any) error { s.add("odd %v", msg); return nil })
		even := node.ActorFunc(func(c *node.Context, msg any) error {
			if msg == 1 {
				return node.ErrUnhandled
			}
			s.add("even %v", msg)
			c.Become(odd)
			return nil
		})
		pid, err := n.SpawnOpt(node.Options{Interceptors: []node.Interceptor{s.around("own")}}, even)
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, 1))
		require.Equal(t, []string{"n1 1", "n2 1", "own 1", "own: " + node.ErrUnhandled.Error(), "n2: " + node.ErrUnhandled.Error(),
			"n1: " + node.ErrUnhandled.Error()}, s.take())
		require.NoError(t, n.Send(pid, 2))
		require.Equal(t, []string{"n1 2", "n2 2", "own 2", "even 2", "own: <nil>", "n2: <nil>", "n1: <nil>",
			"n1 1", "n2 1", "own 1", "odd 1", "own: <nil>", "n2: <nil>", "n1: <nil>"}, s.take())
		i, err := n.Info(pid)
		require.NoError(t, err)
		require.Equal(t, "node.ActorFunc", i.Behaviour)
	})
}

// An interceptor answers a call itself, changes a message, ends the process, panics, or becomes something else.
func TestInterceptDecides(t *testing.T) {
	errDenied := errors.New("denied")
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
		start := func() node.PID {
			pid, err := n.SpawnOpt(node.Options{Interceptors: []node.Interceptor{
				func(c *node.Context, msg any, next node.Handler) error {
					r, ok := c.Node().AsRequest(msg)
					switch {
					case !ok:
						return next(c, msg)
					case r.Body == "secret":
						return r.Fail(errDenied)
					case r.Body == "other":
						return next(c, node.Request[string]{Body: "changed", From: r.From})
					case r.Body == "end":
						return errDenied
					case r.Body == "panic":
						panic("at the disco")
					case r.Body == "become":
						c.Become(node.ActorFunc(func(c *node.Context, msg any) error {
							return msg.(node.Request[string]).Reply("another")
						}))
					}
					return next(c, msg)
				}}}, node.ActorFunc(func(c *node.Context, msg any) error {
				return msg.(node.Request[string]).Reply(msg.(node.Request[string]).Body)
			}))
			require.NoError(t, err)
			return pid
		}
		ask := func(pid node.PID, what string) (string, error) { return node.Call[string](t.Context(), n, pid, what) }
		pid := start()
		_, err := ask(pid, "secret")
		require.ErrorIs(t, err, errDenied)
		for said, want := range map[string]string{"plain": "plain", "other": "changed"} {
			got, err := ask(pid, said)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		for _, says := range []string{"become", "secret"} {
			got, err := ask(pid, says)
			if says == "secret" {
				require.ErrorIs(t, err, errDenied, "the interceptor stays")
			} else {
				require.Equal(t, "another", got)
			}
		}
		_, err = ask(pid, "end")
		require.ErrorIs(t, err, errDenied)
		require.False(t, n.IsAlive(pid))
		_, err = ask(start(), "panic")
		require.ErrorContains(t, err, "at the disco")
	})
}

type adding struct{ n int }

var adders = genserver.Define(
	genserver.OnAnyCall(func(s *adding, c *genserver.Context, by int) (int, error) {
		if d, ok := c.From().Deadline(); ok && by < 0 {
			return int(time.Until(d).Seconds()), nil
		}
		s.n += by
		return s.n, nil
	}),
)

// Trees, servers and calls between nodes work under interceptors of the node; the deadline of a call is there.
func TestInterceptNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(lines)
		c := nodetest.NewCluster(t)
		a := c.Start(node.Config{Name: "a", Interceptors: []node.Interceptor{
			func(c *node.Context, msg any, next node.Handler) error {
				if r, ok := c.Node().AsRequest(msg); ok {
					d, _ := r.From.Deadline()
					s.add("%v %v", r.Body, time.Until(d).Round(time.Second))
				}
				return next(c, msg)
			}}})
		b := c.Start(node.Config{Name: "b"})
		c.Connect(a, b)
		_, err := supervisor.Start(t.Context(), a, supervisor.Spec{Intensity: 5, Children: []supervisor.Child{{ID: "counter",
			Options: node.Options{Name: "counter"}, Start: func(...any) (node.Actor, error) { return adders.New(&adding{}), nil },
		}}}, node.Options{})
		require.NoError(t, err)
		for _, from := range []*node.Node{a, b} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			v, err := node.Call[int](ctx, from, node.At{Name: "counter", Node: a.Name()}, 1)
			cancel()
			require.NoError(t, err)
			require.Positive(t, v)
		}
		pid, _ := a.Whereis("counter")
		a.Exit(pid, node.Kill)
		v, err := node.Retry(t.Context(), a, func() (int, error) { return node.Call[int](t.Context(), a, node.Atom("counter"), 5) })
		require.NoError(t, err)
		require.Equal(t, 5, v)
		require.Contains(t, s.take(), "1 1m0s")
		i, err := a.Info(node.PID(mustFind(t, a, "counter")))
		require.NoError(t, err)
		require.Contains(t, i.Behaviour, "adding")
	})
}

func mustFind(t *testing.T, n *node.Node, name node.Atom) node.PID {
	pid, ok := n.Whereis(name)
	require.True(t, ok)
	return pid
}
