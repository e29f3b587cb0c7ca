package futures_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/nodetest"
)

// collector ranges over futures in all the ways.
type collector struct{ ranged chan none }

type none = struct{}

// seen returns what a loop sees: indices and values, or errors. It reports the first one to ranged.
func seen(from node.Caller, most int, ranged chan none, fs []*node.Future[int]) (all []string) {
	for i, r := range futures.Each(from, fs...) {
		if len(all) == 0 && ranged != nil {
			ranged <- none{}
		}
		all = append(all, fmt.Sprint(i, r.Value, r.Err))
		if len(all) == most {
			break
		}
	}
	return all
}

func (o *collector) Collect(c *active.Context, fs []*node.Future[int]) ([]string, error) {
	return seen(c, len(fs), o.ranged, fs), nil
}

func (o *collector) First(c *active.Context, fs []*node.Future[int]) ([]string, error) {
	return seen(c, 1, o.ranged, fs), nil
}

func (o *collector) Idle(*active.Context, int) (int, error) { return 1, nil }

// Each yields futures in the order of completion, in every style; a method of an active object lets others go on.
func TestEach(t *testing.T) {
	l := start(t)
	r := testkit.Rand(t)
	ranged := make(chan none, 1)
	o, err := active.Start(l.n, &collector{ranged}, node.Options{})
	require.NoError(t, err)
	out := make(chan []string, 1)
	begins := map[string]func(fs []*node.Future[int]){
		"goroutine": func(fs []*node.Future[int]) { go func() { out <- seen(l.n, len(fs), ranged, fs) }() },
		"method": func(fs []*node.Future[int]) {
			f := active.Go(l.n, o, (*collector).Collect, fs)
			one, err := await(t, active.Go(l.n, o, (*collector).Idle, 0))
			require.NoError(t, err)
			require.Equal(t, 1, one)
			go func() { v, _ := node.Await(context.Background(), l.n, f); out <- v }()
		},
	}
	for _, s := range actortest.Styles() {
		begins[s.Name] = func(fs []*node.Future[int]) {
			require.NoError(t, l.n.Send(s.Spawn(t, l.n, func(self actortest.Self, _ any) error {
				out <- seen(self, len(fs), ranged, fs)
				return nil
			}), "begin"))
		}
	}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			fs, froms := l.calls(5)
			var want []string
			for k, i := range r.Perm(5) {
				if k == 1 {
					begin(fs)
					<-ranged
				}
				if i == 3 {
					require.NoError(t, froms[i].Fail(errAsked))
					want = append(want, fmt.Sprint(i, 0, errAsked))
				} else {
					require.NoError(t, froms[i].Reply(10*i))
					want = append(want, fmt.Sprint(i, 10*i, nil))
				}
			}
			require.Equal(t, want, <-out)
		})
	}
	require.Empty(t, seen(l.n, 1, nil, nil))
	// A loop that leaves early gets what is there, and the inputs go on.
	fs, froms := l.calls(3)
	f := active.Go(l.n, o, (*collector).First, fs)
	require.NoError(t, froms[1].Reply(7))
	got, err := await(t, f)
	require.NoError(t, err)
	require.Equal(t, []string{fmt.Sprint(1, 7, nil)}, got)
	require.NoError(t, froms[0].Reply(8))
	v, err := await(t, fs[0])
	require.NoError(t, err)
	require.Equal(t, 8, v)
}

// An Actor that is killed while it ranges gets an error, and leaves the loop.
func TestEachEnds(t *testing.T) {
	l := start(t)
	fs, _ := l.calls(2)
	out := make(chan []string, 1)
	begun := make(chan node.PID, 1)
	pid, err := l.n.Spawn(&run{})
	require.NoError(t, err)
	require.NoError(t, l.n.Send(pid, func(c *node.Context) error {
		begun <- c.Self()
		out <- seen(c, 2, nil, fs)
		return nil
	}))
	l.n.Exit(<-begun, node.Kill)
	got := testkit.Receive(t, out)
	require.Len(t, got, 1)
	require.Regexp(t, "^-1 0 .*node: .*exited", got[0])
}

// A completed future becomes a message, or the argument of a method.
func TestJoins(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	h, server := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	ask := func() (*node.Future[int], node.From) {
		f := node.Async[int](n, server.Self(), "?")
		return f, nodetest.Expect[node.Request[string]](server).From
	}
	a, fromA := ask()
	b, fromB := ask()
	futures.Send(n, h.Self(), futures.All(n, a, b), func(v []int, err error) any { return fmt.Sprint(v, err) })
	require.NoError(t, fromB.Reply(2))
	require.NoError(t, fromA.Reply(1))
	require.Equal(t, "[1 2] <nil>", nodetest.Expect[string](h))

	a, fromA = ask()
	futures.Send(n, h.Self(), a, func(_ int, err error) any { return err })
	require.NoError(t, fromA.Fail(errAsked))
	require.ErrorIs(t, nodetest.Expect[error](h), errAsked)

	a, fromA = ask()
	futures.Send(n, h.Self(), a, func(int, error) any { return nil })
	futures.Send(n, h.Self(), a, func(int, error) any { panic("bad message") })
	futures.Send(n, node.Atom("nobody"), a, func(int, error) any { return 1 })
	futures.Send(n, h.Self(), a, func(v int, _ error) any { return v })
	require.NoError(t, fromA.Reply(3))
	require.Equal(t, 3, nodetest.Expect[int](h), "the others have sent nothing")
	log.Await(t, "bad message")
	log.Await(t, "to=nobody")

	o, err := active.Start(n, &adder{}, node.Options{})
	require.NoError(t, err)
	a, fromA = ask()
	sum := futures.GoWith(n, o, (*adder).Add, futures.GoWith(n, o, (*adder).Add, a))
	_, done, _ := sum.Result()
	require.False(t, done)
	require.NoError(t, fromA.Reply(5))
	v, err := await(t, sum)
	require.NoError(t, err)
	require.Equal(t, 10, v, "5 is added, and then the 5 that there is")
	a, fromA = ask()
	sum = futures.GoWith(n, o, (*adder).Add, a)
	require.NoError(t, fromA.Fail(errAsked))
	_, err = await(t, sum)
	require.ErrorIs(t, err, errAsked)
}

type adder struct{ total int }

func (o *adder) Add(_ *active.Context, n int) (int, error) { o.total += n; return o.total, nil }

// An answer, a timeout, and a request that is given up: each is reported once, to its handler.
func TestAsk(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, server *nodetest.Probe, _ *logtest.Text) {
		told := make(chan string, 10)
		then := func(name string) func(c *node.Context, v int, err error) error {
			return func(_ *node.Context, v int, err error) error { told <- fmt.Sprint(name, " ", v, " ", err); return nil }
		}
		pid, err := n.Spawn(&run{"it", told})
		require.NoError(t, err)
		var given *node.Future[int]
		require.NoError(t, n.Send(pid, func(c *node.Context) error {
			futures.Ask[int](c, server.Self(), "a").Within(time.Second).Then(then("a"))
			futures.Ask[int](c, server.Self(), "b").Within(2 * time.Second).Then(then("b"))
			given = futures.Ask[int](c, server.Self(), "c").Then(then("c"))
			return nil
		}))
		nodetest.Expect[node.Request[string]](server)
		b := nodetest.Expect[node.Request[string]](server)
		synctest.Wait()
		require.NoError(t, n.Send(pid, "meanwhile"))
		require.Equal(t, "it meanwhile", <-told)
		require.Equal(t, fmt.Sprint("a 0 ", node.ErrTimeout), <-told)
		require.NoError(t, b.Reply(5))
		require.Equal(t, "b 5 <nil>", <-told)
		require.True(t, given.Cancel())
		require.Equal(t, fmt.Sprint("c 0 ", context.Canceled), <-told)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, told)
	})
}

// Requests that nobody answers leave nothing behind: neither those with a timeout nor those that are cancelled.
func TestUnansweredLeaveNothing(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	silent, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	each := testkit.By(20_000, 50_000, 200_000)
	over := make(chan error, 2*each)
	asker, err := n.Spawn(&run{"it", nil})
	require.NoError(t, err)
	then := func(_ *node.Context, _ int, err error) error { over <- err; return nil }
	round := func(times int) {
		for range times {
			require.NoError(t, n.Send(asker, func(c *node.Context) error {
				futures.Ask[int](c, silent, "?").Within(time.Millisecond).Then(then)
				futures.Ask[int](c, silent, "?").Then(then).Cancel()
				return nil
			}))
		}
		for range 2 * times {
			err := testkit.Receive(t, over)
			require.True(t, errors.Is(err, node.ErrTimeout) || errors.Is(err, context.Canceled), "%v", err)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	// What one round leaves, the next would leave again. Memory kept for reuse, such as the workers' nodes of mailboxes
	// and the arrays of timers, grows only when more has to wait than ever before.
	stats, before := n.Stats(), heap()
	const most = 1 << 20 // a byte for ten requests of the longest round; each of them left 168 once
	for rounds := 1; ; rounds++ {
		round(each)
		now := heap()
		if now < before+most {
			break
		}
		require.Less(t, rounds, 20, "each round leaves more, the last %d bytes", now-before)
		before = now
	}
	after := n.Stats()
	require.Equal(t, stats.Processes, after.Processes)
	require.Equal(t, stats.Timers, after.Timers)
	for _, pid := range []node.PID{asker, silent} {
		i, err := n.Info(pid)
		require.NoError(t, err)
		require.Zero(t, i.Mailbox)
	}
}
