package active_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

type none = struct{}

func start[T any](t *testing.T, n node.Caller, object T) active.Addr[T] {
	r, err := active.Start(n, object, node.Options{})
	require.NoError(t, err)
	return r
}

func result[R any](t *testing.T, f *node.Future[R]) R {
	testkit.Receive(t, f.Done())
	v, _, err := f.Result()
	require.NoError(t, err)
	return v
}

// account is the object of the package comment.
type account struct{ balance int }

func (a *account) Withdraw(c *active.Context, n int) (int, error) {
	c.Until(func() bool { return a.balance >= n })
	a.balance -= n
	return a.balance, nil
}

func (a *account) Deposit(_ *active.Context, n int) (int, error) {
	if n < 0 {
		return 0, errNegative
	}
	a.balance += n
	return a.balance, nil
}

func (a *account) Break(_ *active.Context, with any) (none, error) { panic(with) }

func (a *account) Vanish(*active.Context, none) (none, error) { runtime.Goexit(); return none{}, nil }

var errNegative = errors.New("negative")

// A call waits for its condition while the object takes other calls.
func TestUntil(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	a := start(t, n, &account{})
	first := active.Go(n, a, (*account).Withdraw, 30)
	second := active.Go(n, a, (*account).Withdraw, 5)
	require.Equal(t, 20, result(t, active.Go(n, a, (*account).Deposit, 20)))
	require.Equal(t, 15, result(t, second))
	_, done, _ := first.Result()
	require.False(t, done)
	result(t, active.Go(n, a, (*account).Deposit, 15))
	require.Equal(t, 0, result(t, first))
}

// The future gets what a method returns, panics with or ends its goroutine by, and the object goes on.
func TestErrors(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	a := start(t, n, &account{})
	_, err := node.Await(testkit.Context(t), n, active.Go(n, a, (*account).Deposit, -1))
	require.Equal(t, errNegative, err)
	_, err = node.Await(testkit.Context(t), n, active.Go(n, a, (*account).Break, any("bad job")))
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, "bad job", exit.Reason.(*node.Crash).Reason)
	require.Contains(t, string(exit.Reason.(*node.Crash).Stack), "Break")
	log.Await(t, "a method panicked")
	_, err = node.Await(testkit.Context(t), n, active.Go(n, a, (*account).Vanish, none{}))
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, result(t, active.Go(n, a, (*account).Deposit, 7)))
}

// caller calls itself, as listing 1 of the ABS work does.
type caller struct {
	self      active.Addr[*caller]
	suspended int
	most      int
}

func (a *caller) Recursive(c *active.Context, depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	inner, err := active.Call(c, a.self, (*caller).Recursive, depth-1)
	if err != nil {
		return 0, err
	}
	f := active.Go(c, a.self, (*caller).Compute, none{})
	a.suspended++
	a.most = max(a.most, a.suspended)
	one, err := active.Await(c, f)
	a.suspended--
	return inner + one, err
}

func (a *caller) Compute(*active.Context, none) (int, error) { return 1, nil }

func (a *caller) Start(c *active.Context, calls int) (int, error) {
	a.self = active.AddrOf[*caller](c.Self())
	var all []*node.Future[int]
	for range calls {
		all = append(all, active.Go(c, a.self, (*caller).Recursive, 5))
	}
	sum := 0
	for _, f := range all {
		v, err := active.Await(c, f)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func (a *caller) Most(*active.Context, none) (int, error) { return a.most, nil }

// A method may await deep in a stack of calls, and all the calls are suspended at once.
func TestListing1(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	a := start(t, n, &caller{})
	require.Equal(t, 10_000, result(t, active.Go(n, a, (*caller).Start, 2000)))
	require.Greater(t, result(t, active.Go(n, a, (*caller).Most, none{})), 100)
}

// front awaits another object.
type front struct{ back active.Addr[*account] }

func (o *front) Pay(c *active.Context, n int) (string, error) {
	left, err := active.Await(c, active.Go(c, o.back, (*account).Deposit, n))
	if err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	return fmt.Sprint(left), nil
}

func (o *front) Take(c *active.Context, n int) (int, error) {
	return active.Await(c, active.Go(c, o.back, (*account).Withdraw, n))
}

func (o *front) Block(c *active.Context, n int) (int, error) {
	return active.Block(c, active.Go(c, o.back, (*account).Deposit, n))
}

// A method that awaits another object's method goes on with its reply, its error, or the exit of the other object.
func TestAwaitAnother(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	b := start(t, n, &account{})
	f := start(t, n, &front{b})
	require.Equal(t, "3", result(t, active.Go(n, f, (*front).Pay, 3)))
	_, err := node.Await(testkit.Context(t), n, active.Go(n, f, (*front).Pay, -3))
	require.EqualError(t, err, "pay: negative")
	require.ErrorIs(t, err, errNegative)
	require.Equal(t, 7, result(t, active.Go(n, f, (*front).Block, 4)))

	waits := active.Go(n, f, (*front).Take, 100)
	require.Equal(t, "8", result(t, active.Go(n, f, (*front).Pay, 1)), "the object takes other calls")
	n.Exit(b.Dest(), node.Kill)
	var exit *node.ExitError
	_, err = node.Await(testkit.Context(t), n, waits)
	require.ErrorAs(t, err, &exit)
	require.Equal(t, node.Killed, exit.Reason)
	_, err = node.Await(testkit.Context(t), n, active.Go(n, f, (*front).Pay, 1))
	require.ErrorIs(t, err, node.ErrNoProcess)
}

// sleeper waits for ever.
type sleeper struct{ unwound chan string }

func (s *sleeper) Sleep(c *active.Context, name string) (none, error) {
	defer func() {
		_ = c.Send(c.Self(), "lost") // the Context is usable to the end
		s.unwound <- name
	}()
	c.Until(func() bool { return false })
	s.unwound <- "it went on"
	return none{}, nil
}

func (s *sleeper) Stop(c *active.Context, reason any) (none, error) {
	c.Exit(c.Self(), reason)
	return none{}, nil
}

func (s *sleeper) Ready(*active.Context, none) (none, error) { return none{}, nil }

// The end of the process unwinds what waits, and fails the futures with the exit reason.
func TestExit(t *testing.T) {
	for _, how := range []string{"killed", "by itself", "stop"} {
		t.Run(how, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			unwound := make(chan string, 10)
			s := start(t, n, &sleeper{unwound})
			var all []*node.Future[none]
			for i := range 5 {
				all = append(all, active.Go(n, s, (*sleeper).Sleep, fmt.Sprint(i)))
			}
			result(t, active.Go(n, s, (*sleeper).Ready, none{}))
			switch how {
			case "killed":
				n.Exit(s.Dest(), node.Kill)
			case "by itself":
				active.Go(n, s, (*sleeper).Stop, any(node.Atom("enough")))
			case "stop":
				require.NoError(t, n.Stop())
			}
			for range 5 {
				select {
				case name := <-unwound:
					require.Len(t, name, 1)
				case <-testkit.Context(t).Done():
					t.Fatal("not unwound")
				}
			}
			for _, f := range all {
				var exit *node.ExitError
				_, err := node.Await(testkit.Context(t), n, f)
				require.ErrorAs(t, err, &exit)
			}
		})
	}
}

// counter notices whether another activation of its group runs.
type counter struct {
	running *int
	total   int
}

func (o *counter) Add(c *active.Context, times int) (int, error) {
	for range times {
		if *o.running++; *o.running != 1 {
			return 0, errors.New("two at once")
		}
		o.total++
		*o.running--
		c.Suspend()
	}
	return o.total, nil
}

// Objects of a group share one thread of control.
func TestGroup(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	running := 0
	first := start(t, n, &counter{running: &running})
	all := []active.Addr[*counter]{first}
	for range 9 {
		r, err := active.In(n, first, &counter{running: &running})
		require.NoError(t, err)
		require.NotContains(t, all, r)
		all = append(all, r)
	}
	var futures []*node.Future[int]
	for range 4 {
		for _, r := range all {
			futures = append(futures, active.Go(n, r, (*counter).Add, 50))
		}
	}
	most := 0
	for _, f := range futures {
		most = max(most, result(t, f))
	}
	require.Equal(t, 200, most)

	_, err := node.Await(testkit.Context(t), n, active.Go(n, active.AddrOf[*account](first.PID), (*account).Deposit, 1))
	require.ErrorIs(t, err, node.ErrUnhandled)
	require.ErrorContains(t, err, "has no *active_test.account but a *active_test.counter")
	n.Exit(first.Dest(), node.Kill)
	_, err = node.AwaitExit(testkit.Context(t), n, first.PID)
	require.NoError(t, err)
	_, err = active.In(n, first, &counter{})
	require.ErrorIs(t, err, node.ErrNoProcess)
}

// maker makes members of its own group, and calls them.
type maker struct {
	members []active.Addr[*account]
	own     *node.Future[none]
}

func (m *maker) Make(c *active.Context, balance int) (int, error) {
	r, err := active.In(c, active.AddrOf[*maker](c.Self()), &account{})
	if err != nil {
		return 0, err
	}
	m.members = append(m.members, r)
	f := active.Go(c, r, (*account).Withdraw, balance)
	if v, err := active.Call(c, r, (*account).Deposit, balance); v != balance || err != nil { // at once
		return v, err
	}
	return active.Await(c, f)
}

// AwaitOwn awaits its own future.
func (m *maker) AwaitOwn(c *active.Context, _ none) (none, error) { return active.Await(c, m.own) }

func (m *maker) Own(c *active.Context, _ none) (none, error) {
	m.own = active.Go(c, active.AddrOf[*maker](c.Self()), (*maker).AwaitOwn, none{})
	return active.Await(c, m.own)
}

func TestMembers(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	m := start(t, n, &maker{})
	for i := range 3 {
		require.Zero(t, result(t, active.Go(n, m, (*maker).Make, i)))
	}
	_, err := node.Await(testkit.Context(t), n, active.Go(n, m, (*maker).Own, none{}))
	require.ErrorIs(t, err, node.ErrSelfCall)
}

// An error that nobody reads is logged once; one that somebody reads, or whose future is given up, is not.
func TestUnread(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: slog.New(slog.NewTextHandler(log, nil))})
	a := start(t, n, &account{})
	h := nodetest.NewProbe(t, n)
	read := map[string]func(f *node.Future[int]){
		"Await": func(f *node.Future[int]) { _, _ = node.Await(testkit.Context(t), n, f) },
		"Result": func(f *node.Future[int]) {
			for done := false; !done; {
				_, done, _ = f.Result()
			}
		},
		"Done": func(f *node.Future[int]) { <-f.Done() },
		"SendTo": func(f *node.Future[int]) {
			f.SendTo(h.Self(), "tag")
			nodetest.Expect[node.Result](h)
		},
		"late": func(f *node.Future[int]) {
			result(t, active.Go(n, a, (*account).Deposit, 0)) // by then the other call has failed
			_, _, _ = f.Result()
		},
		"Cancel": func(f *node.Future[int]) { f.Cancel() },
	}
	for _, how := range read {
		how(active.Go(n, a, (*account).Deposit, -1))
	}
	const line = "a method failed, and nobody read its future"
	for range 10 {
		runtime.GC()
	}
	require.NotContains(t, log.String(), line)
	_ = active.Go(n, a, (*account).Deposit, -1)
	_ = active.Go(n, a, (*account).Break, any("it is in the log"))
	_ = active.Go(n, a, (*account).Deposit, 1)
	result(t, active.Go(n, a, (*account).Deposit, 0))
	testkit.Until(t, func() string {
		runtime.GC()
		if got := strings.Count(log.String(), line); got != 1 {
			return fmt.Sprintf("%d lines:\n%v", got, log)
		}
		return ""
	})
	for range 10 {
		runtime.GC()
	}
	require.Equal(t, 1, strings.Count(log.String(), line))
	require.Contains(t, log.String(), "error=negative")
}

// Info says how many activations wait, for what and since when, and does not wait for any method itself.
func TestInfo(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
		a := start(t, n, &account{})
		begun := time.Now()
		info := func() observe.Activations {
			synctest.Wait()
			i, err := n.Info(a.PID)
			require.NoError(t, err)
			return i.Activations
		}
		require.Zero(t, info())
		first := active.Go(n, a, (*account).Withdraw, 1)
		synctest.Wait()
		time.Sleep(time.Hour)
		second := active.Go(n, a, (*account).Withdraw, 10)
		waiter := active.Go(n, a, (*account).Wait, node.Async[int](n, h.Self(), "?"))
		got := info()
		require.WithinDuration(t, begun, got.Since, 250*time.Millisecond)
		got.Since = time.Time{}
		require.Equal(t, observe.Activations{Future: 1, Condition: 2}, got)

		held := make(chan none)
		active.Go(n, a, (*account).Hold, held)
		require.Equal(t, 2, info().Condition, "while a method runs")
		close(held)

		active.Go(n, a, (*account).Deposit, 5)
		got = info()
		require.WithinDuration(t, begun.Add(time.Hour), got.Since, 250*time.Millisecond)
		require.Equal(t, 1, got.Condition)
		require.Equal(t, 4, result(t, first))
		active.Go(n, a, (*account).Deposit, 6)
		require.Zero(t, result(t, second))
		require.NoError(t, nodetest.Expect[node.Request[string]](h).Reply(7))
		require.Equal(t, 7, result(t, waiter))
		require.Zero(t, info())

		active.Go(n, a, (*account).Withdraw, 1)
		require.Equal(t, 1, info().Condition)
		n.Exit(a.PID, node.Kill)
		synctest.Wait()
	})
}

func (a *account) Wait(c *active.Context, f *node.Future[int]) (int, error) {
	return active.Await(c, f)
}

func (a *account) Hold(_ *active.Context, until chan none) (none, error) { return <-until, nil }
