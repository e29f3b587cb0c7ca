package lifetime_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/nodetest"
)

// acts makes the process to run f in a handler of a holder, and returns when f is done.
func acts(t testing.TB, n *node.Node, to node.PID, f func(c *node.Context)) {
	done := make(chan struct{})
	require.NoError(t, n.Send(to, do(func(c *node.Context) { defer close(done); f(c) })))
	testkit.Receive(t, done)
}

// A channel keeps its process until it is closed; its values arrive meanwhile, whoever has the output.
func TestChannelKeeps(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for name, once := range map[string]bool{"open": false, "once": true} {
		t.Run(name, func(t *testing.T) {
			got := make(chan int, 10)
			var in *channel.Input[int]
			b := &receiver{got: got, in: &in}
			o := own(t, n, b)
			pid := o.PID()
			outputs := make(chan channel.Output[int], 1)
			acts(t, n, pid, func(c *node.Context) {
				if in = channel.New[int](c); once {
					in.Close(c)
					in = channel.Once[int](c)
				}
				outputs <- in.Output()
			})
			out := <-outputs
			runtime.KeepAlive(o)
			o, b = nil, nil
			survives(t, n, pid, "it has a channel")
			require.NoError(t, out.Send(n, 5))
			require.Equal(t, 5, testkit.Receive(t, got))
			if !once {
				survives(t, n, pid, "it has a channel still")
				require.NoError(t, out.Send(n, 6))
				require.Equal(t, 6, testkit.Receive(t, got))
				acts(t, n, pid, func(c *node.Context) { require.True(t, in.Close(c)) })
			}
			require.Equal(t, lifetime.Collected, collect(t, n, pid))
			require.NoError(t, out.Send(n, 7), "a dead letter")
			require.Empty(t, got)
		})
	}
}

// receiver is a holder that has a channel.
type receiver struct {
	holder
	in  **channel.Input[int]
	got chan int
}

func (r *receiver) Receive(c *node.Context, msg any) error {
	if *r.in != nil {
		if v, ok := (*r.in).Of(msg); ok {
			r.got <- v
			return nil
		}
	}
	return r.holder.Receive(c, msg)
}

// A Match is an Actor like others. The timer of a timeout keeps it, and so does a message that no case fits.
func TestMatchKeeps(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	cases := func(more ...match.Case) *match.Match {
		return match.New(append(more,
			match.Do(func(c *node.Context, f do) error { f(c); return nil }),
			match.Reply(func(c *node.Context, _ me) (*lifetime.Owner, error) { return lifetime.Self(c), nil }))...)
	}
	o := own(t, n, cases())
	pid := o.PID()
	i, err := n.Info(pid)
	require.NoError(t, err)
	require.NotContains(t, i.Behaviour, "lifetime")
	self, err := lifetime.Call[*lifetime.Owner](testkit.Context(t), n, o, me{})
	require.NoError(t, err)
	require.Same(t, o, self)
	o, self = nil, nil
	require.Equal(t, lifetime.Collected, collect(t, n, pid))

	o = own(t, n, cases())
	pid = o.PID()
	require.NoError(t, n.Send(pid, "no case fits"))
	runtime.KeepAlive(o)
	o = nil
	survives(t, n, pid, "a message waits")
	require.NoError(t, n.Send(pid, do(func(c *node.Context) {
		c.Become(cases(match.On(func(string) {})))
	})))
	require.Equal(t, lifetime.Collected, collect(t, n, pid))

	o = own(t, n, cases(match.After(time.Hour, func() {})))
	pid = o.PID()
	acts(t, n, pid, func(*node.Context) {})
	runtime.KeepAlive(o)
	o = nil
	survives(t, n, pid, "After will run")
	acts(t, n, pid, func(c *node.Context) { match.SetTimeout(c, node.Infinity) })
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

// A continuation of an Actor for when a future is completed keeps the Actor, and so does a message that is to be sent
// then.
func TestFuturesKeep(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	for name, ask := range map[string]func(c *node.Context, done chan any){
		"then": func(c *node.Context, done chan any) {
			futures.Ask[int](c, h.Self(), "ask").Within(time.Hour).Then(func(_ *node.Context, v int, err error) error {
				done <- v
				return err
			})
		},
		"a join": func(c *node.Context, done chan any) {
			f := futures.All(c, node.Async[int](c, h.Self(), "ask"))
			futures.Then(c, f, func(_ *node.Context, v []int, err error) error {
				done <- v[0]
				return err
			})
		},
		"send": func(c *node.Context, done chan any) {
			futures.Send(c, c.Self(), node.Async[int](c, h.Self(), "ask"), func(v int, err error) any {
				return do(func(*node.Context) { done <- v })
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, done := own(t, n, &holder{}), make(chan any, 1)
			pid := o.PID()
			acts(t, n, pid, func(c *node.Context) { ask(c, done) })
			runtime.KeepAlive(o)
			o = nil
			survives(t, n, pid, "it waits for an answer")
			r := nodetest.Expect[node.Request[string]](h)
			require.NoError(t, r.Reply(7))
			require.Equal(t, 7, testkit.Receive(t, done))
			require.Equal(t, lifetime.Collected, collect(t, n, pid))
		})
	}
}

// A dead letter to a process that had an owner is the message as it was sent.
func TestDeadLettersOfOwned(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	dead := n.DeadLetters(16)
	defer dead.Close()
	o := own(t, n, &holder{})
	pid := o.PID()
	_, err := n.SendAfter(time.Hour, pid, "later")
	require.NoError(t, err)
	f := node.Async[int](n, h.Self(), "future")
	f.SendTo(pid, "result")
	acts(t, n, pid, func(c *node.Context) { node.SendRequest(c, h.Self(), "tag", "request") })
	n.Exit(pid, node.Kill)
	require.Equal(t, "later", testkit.Receive(t, dead.C).Message)
	for range 2 {
		r := nodetest.Expect[node.Request[string]](h)
		require.NoError(t, r.Reply(5))
	}
	require.Equal(t, node.Result{Tag: "result", Value: 5}, testkit.Receive(t, dead.C).Message)
	require.Equal(t, node.Result{Tag: "tag", Value: 5}, testkit.Receive(t, dead.C).Message)
	runtime.KeepAlive(o)
}
