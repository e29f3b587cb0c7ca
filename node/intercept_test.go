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

// sender is what all who send have.
type sender interface {
	node.Caller
	Send(to node.Dest, msg any) error
	SendBytes(to node.Dest, b []byte) error
	SendOpt(o node.SendOptions, to node.Dest, msg any) error
	SendAfter(d time.Duration, to node.Dest, msg any) (*node.Timer, error)
	SendInterval(d time.Duration, to node.Dest, msg any) (*node.Timer, error)
}

// waysToSend send a message, and return the error that its sender gets.
var waysToSend = map[string]func(ctx context.Context, s sender, to node.Dest, msg string) error{
	"send":  func(_ context.Context, s sender, to node.Dest, msg string) error { return s.Send(to, msg) },
	"Send":  func(_ context.Context, s sender, to node.Dest, msg string) error { return node.Send(s, to, msg) },
	"bytes": func(_ context.Context, s sender, to node.Dest, msg string) error { return s.SendBytes(to, []byte(msg)) },
	"deliver": func(ctx context.Context, s sender, to node.Dest, msg string) error {
		return node.Deliver(ctx, s, to, msg)
	},
	"noWait": func(_ context.Context, s sender, to node.Dest, msg string) error {
		return s.SendOpt(node.SendOptions{NoWait: true}, to, msg)
	},
	"noConnect": func(_ context.Context, s sender, to node.Dest, msg string) error {
		return s.SendOpt(node.SendOptions{NoConnect: true}, to, msg)
	},
	"copy": func(_ context.Context, s sender, to node.Dest, msg string) error {
		return s.SendOpt(node.SendOptions{Copy: true}, to, msg)
	},
	"after": func(_ context.Context, s sender, to node.Dest, msg string) error {
		_, err := s.SendAfter(time.Second, to, msg)
		return err
	},
	"interval": func(_ context.Context, s sender, to node.Dest, msg string) error {
		t, err := s.SendInterval(time.Second, to, msg)
		if err == nil {
			time.Sleep(1500 * time.Millisecond)
			t.Cancel()
		}
		return err
	},
	"call": func(ctx context.Context, s sender, to node.Dest, msg string) error {
		_, err := node.Call[string](ctx, s, to, msg)
		return err
	},
	"async": func(ctx context.Context, s sender, to node.Dest, msg string) error {
		_, err := node.Await(ctx, s, node.Async[string](s, to, msg))
		return err
	},
}

// What the interceptors of a node and of a process refuse is not sent: by any sender, in any way, near and far. Each sees each
// message once, the node's first.
func TestInterceptSends(t *testing.T) {
	for _, kind := range []string{"node", "handle", "actor", "detached", "process", "coroutine"} {
		t.Run(kind, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { interceptSends(t, kind) }) })
	}
}

func interceptSends(t *testing.T, kind string) {
	errDenied := errors.New("denied")
	sent, got := new(lines), new(lines)
	see := func(name string) node.SendInterceptor {
		return func(s node.Sending) error {
			msg, call := fmt.Sprintf("%s", s.Msg), ""
			if s.Call {
				call = " call"
			}
			sent.add("%s%s %s", name, call, msg)
			if msg == "no to "+name {
				return errDenied
			}
			return nil
		}
	}
	c := nodetest.NewCluster(t)
	a := c.Start(node.Config{Name: "a", SendInterceptors: []node.SendInterceptor{see("node")}})
	b := c.Start(node.Config{Name: "b"})
	c.Connect(a, b)
	sent.take() // of pings
	receiver := node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			got.add("%s", r.Body)
			return r.Reply(r.Body)
		}
		got.add("%s", msg)
		return nil
	})
	dests := map[string]node.Dest{}
	for _, n := range []*node.Node{a, b} {
		pid, err := n.SpawnOpt(node.Options{Name: "receiver"}, receiver)
		require.NoError(t, err)
		dests[string(n.Name())+" pid"] = pid
		dests[string(n.Name())+" name"] = node.At{Name: "receiver", Node: n.Name()}
	}
	try := func(t *testing.T, s sender, own bool) {
		for way, send := range waysToSend {
			for on, to := range dests {
				for _, msg := range []string{"yes", "no to node", "no to process"} {
					err := send(t.Context(), s, to, msg)
					time.Sleep(2 * time.Second) // a timer may send
					call, want, arrived := "", []string(nil), []string(nil)
					if way == "call" || way == "async" {
						call = " call"
					}
					want = append(want, "node"+call+" "+msg)
					if own && msg != "no to node" {
						want = append(want, "process"+call+" "+msg)
					}
					if msg == "no to node" || own && msg == "no to process" {
						require.ErrorIs(t, err, errDenied, "%s to %s", way, on)
					} else {
						require.NoError(t, err, "%s to %s", way, on)
						arrived = []string{msg}
					}
					require.Equal(t, want, sent.take(), "%s to %s", way, on)
					require.Equal(t, arrived, got.take(), "%s to %s", way, on)
				}
			}
		}
	}
	o := node.Options{SendInterceptors: []node.SendInterceptor{see("process")}, Coroutine: kind == "coroutine"}
	switch kind {
	case "node":
		try(t, a, false)
		return
	case "handle":
		p, err := a.Open()
		require.NoError(t, err)
		defer p.Close(node.Normal)
		try(t, p, false)
		return
	case "detached":
		o.Place = node.Detached()
	}
	var code node.Actor = node.ProcessFunc(func(p *node.Process) error {
		p.Receive()
		try(t, p, true)
		return nil
	})
	if kind == "actor" || kind == "detached" {
		code = node.ActorFunc(func(c *node.Context, _ any) error {
			try(t, c, true)
			return node.ExitWith(node.Normal)
		})
	}
	pid, err := a.SpawnOpt(o, code)
	require.NoError(t, err)
	require.NoError(t, b.Send(pid, "go"))
	reason, err := node.AwaitExit(t.Context(), b, pid)
	require.NoError(t, err)
	require.Equal(t, node.Normal, reason)
}

// A request that is forwarded goes through the interceptors of the forwarder. A process with an empty list of them sends.
func TestInterceptForward(t *testing.T) {
	errDenied := errors.New("denied")
	synctest.Test(t, func(t *testing.T) {
		s := new(lines)
		n := nodetest.Start(t, node.Config{})
		worker, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			return msg.(node.Request[string]).Reply("done")
		}))
		require.NoError(t, err)
		front, err := n.SpawnOpt(node.Options{SendInterceptors: []node.SendInterceptor{func(o node.Sending) error {
			s.add("%v %v %v", o.To == worker, o.Msg, o.Call)
			if o.Msg == "no" {
				return errDenied
			}
			return nil
		}}}, node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[string])
			if err := node.Forward(c, r, worker); err != nil {
				return r.Fail(err)
			}
			return nil
		}))
		require.NoError(t, err)
		v, err := node.Call[string](t.Context(), n, front, "yes")
		require.NoError(t, err)
		require.Equal(t, "done", v)
		_, err = node.Call[string](t.Context(), n, front, "no")
		require.ErrorIs(t, err, errDenied)
		require.Equal(t, []string{"true yes true", "true no true"}, s.take())
		_, err = n.SpawnOpt(node.Options{SendInterceptors: []node.SendInterceptor{}}, node.ActorFunc(
			func(c *node.Context, msg any) error { return c.Send(worker, msg) }))
		require.NoError(t, err)
	})
}

func mustFind(t *testing.T, n *node.Node, name node.Atom) node.PID {
	pid, ok := n.Whereis(name)
	require.True(t, ok)
	return pid
}
