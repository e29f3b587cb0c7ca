package futures_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/nodetest"
)

var errAsked = errors.New("asked to fail")

// later holds calls that are answered when the test says so.
type later struct {
	n     *node.Node
	pid   node.PID
	froms chan node.From
}

func start(t *testing.T) *later {
	n := nodetest.Start(t, node.Config{})
	l := &later{n: n, froms: make(chan node.From, 1)}
	var err error
	l.pid, err = n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		if r, ok := msg.(node.Request[int]); ok {
			l.froms <- r.From
			return nil
		}
		return node.ErrUnhandled
	}))
	require.NoError(t, err)
	return l
}

func (l *later) call() (*node.Future[int], node.From) {
	f := node.Async[int](l.n, l.pid, 0)
	return f, <-l.froms
}

func (l *later) calls(n int) (fs []*node.Future[int], froms []node.From) {
	for range n {
		f, from := l.call()
		fs, froms = append(fs, f), append(froms, from)
	}
	return fs, froms
}

func await[R any](t *testing.T, f *node.Future[R]) (R, error) {
	testkit.Receive(t, f.Done())
	v, _, err := f.Result()
	return v, err
}

// The values are in the order of the arguments, in whatever order they arrive.
func TestAll(t *testing.T) {
	r := testkit.Rand(t)
	l := start(t)
	for range 50 {
		fs, froms := l.calls(1 + r.IntN(6))
		early := r.IntN(len(fs) + 1) // this many are there before
		order := r.Perm(len(fs))
		answer := func(some []int) {
			for _, i := range some {
				require.NoError(t, froms[i].Reply(10*i))
			}
		}
		answer(order[:early])
		all := futures.All(l.n, fs...)
		if early < len(fs) {
			_, done, _ := all.Result()
			require.False(t, done)
		}
		answer(order[early:])
		var want []int
		for i := range fs {
			want = append(want, 10*i)
		}
		got, err := await(t, all)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	none, err := await(t, futures.All[int](l.n))
	require.NoError(t, err)
	require.Empty(t, none)
}

// One failure is enough, and the error names the future. The others go on.
func TestAllFails(t *testing.T) {
	l := start(t)
	fs, froms := l.calls(3)
	all := futures.All(l.n, fs...)
	require.NoError(t, froms[0].Reply(1))
	require.NoError(t, froms[2].Fail(errAsked))
	_, err := await(t, all)
	require.ErrorIs(t, err, errAsked)
	require.EqualError(t, err, "future 2: asked to fail")
	require.NoError(t, froms[1].Reply(7))
	v, err := await(t, fs[1])
	require.NoError(t, err)
	require.Equal(t, 7, v)
}

// A process that exits fails its calls, and so the result.
func TestExit(t *testing.T) {
	l := start(t)
	fs, _ := l.calls(2)
	all, first := futures.All(l.n, fs...), futures.First(l.n, fs...)
	l.n.Exit(l.pid, node.Kill)
	_, err := await(t, all)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, node.Killed, exit.Reason)
	_, err = await(t, first)
	require.ErrorAs(t, err, &exit)
}

// Failures do not count as long as a value can still come.
func TestFirst(t *testing.T) {
	l := start(t)
	fs, froms := l.calls(3)
	first := futures.First(l.n, fs...)
	require.NoError(t, froms[0].Fail(errAsked))
	_, done, _ := first.Result()
	require.False(t, done)
	require.NoError(t, froms[2].Reply(5))
	require.NoError(t, froms[1].Reply(6))
	got, err := await(t, first)
	require.NoError(t, err)
	require.Equal(t, futures.Success[int]{Index: 2, Value: 5}, got)

	fs, froms = l.calls(2)
	require.NoError(t, froms[1].Fail(context.DeadlineExceeded))
	first = futures.First(l.n, fs...)
	require.NoError(t, froms[0].Fail(errAsked))
	_, err = await(t, first)
	require.ErrorIs(t, err, errAsked)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "future 0: asked to fail\nfuture 1: context deadline exceeded")

	_, err = await(t, futures.First[int](l.n))
	require.EqualError(t, err, "futures: there is no first of no futures")
}

// counter is an active object.
type counter struct{ served int }

func (o *counter) Sum(c *active.Context, fs []*node.Future[int]) (int, error) {
	values, err := active.Await(c, futures.All(c, fs...))
	sum := 0
	for _, v := range values {
		sum += v
	}
	return sum, err
}

func (o *counter) Serve(*active.Context, int) (int, error) { o.served++; return o.served, nil }

// Every style awaits a result in its own way.
func TestStyles(t *testing.T) {
	l := start(t)
	told := make(chan any, 1)
	sum := func(values []int, err error) {
		if err != nil {
			told <- err
			return
		}
		told <- values[0] + values[1]
	}
	var fs []*node.Future[int]
	var froms []node.From
	begins := map[string]func() error{
		"a message": func() error {
			pid, err := l.n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
				if r, ok := msg.(node.Result); ok {
					values, _ := r.Value.([]int)
					sum(values, r.Err)
				} else {
					futures.All(c, fs...).SendTo(c.Self(), "both")
				}
				return nil
			}))
			l.n.Send(pid, "begin")
			return err
		},
		"active object": func() error {
			o, err := active.Start(l.n, &counter{}, node.Options{})
			if err != nil {
				return err
			}
			f := active.Go(l.n, o, (*counter).Sum, fs)
			if served, err := await(t, active.Go(l.n, o, (*counter).Serve, 0)); served != 1 {
				return fmt.Errorf("the object does not serve while it awaits: %w", err)
			}
			f.SendTo(l.toldBy(t, told), nil)
			return nil
		},
	}
	for _, s := range actortest.Styles() {
		begins[s.Name] = func() error {
			return l.n.Send(s.Spawn(t, l.n, func(self actortest.Self, _ any) error {
				sum(node.Await(self.Context(), self, futures.All(self, fs...)))
				return nil
			}), "begin")
		}
	}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			fs, froms = l.calls(2)
			require.NoError(t, begin())
			require.NoError(t, froms[1].Reply(2))
			require.NoError(t, froms[0].Reply(40))
			require.Equal(t, any(42), <-told)
		})
	}
}

// toldBy starts an actor that passes results on.
func (l *later) toldBy(t *testing.T, told chan<- any) node.PID {
	pid, err := l.n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		told <- msg.(node.Result).Value
		return nil
	}))
	require.NoError(t, err)
	return pid
}

// A result that is completed, or given up, leaves nothing at an input that lives on.
func TestNothingIsLeft(t *testing.T) {
	l := start(t)
	lasting, _ := l.call()
	gone := make(chan struct{}, 2)
	func() {
		f, from := l.call()
		first := futures.First(l.n, lasting, f)
		all := futures.All(l.n, lasting)
		runtime.AddCleanup(first, func(int) { gone <- struct{}{} }, 0)
		runtime.AddCleanup(all, func(int) { gone <- struct{}{} }, 0)
		require.NoError(t, from.Reply(1))
		_, err := await(t, first)
		require.NoError(t, err)
		require.True(t, all.Cancel())
		_, err = await(t, all)
		require.ErrorIs(t, err, context.Canceled)
	}()
	for left := 2; left > 0; {
		runtime.GC()
		select {
		case <-gone:
			left--
		case <-t.Context().Done():
			t.FailNow()
		default:
			runtime.Gosched()
		}
	}
	_, done, _ := lasting.Result()
	require.False(t, done)
}

// However many inputs complete at the same time, and while the waiter gives up, a result is completed once.
func TestAtTheSameTime(t *testing.T) {
	r := testkit.Rand(t)
	l := start(t)
	for range 500 {
		fs, froms := l.calls(2 + r.IntN(4))
		fails, cancels := r.IntN(2*len(fs)), r.IntN(4) == 0
		var everybody sync.WaitGroup
		for i, from := range froms {
			everybody.Go(func() {
				if i == fails {
					_ = from.Fail(errAsked)
				} else {
					_ = from.Reply(i)
				}
			})
		}
		all, first := futures.All(l.n, fs...), futures.First(l.n, fs...)
		if cancels {
			everybody.Go(func() { all.Cancel() })
		}
		everybody.Wait()
		values, err := await(t, all)
		switch {
		case err == nil:
			require.GreaterOrEqual(t, fails, len(fs))
			require.Len(t, values, len(fs))
		case cancels && errors.Is(err, context.Canceled):
		default:
			require.ErrorIs(t, err, errAsked)
			require.Less(t, fails, len(fs))
		}
		got, err := await(t, first)
		require.NoError(t, err)
		require.Equal(t, got.Index, got.Value)
	}
}

// A future from another node is an input like any other.
func TestFromAnotherNode(t *testing.T) {
	c := clustertest.NewCluster(t)
	a, b := c.Start("a"), c.Start("b")
	server, reader := nodetest.NewProbe(t, a), nodetest.NewProbe(t, b)
	f := node.Async[int](a, server.Self(), "x")
	r := nodetest.Expect[node.Request[string]](server)
	require.NoError(t, a.Send(reader.Self(), f))
	far := nodetest.Expect[*node.Future[int]](reader)
	near := node.Async[int](b, reader.Self(), "y")
	require.NoError(t, nodetest.Expect[node.Request[string]](reader).From.Reply(1))
	all := futures.All(b, far, near)
	require.NoError(t, r.From.Reply(2))
	got, err := await(t, all)
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, got)
}
