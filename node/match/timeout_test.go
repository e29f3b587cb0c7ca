package match_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/nodetest"
)

// watched is an actor that notes which message it gets when, in seconds from the start, and runs functions.
type watched struct {
	began time.Time
	mu    sync.Mutex
	seen  []string
}

func (w *watched) note(what any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, fmt.Sprintf("%v %v", time.Since(w.began).Seconds(), what))
}

func (w *watched) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case func(c *node.Context) error:
		return m(c)
	case match.Timeout:
		w.note("timeout")
	case string:
		return node.ErrUnhandled
	default:
		w.note(m)
	}
	return nil
}

// taken returns what has been noted, and forgets it. All processes wait then.
func (w *watched) taken() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

const second = time.Second

// places are the ways to run an Actor.
var places = map[string]node.Options{"stage": {}, "detached": {Place: node.Detached()}}

// bubble runs f with an actor in each place; do lets the actor run a function, which counts as a message.
func bubble(t *testing.T, f func(t *testing.T, n *node.Node, pid node.PID, w *watched, do func(f func(c *node.Context)))) {
	for name, o := range places {
		t.Run(name, func(t *testing.T) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
				w := &watched{began: time.Now()}
				pid, err := n.SpawnOpt(o, w)
				require.NoError(t, err)
				f(t, n, pid, w, func(f func(c *node.Context)) {
					require.NoError(t, n.Send(pid, func(c *node.Context) error { f(c); return nil }))
					synctest.Wait()
				})
			})
		})
	}
}

// A timeout comes when nothing has been handled for its time, again and again, until it is turned off.
func TestSetTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node, pid node.PID, w *watched, do func(func(c *node.Context))) {
		do(func(c *node.Context) { match.SetTimeout(c, 10*second) })
		time.Sleep(9 * second)
		require.NoError(t, n.Send(pid, 1)) // handled: the time begins anew
		time.Sleep(9 * second)
		require.NoError(t, n.Send(pid, "left")) // not handled
		time.Sleep(12 * second)
		require.Equal(t, []string{"9 1", "19 timeout", "29 timeout"}, w.taken())
		do(func(c *node.Context) { match.SetTimeout(c, second) }) // at 30, shorter
		time.Sleep(1500 * time.Millisecond)
		do(func(c *node.Context) { match.SetTimeout(c, 3*second) }) // at 31.5, longer
		time.Sleep(4 * second)
		do(func(c *node.Context) { match.SetTimeout(c, node.Infinity) })
		time.Sleep(time.Hour)
		require.Equal(t, []string{"31 timeout", "34.5 timeout"}, w.taken())
		i, err := n.Info(pid)
		require.NoError(t, err)
		require.Equal(t, "*match_test.watched", i.Behaviour)
		require.Contains(t, i.Code, "node/match_test")
		require.Zero(t, n.Stats().Timers, "nothing of it is left")
		do(func(c *node.Context) { match.SetTimeout(c, 0) })
		time.Sleep(second)
		require.Len(t, w.taken(), 1, "once")
		require.Zero(t, n.Stats().Timers)
	})
}

// A node that copies messages does not copy those of the timers.
func TestTimeoutOfCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Workers: 2, Isolation: isolation.Config{Copy: true}})
		t.Cleanup(synctest.Wait)
		var came []time.Duration
		began := time.Now()
		_, err := n.Spawn(match.New(match.After(second, func() { came = append(came, time.Since(began)) })))
		require.NoError(t, err)
		time.Sleep(3*second + second/2)
		synctest.Wait()
		require.Equal(t, []time.Duration{second, 2 * second, 3 * second}, came)
	})
}

// The time that a handler takes does not count, and a message that comes meanwhile resets the timeout.
func TestSlowHandler(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node, pid node.PID, w *watched, do func(func(c *node.Context))) {
		do(func(c *node.Context) { match.SetTimeout(c, 2*second) })
		go do(func(*node.Context) { time.Sleep(10 * second) })
		time.Sleep(5 * second)
		require.NoError(t, n.Send(pid, 1))
		time.Sleep(6 * second)
		require.Equal(t, []string{"10 1"}, w.taken())
		time.Sleep(2 * second)
		require.Equal(t, []string{"12 timeout"}, w.taken())
	})
}

// Become, Push and Unbecome cancel the timeout, and a Match starts its own, whatever stands in front of the behaviour.
func TestTimeoutIsVoid(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node, pid node.PID, w *watched, do func(func(c *node.Context))) {
		after := match.New(
			match.On(func(m int) { w.note(m) }),
			match.Do(func(c *node.Context, f func(c *node.Context) error) error { return f(c) }),
			match.After(3*second, func() { w.note("after") }),
			match.On(func(m any) { w.note(fmt.Sprintf("other %v", m)) }),
		)
		for i, change := range []func(c *node.Context){
			func(c *node.Context) { c.Become(w) }, func(c *node.Context) { c.Push(w) }, func(c *node.Context) { c.Unbecome() },
			func(c *node.Context) { c.BecomeFunc(w.Receive) }, func(c *node.Context) { c.PushFunc(w.Receive) },
		} {
			do(func(c *node.Context) { match.SetTimeout(c, second) })
			do(change)
			time.Sleep(time.Minute)
			require.Empty(t, w.taken(), "%d", i)
			do(func(c *node.Context) { change(c); match.SetTimeout(c, second) })
			time.Sleep(1500 * time.Millisecond)
			require.Len(t, w.taken(), 1, "%d", i)
			do(func(c *node.Context) { match.SetTimeout(c, node.Infinity) })
		}
		// This one has a future to continue with meanwhile.
		future := node.Async[int](n, pid, "who knows")
		do(func(c *node.Context) {
			futures.Then(c, future, func(c *node.Context, _ int, err error) error { w.note(err); return nil })
			c.Push(after)
		})
		require.Len(t, w.taken(), 1, "the request")
		w.began = time.Now()
		time.Sleep(2 * second)
		require.NoError(t, n.Send(pid, 1))
		time.Sleep(4 * second)
		do(func(c *node.Context) { c.Unbecome() })
		time.Sleep(time.Minute)
		do(func(c *node.Context) { c.Become(after); c.Push(w) })
		time.Sleep(time.Minute)
		do(func(c *node.Context) { c.Unbecome() })
		time.Sleep(4 * second)
		require.Equal(t, []string{"2 1", "5 after", "129 after"}, w.taken())
	})
}

// The timeout of a spawned Match begins at once; messages that no case fits do not extend it.
func TestAfterOfSpawned(t *testing.T) {
	for name, o := range places {
		t.Run(name, func(t *testing.T) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
				w := &watched{began: time.Now()}
				m := match.New(
					match.On(func(int) { w.note("int") }),
					match.After(2*second, func(c *node.Context) error {
						w.note("after")
						return node.ErrStop
					}),
				)
				pid, err := n.SpawnOpt(o, m)
				require.NoError(t, err)
				ref := h.Monitor(pid)
				other, err := n.SpawnOpt(o, m) // the same Match
				require.NoError(t, err)
				time.Sleep(second)
				require.NoError(t, n.Send(pid, "left"))
				require.NoError(t, n.Send(other, 1))
				require.Equal(t, node.Normal, h.ExpectDown(ref).Reason)
				require.Equal(t, []string{"1 int", "2 after"}, w.taken())
				time.Sleep(2 * second)
				require.Equal(t, []string{"3 after"}, w.taken())
				require.False(t, n.IsAlive(other))
				require.Zero(t, n.Stats().Timers)
			})
		})
	}
}

// In a receive the time runs from its beginning; messages that no case fits do not count.
func TestAfterInReceive(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
		began := time.Now()
		var seen []string
		m := match.New(
			match.On(func(n int) { seen = append(seen, fmt.Sprint(n)) }),
			match.After(2*second, func(*node.Process) error {
				seen = append(seen, fmt.Sprint("after ", time.Since(began)))
				return node.ErrTimeout
			}),
		)
		self := h.Self()
		for d, msg := range map[time.Duration]any{second: "left", 2500 * time.Millisecond: 7} {
			_, err := n.SendAfter(d, self, msg)
			require.NoError(t, err)
		}
		require.Equal(t, node.ErrTimeout, match.Receive(h.Process, m))
		require.NoError(t, match.Receive(h.Process, m))
		require.Equal(t, node.ErrTimeout, match.Receive(h.Process, m))
		require.Equal(t, []string{"after 2s", "7", "after 4.5s"}, seen)
		require.Equal(t, "left", nodetest.Expect[string](h))
	})
}

// Messages, timeouts and changes of the behaviour at the same moment: no cancelled timeout is seen, and none is
// missing.
func TestTimeoutRace(t *testing.T) {
	r := testkit.Rand(t)
	for name, o := range places {
		t.Run(name, func(t *testing.T) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
				var mu sync.Mutex
				due := time.Time{} // of the timeout; zero: none is due
				timeouts := 0
				var w node.ActorFunc
				w = func(c *node.Context, msg any) error {
					mu.Lock()
					defer mu.Unlock()
					switch m := msg.(type) {
					case time.Duration:
						match.SetTimeout(c, m)
						due = time.Now().Add(m)
						if m == node.Infinity {
							due = time.Time{}
						}
						return nil
					case bool:
						c.Become(w)
						due = time.Time{}
						return nil
					case match.Timeout:
						timeouts++
						if due.IsZero() || time.Now().Before(due) {
							return fmt.Errorf("a timeout at %v, which is due at %v", time.Now(), due)
						}
					case string:
						return node.ErrUnhandled
					}
					if !due.IsZero() {
						due = time.Now().Add(3 * second)
					}
					return nil
				}
				pid, err := n.SpawnOpt(o, w)
				require.NoError(t, err)
				for range 500 {
					for range r.IntN(4) {
						var msg any
						switch r.IntN(6) {
						case 0:
							msg = true
						case 1:
							msg = node.Infinity
						case 2, 3:
							msg = 3 * second
						case 4:
							msg = "left"
						default:
							msg = 1
						}
						go n.Send(pid, msg)
					}
					time.Sleep(time.Duration(r.IntN(4)) * second)
					synctest.Wait()
					require.True(t, n.IsAlive(pid), log.String())
					mu.Lock()
					missing := !due.IsZero() && time.Now().After(due)
					mu.Unlock()
					require.False(t, missing, "one is missing")
				}
				require.NoError(t, n.Send(pid, node.Infinity))
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				require.NotZero(t, timeouts)
				require.Zero(t, n.Stats().Timers)
			})
		})
	}
}
