package nodetest_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/trace"
)

// judged is a testing.TB that notes how a test has failed. Its FailNow ends the goroutine, and its cleanups are run by end.
type judged struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (j *judged) Errorf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failures = append(j.failures, fmt.Sprintf(format, args...))
}

func (j *judged) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	panic(j)
}

func (j *judged) FailNow() { panic(j) }

func (j *judged) Failed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.failures) > 0
}

func (j *judged) Cleanup(f func()) { j.cleanups = append(j.cleanups, f) }

// failures runs f as a test and returns how it has failed.
func failures(t *testing.T, f func(t testing.TB)) string {
	j := &judged{TB: t}
	func() {
		defer func() {
			if why := recover(); why != nil && why != any(j) {
				panic(why)
			}
		}()
		f(j)
	}()
	for i := len(j.cleanups) - 1; i >= 0; i-- {
		j.cleanups[i]()
	}
	return strings.Join(j.failures, "\n")
}

// each runs a test in a bubble, and without one.
func each(t *testing.T, f func(t *testing.T)) {
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, f) })
	t.Run("plain", f)
}

// echo sends what it gets to the process to, twice if it is a string.
func echo(to node.PID) node.Actor {
	return node.ActorFunc(func(c *node.Context, msg any) error {
		if _, twice := msg.(string); twice {
			if err := c.Send(to, msg); err != nil {
				return err
			}
		}
		return c.Send(to, msg)
	})
}

func TestProbe(t *testing.T) {
	each(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		p := nodetest.NewProbe(t, n)
		pid, err := p.Spawn(echo(p.Self()))
		require.NoError(t, err)
		for _, m := range []any{1, 2, "a", 3, 4.5} {
			require.NoError(t, p.Send(pid, m))
		}
		require.Equal(t, 1, nodetest.Expect[int](p))
		require.Equal(t, 3, nodetest.Find(p, func(i int) bool { return i > 2 }))
		p.Expect(2, "a")
		p.ExpectAnyOrder(4.5, "a")
		p.ExpectNone()
		ref := p.Monitor(pid)
		n.Exit(pid, node.Atom("tired"))
		require.NoError(t, p.Send(p.Self(), "stays"))
		require.Equal(t, node.Atom("tired"), p.ExpectDown(ref).Reason)
		p.Expect("stays")

		f := node.Async[int](n, p.Self(), "price")
		r := nodetest.Expect[node.Request[string]](p)
		require.NoError(t, r.Reply(3))
		price, err := node.Await(t.Context(), n, f)
		require.NoError(t, err)
		require.Equal(t, 3, price)
	})
}

// A probe that gets something else, or nothing, fails the test and says what is there.
func TestProbeFails(t *testing.T) {
	const others = "\nthe other messages in the mailbox:\n"
	for want, f := range map[string]func(t testing.TB, p *nodetest.Probe){
		"the message is string a, and should be a int" + others + "  string b\n": func(t testing.TB, p *nodetest.Probe) {
			nodetest.Expect[int](p)
		},
		"message 2 of 2 is string b, and should be int 1\nno other message is in the mailbox": func(t testing.TB, p *nodetest.Probe) {
			p.Expect("a", 1)
		},
		"the message string b should be one of string c\nno other message is in the mailbox": func(t testing.TB, p *nodetest.Probe) {
			p.ExpectAnyOrder("c", "a")
		},
		"there should be no message" + others + "  string a\n  string b\n": func(t testing.TB, p *nodetest.Probe) {
			p.ExpectNone()
		},
		"a int that matches has not come within 1m0s: node: timed out" + others + "  string a\n  string b\n": func(t testing.TB, p *nodetest.Probe) {
			p.Timeout = time.Minute
			nodetest.Find[int](p, nil)
		},
		"string c has not come within 1s: node: timed out\nno other message is in the mailbox": func(t testing.TB, p *nodetest.Probe) {
			p.Timeout = time.Second
			p.Expect("a", "b", "c")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			got := failures(t, func(t testing.TB) {
				p := nodetest.NewProbe(t, nodetest.Start(t, node.Config{}))
				require.NoError(t, p.Send(p.Self(), "a"))
				require.NoError(t, p.Send(p.Self(), "b"))
				f(t, p)
			})
			require.Equal(t, want, got)
		})
	}
}

func TestRecord(t *testing.T) {
	each(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		p := nodetest.NewProbe(t, n)
		r := nodetest.Record(t, n, p.Self())
		pid, err := p.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			c.Monitor(msg.(node.PID))
			if err := c.Send(msg.(node.PID), "seen"); err != nil {
				return err
			}
			return errors.New("enough")
		}))
		require.NoError(t, err)
		require.NoError(t, p.Send(pid, p.Self()))
		p.Expect("seen")
		end := r.Await(func(e trace.Event) bool { return e.Kind == trace.Exit && e.Process == pid })
		require.ErrorContains(t, &node.ExitError{Reason: end.Message}, "enough")
		var kinds []trace.Kind
		for _, e := range r.Events(trace.All) {
			if e.Process == pid {
				kinds = append(kinds, e.Kind)
			}
		}
		require.Equal(t, []trace.Kind{trace.Receive, trace.Monitor, trace.Send, trace.Exit}, kinds)
		sent := r.Events(trace.Spawn)
		require.Len(t, sent, 1)
		require.Equal(t, pid, sent[0].Other)
	})
}

func TestLog(t *testing.T) {
	each(t, func(t *testing.T) {
		log := new(nodetest.Log)
		n := nodetest.Start(t, node.Config{Log: log.Logger()})
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { panic("oops") }))
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, 1))
		crash := log.Await(t, func(r nodetest.LogRecord) bool { return r.Message == "crash report" })
		require.Equal(t, "ERROR", crash.Level.String())
		require.Equal(t, []nodetest.LogRecord{crash}, log.About(pid))
		l := log.Logger().With("a", 1).WithGroup("g").With("b", 2).WithGroup("")
		l.Debug("deep", "c", 3)
		all := log.Records()
		require.Equal(t, map[string]any{"a": int64(1), "g.b": int64(2), "g.c": int64(3)}, all[len(all)-1].Attrs)
	})
}

func TestCluster(t *testing.T) {
	each(t, func(t *testing.T) {
		nodetest.CheckLeaks(t)
		c := nodetest.NewCluster(t, "a", "b", "c@10.0.0.3")
		a, b := c.Node("a"), c.Node("b@127.0.0.1")
		require.Len(t, a.Peers(), 2)
		p := nodetest.NewProbe(t, b)
		require.NoError(t, a.Send(p.Self(), "hello"))
		p.Expect("hello")
		pa := nodetest.NewProbe(t, a)
		pa.MonitorNode(b.Name())
		c.Break(a, b)
		require.Equal(t, b.Name(), nodetest.Expect[node.NodeDown](pa).Node)
		require.NoError(t, a.Send(p.Self(), "again"))
		p.Expect("again")
	})
}

// What is sent while a direction is cut arrives after it is healed, in order.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodetest.CheckLeaks(t)
		c := nodetest.NewCluster(t, "a", "b")
		a, b := c.Node("a"), c.Node("b")
		pa, pb := nodetest.NewProbe(t, a), nodetest.NewProbe(t, b)
		c.CutFrom(a, b)
		for i := range 3 {
			require.NoError(t, a.Send(pb.Self(), i))
		}
		require.NoError(t, b.Send(pa.Self(), "back"))
		pa.Expect("back")
		pb.ExpectNone()
		c.Heal(a, b)
		pb.Expect(0, 1, 2)

		c.Cut(a, b)
		ref := pa.Monitor(pb.Self())
		began := time.Now()
		pa.Timeout = time.Hour
		require.Equal(t, node.NoConnection, pa.ExpectDown(ref).Reason)
		require.Greater(t, time.Since(began), 30*time.Second, "the silence is noticed")
		synctest.Wait()
		c.Heal(a, b)
		require.NoError(t, a.Ping(t.Context(), b.Name()))
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nodetest.NewCluster(t, "a", "b")
		a, b := c.Node("a"), c.Node("b")
		p := nodetest.NewProbe(t, b)
		for _, d := range []time.Duration{time.Second, 0} { // the second message does not overtake
			c.Delay(a, b, d)
			require.NoError(t, a.Send(p.Self(), d))
			synctest.Wait()
		}
		began := time.Now()
		p.Expect(time.Second, time.Duration(0))
		require.Equal(t, time.Second, time.Since(began))
		c.Delay(b, a, 50*time.Millisecond)
		began = time.Now()
		require.NoError(t, a.Ping(t.Context(), b.Name()))
		require.Equal(t, 50*time.Millisecond, time.Since(began))
	})
}

// Each kind of leak fails the test, and what is not one does not.
func TestLeaks(t *testing.T) {
	idle := node.ActorFunc(func(*node.Context, any) error { return nil })
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	for what, c := range map[string]struct {
		leave func(t testing.TB, n *node.Node)
		want  string
	}{
		"nothing":  {func(testing.TB, *node.Node) {}, ""},
		"a daemon": {func(t testing.TB, n *node.Node) { _, _ = n.SpawnOpt(node.Options{Daemon: true}, idle) }, ""},
		"a probe":  {func(t testing.TB, n *node.Node) { nodetest.NewProbe(t, n) }, ""},
		"a process": {func(t testing.TB, n *node.Node) { _, _ = n.SpawnOpt(node.Options{Name: "till"}, idle) },
			"till: node.ActorFunc, idle, 0 messages wait"},
		"a timer": {func(t testing.TB, n *node.Node) { _, _ = n.SendAfter(time.Hour, node.Atom("till"), 1) }, "1 timers"},
		"a goroutine": {func(testing.TB, *node.Node) { go func() { <-stop }() },
			"goroutines that the test has started are left"},
		"one that ends soon": {func(testing.TB, *node.Node) { go func() { <-time.After(time.Millisecond) }() }, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got := failures(t, func(t testing.TB) {
				nodetest.CheckLeaks(t)
				c.leave(t, nodetest.Start(t, node.Config{}))
			})
			if c.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, c.want)
			}
		})
	}
}

// A node that does not exist is named, with those that do.
func TestNoNode(t *testing.T) {
	got := failures(t, func(t testing.TB) { nodetest.NewCluster(t, "a", "b").Node("c") })
	require.Equal(t, `the cluster has no node "c", but a@127.0.0.1, b@127.0.0.1`, got)
}

// With NODETEST_CHECK=1 the test fails if a message is changed after it was sent.
func TestCheck(t *testing.T) {
	change := func(t testing.TB) {
		n := nodetest.Start(t, node.Config{})
		p := nodetest.NewProbe(t, n)
		m := []int{1}
		require.NoError(t, n.Send(p.Self(), m))
		m[0] = 2
		nodetest.Expect[[]int](p)
	}
	assert.Empty(t, failures(t, change))
	t.Setenv("NODETEST_CHECK", "1")
	assert.Contains(t, failures(t, change), "[]int")
}

// A program that starts its node itself can be in a cluster, at an address of its own.
func TestClusterConfig(t *testing.T) {
	c := nodetest.NewCluster(t, "a")
	n, err := node.Start(c.Config(node.Config{Name: "own@10.0.0.1"}))
	require.NoError(t, err)
	defer n.Stop()
	c.Connect(c.Node("a"), n)
	require.Contains(t, n.Endpoints()[0].Addr, "10.0.0.1:")
	require.Contains(t, c.Node("a").Endpoints()[0].Addr, "127.0.0.1:")
}

// What a configuration says stays; what it leaves out suits a slow machine, but not in a bubble.
func TestConfig(t *testing.T) {
	cfg := nodetest.Config(t, node.Config{Distribution: &node.Distribution{}})
	assert.Equal(t, nodetest.Timeout, cfg.StopTimeout)
	assert.GreaterOrEqual(t, cfg.Distribution.Timing.TickTime, 2*nodetest.Timeout)
	said := node.Config{StopTimeout: 1, Distribution: &node.Distribution{Timing: node.Timing{ConnectTimeout: 2, TickTime: 3}}}
	cfg = nodetest.Config(t, said)
	cfg.Log = nil
	assert.Equal(t, said, cfg)
	synctest.Test(t, func(t *testing.T) { assert.Zero(t, nodetest.Config(t, node.Config{}).StopTimeout) })
}
