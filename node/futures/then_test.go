package futures_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
)

// run is an actor that runs functions, and reports its other messages.
type run struct {
	name string
	seen chan string
}

func (r *run) Receive(c *node.Context, msg any) error {
	if f, ok := msg.(func(c *node.Context) error); ok {
		return f(c)
	}
	r.seen <- fmt.Sprint(r.name, " ", msg)
	return nil
}

// Then continues an Actor when a future is completed, between other messages, whatever the behaviour is by then.
func TestThen(t *testing.T) {
	l := start(t)
	for name, o := range map[string]node.Options{"on a stage": {}, "detached": {Place: node.Detached()}} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan string, 10)
			pid, err := l.n.SpawnOpt(o, &run{"first", seen})
			require.NoError(t, err)
			do := func(f func(c *node.Context) error) { require.NoError(t, l.n.Send(pid, f)) }
			fs, froms := l.calls(3)
			then := func(c *node.Context, v int, err error) error {
				seen <- fmt.Sprint(v, err)
				return nil
			}
			do(func(c *node.Context) error {
				futures.Then(c, fs[0], then)
				futures.Then(c, fs[1], func(c *node.Context, v int, err error) error {
					futures.Then(c, fs[2], then) // it asks again
					c.Push(&run{"third", seen})
					return then(c, v, err)
				})
				return nil
			})
			require.NoError(t, l.n.Send(pid, 1))
			require.Equal(t, "first 1", <-seen)
			do(func(c *node.Context) error { c.Become(&run{"second", seen}); return nil })
			require.NoError(t, l.n.Send(pid, 2))
			require.Equal(t, "second 2", <-seen)
			i, err := l.n.Info(pid)
			require.NoError(t, err)
			require.Equal(t, "*futures_test.run", i.Behaviour)
			require.NoError(t, froms[1].Reply(7))
			require.Equal(t, "7 <nil>", <-seen)
			require.NoError(t, l.n.Send(pid, 3))
			require.Equal(t, "third 3", <-seen)
			require.NoError(t, froms[0].Fail(errAsked))
			require.Equal(t, "0 "+errAsked.Error(), <-seen)
			do(func(c *node.Context) error { c.Unbecome(); return nil })
			require.NoError(t, froms[2].Reply(8))
			require.Equal(t, "8 <nil>", <-seen)
			require.NoError(t, l.n.Send(pid, 4))
			require.Equal(t, "second 4", <-seen)
			i, err = l.n.Info(pid)
			require.NoError(t, err)
			require.Contains(t, i.Code, "node/futures_test", "nothing of it is left")

			// A future that is completed already, and an error that ends the process.
			h := nodetest.NewProbe(t, l.n)
			ref := h.Monitor(pid)
			do(func(c *node.Context) error {
				futures.Then(c, fs[2], func(*node.Context, int, error) error { return node.ExitWith(node.Atom("enough")) })
				return nil
			})
			require.Equal(t, node.Atom("enough"), h.ExpectDown(ref).Reason)
		})
	}
}

// Random Thens, Becomes, Pushes and Unbecomes, compared with a model of the stack.
func TestThenAsModel(t *testing.T) {
	r := testkit.Rand(t)
	l := start(t)
	seen := make(chan string, 10)
	pid, err := l.n.Spawn(&run{"0", seen})
	require.NoError(t, err)
	stack := []string{"0"}
	type open struct {
		f    *node.Future[int]
		from node.From
	}
	var pending []open
	do := func(f func(c *node.Context)) {
		require.NoError(t, l.n.Send(pid, func(c *node.Context) error { f(c); return nil }))
	}
	for i := range 3000 {
		b := &run{fmt.Sprint(i), seen}
		switch top := len(stack) - 1; r.IntN(6) {
		case 0:
			do(func(c *node.Context) { c.Become(b) })
			stack[top] = b.name
		case 1:
			do(func(c *node.Context) { c.Push(b) })
			stack = append(stack, b.name)
		case 2:
			do(func(c *node.Context) { c.Unbecome() })
			if top > 0 {
				stack = stack[:top]
			}
		case 3:
			f, from := l.call()
			pending = append(pending, open{f, from})
			do(func(c *node.Context) {
				futures.Then(c, f, func(_ *node.Context, v int, err error) error {
					seen <- fmt.Sprint("then ", v)
					return nil
				})
			})
		case 4:
			if len(pending) == 0 {
				continue
			}
			k := r.IntN(len(pending))
			require.NoError(t, pending[k].from.Reply(i))
			pending = append(pending[:k], pending[k+1:]...)
			require.Equal(t, fmt.Sprint("then ", i), <-seen)
		default:
			require.NoError(t, l.n.Send(pid, i))
			require.Equal(t, fmt.Sprint(stack[top], " ", i), <-seen)
		}
	}
	for i, p := range pending { // else the end of the node answers all of them at once
		require.NoError(t, p.from.Reply(i))
		require.Equal(t, fmt.Sprint("then ", i), <-seen)
	}
}

// The handler of a server continues as that of an actor does.
func TestThenOfServer(t *testing.T) {
	l := start(t)
	f, from := l.call()
	type ask struct{ genserver.Returns[int] }
	pid, err := genserver.Define(genserver.OnCall(func(s *int, c *genserver.Context, _ ask) (int, error) {
		caller := c.From()
		futures.Then(c.ActorContext, f, func(c *node.Context, v int, err error) error { return caller.Reply(v + *s) })
		return 0, genserver.ErrReplyLater
	})).Start(t.Context(), l.n, new(int), node.Options{})
	require.NoError(t, err)
	asked := genserver.Async(l.n, pid, ask{})
	testkit.Until(t, func() string { // OTP's tools see a gen_server meanwhile
		i, err := l.n.Info(pid)
		if p := procview.ProgramOf(&i); err != nil || p.Kind != "gen_server" || i.Handled == 0 {
			return fmt.Sprint(p, err)
		}
		return ""
	})
	require.NoError(t, from.Reply(4))
	v, err := await(t, asked)
	require.NoError(t, err)
	require.Equal(t, 4, v)
}

// A method of an active object has active.Await.
func TestThenOfActiveObject(t *testing.T) {
	l := start(t)
	o, err := active.Start(l.n, &counter{}, node.Options{})
	require.NoError(t, err)
	_, err = await(t, active.Go(l.n, o, (*counter).Misuse, struct{}{}))
	require.ErrorContains(t, err, "active.Await")
}

func (o *counter) Misuse(c *active.Context, _ struct{}) (struct{}, error) {
	futures.Then(c.ActorContext, &node.Future[int]{}, nil)
	return struct{}{}, nil
}

// Nobody waits longer than Within says, and a later answer is dropped.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		froms := make(chan node.From, 2)
		pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			froms <- msg.(node.Request[int]).From
			return nil
		}))
		require.NoError(t, err)
		begun := time.Now()
		f := futures.Within(n, time.Second, node.Async[int](n, pid, 0))
		_, err = node.Await(context.Background(), n, f)
		require.ErrorIs(t, err, node.ErrTimeout)
		require.Equal(t, time.Second, time.Since(begun))
		require.False(t, (<-froms).Pending())
		f = futures.Within(n, time.Second, node.Async[int](n, pid, 0))
		require.NoError(t, (<-froms).Reply(1))
		v, err := node.Await(context.Background(), n, f)
		require.NoError(t, err)
		require.Equal(t, 1, v)
	})
}

// The futures of InOrder are completed one after the other, in the order of the inputs' completion.
func TestInOrder(t *testing.T) {
	r := testkit.Rand(t)
	l := start(t)
	for range 50 {
		fs, froms := l.calls(1 + r.IntN(6))
		order := r.Perm(len(fs))
		early := r.IntN(len(fs) + 1)
		if early > 0 {
			early = 1 // for those completed before, the order of the arguments counts
		}
		fails := r.IntN(2 * len(fs))
		answer := func(i int) {
			if i == fails {
				require.NoError(t, froms[i].Fail(errAsked))
			} else {
				require.NoError(t, froms[i].Reply(10*i))
			}
		}
		for _, i := range order[:early] {
			answer(i)
		}
		results := futures.InOrder(l.n, fs...)
		require.Len(t, results, len(fs))
		for k, i := range order {
			if k >= early {
				_, done, _ := results[k].Result()
				require.False(t, done)
				answer(i)
			}
			got, err := await(t, results[k])
			if i == fails {
				var failed *futures.InputError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, &futures.InputError{Index: i, Err: errAsked}, failed)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, futures.Success[int]{Index: i, Value: 10 * i}, got)
		}
	}
	require.Empty(t, futures.InOrder[int](l.n))
}

// A chain makes the second call when the first has been answered, and not if the first fails.
func TestChain(t *testing.T) {
	l := start(t)
	next := func(from node.Caller, v int) *node.Future[int] { return node.Async[int](from, l.pid, v) }
	a, first := l.call()
	f := futures.Chain(l.n, futures.Chain(l.n, a, next), next)
	require.NoError(t, first.Reply(1))
	require.NoError(t, (<-l.froms).Reply(2))
	_, done, _ := f.Result()
	require.False(t, done)
	require.NoError(t, (<-l.froms).Reply(3))
	v, err := await(t, f)
	require.NoError(t, err)
	require.Equal(t, 3, v)

	a, first = l.call()
	f = futures.Chain(l.n, a, func(node.Caller, int) *node.Future[int] { panic("it is not called") })
	require.NoError(t, first.Fail(errAsked))
	_, err = await(t, f)
	require.ErrorIs(t, err, errAsked)

	a, first = l.call()
	f = futures.Chain(l.n, a, func(node.Caller, int) *node.Future[int] { panic(errors.New("broken")) })
	require.NoError(t, first.Reply(1))
	_, err = await(t, f)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.ErrorContains(t, err, "broken")

	a, first = l.call() // a caller that has given up makes no other call
	f = futures.Chain(l.n, a, func(node.Caller, int) *node.Future[int] { panic("it is not called") })
	require.True(t, f.Cancel())
	require.NoError(t, first.Reply(1))
}
