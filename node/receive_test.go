package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// fill sends msgs to the process itself.
func fill(t testing.TB, p *node.Process, msgs ...any) {
	for _, m := range msgs {
		assert.NoError(t, p.Send(p.Self(), m))
	}
}

func is(want any) func(any) bool { return func(m any) bool { return m == want } }

func TestReceiveTakesTheFirstThatMatches(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, 1, "a", 2, "b", 3.5, "c", 3)
			assert.Equal(t, "a", node.ReceiveOf[string](p))
			assert.Equal(t, 3.5, node.ReceiveOf[float64](p))
			assert.Equal(t, 3, p.ReceiveMatch(is(3)))
			assert.Equal(t, "b", node.ReceiveOf[string](p))
			assert.Equal(t, 1, p.Receive())
			assert.Equal(t, []any{2, "c"}, actortest.Rest(p))
		})
	})
}

func TestReceiveByInterface(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, 1, time.Second, context.Canceled)
			assert.Equal(t, context.Canceled, node.ReceiveOf[error](p))
			assert.Equal(t, time.Second, node.ReceiveOf[fmt.Stringer](p))
			assert.Equal(t, 1, node.ReceiveOf[any](p))
		})
	})
}

// A message that comes while the process waits for another stays, in its place.
func TestReceiveWaitsForTheMatch(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, "old")
			me, looked := p.Self(), make(chan struct{}, 8)
			go func() {
				for _, m := range []any{1, 2, "wanted", 3} {
					<-looked // the process has already looked at the message
					assert.NoError(t, n.Send(me, m))
				}
			}()
			got := p.ReceiveMatch(func(m any) bool {
				looked <- struct{}{}
				return m == "wanted"
			})
			assert.Equal(t, "wanted", got)
			assert.Equal(t, 3, p.ReceiveMatch(is(3)))
			assert.Equal(t, []any{"old", 1, 2}, actortest.Rest(p))
		})
	})
}

// A receive within the handling of another message, as in a state machine.
func TestReceiveNested(t *testing.T) {
	type open struct{ id int }
	type body struct{ id, k int }
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, body{2, 0}, open{1}, body{1, 0}, open{2}, body{2, 1}, body{1, 1}, "end")
			var got []any
			for range 2 {
				o := node.ReceiveOf[open](p)
				for k := range 2 {
					got = append(got, p.ReceiveMatch(is(body{o.id, k})))
				}
			}
			assert.Equal(t, []any{body{1, 0}, body{1, 1}, body{2, 0}, body{2, 1}}, got)
			assert.Equal(t, []any{"end"}, actortest.Rest(p))
		})
	})
}

func TestReceiveTimeouts(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1})
			s.Run(t, n, func(p *node.Process) {
				began := time.Now()
				since := func() time.Duration { return time.Since(began) }

				// Negative: an error at once, even if there is a message.
				fill(t, p, "there")
				_, err := p.ReceiveWithin(-1, nil)
				assert.ErrorIs(t, err, node.ErrArgument)
				_, err = node.ReceiveOfWithin[string](p, -time.Hour)
				assert.ErrorIs(t, err, node.ErrArgument)

				// Zero: only what is there.
				_, err = node.ReceiveOfWithin[int](p, 0)
				assert.ErrorIs(t, err, node.ErrTimeout)
				m, err := p.ReceiveWithin(0, nil)
				assert.NoError(t, err)
				assert.Equal(t, "there", m)
				_, err = p.ReceiveWithin(0, nil)
				assert.ErrorIs(t, err, node.ErrTimeout)
				assert.Zero(t, since())

				// Positive: it waits to the end, with messages that do not match.
				n.SendAfter(100*time.Millisecond, p.Self(), "other")
				_, err = node.ReceiveOfWithin[int](p, time.Second)
				assert.ErrorIs(t, err, node.ErrTimeout)
				assert.Equal(t, time.Second, since())
				assert.Equal(t, "other", p.Receive())

				// Positive: the message comes in time.
				n.SendAfter(300*time.Millisecond, p.Self(), 7)
				i, err := node.ReceiveOfWithin[int](p, time.Second)
				assert.NoError(t, err)
				assert.Equal(t, 7, i)
				assert.Equal(t, 1300*time.Millisecond, since())

				// The timeout of an earlier receive does not end a later one.
				_, err = p.ReceiveWithin(time.Hour, nil)
				assert.ErrorIs(t, err, node.ErrTimeout)
				assert.Equal(t, time.Hour+1300*time.Millisecond, since())

				// Infinity.
				n.SendAfter(1000*time.Hour, p.Self(), "at last")
				m, err = p.ReceiveWithin(node.Infinity, nil)
				assert.NoError(t, err)
				assert.Equal(t, "at last", m)
				assert.Empty(t, actortest.Rest(p))
			})
			assert.Empty(t, n.Stats().DeadLetters)
		})
	})
}

// A process that dies while it waits with a timeout leaves nothing behind.
func TestKilledInATimedReceive(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1})
			unwound := make(chan struct{})
			pid, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
				defer close(unwound)
				p.ReceiveWithin(time.Second, nil)
				t.Error("the process goes on")
				return nil
			}))
			require.NoError(t, err)
			synctest.Wait()
			n.Exit(pid, node.Kill)
			<-unwound
			<-time.After(2 * time.Second) // the timer would have fired
			assert.Empty(t, n.Stats().DeadLetters)
			assert.Zero(t, n.Stats().Lingering)
		})
	})
}

// Messages that a receive leaves do not keep it from waiting: no busy wait, no lost wake-up.
func TestReceiveAmongMany(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) {
			var old []any
			for i := range 1000 {
				old = append(old, i)
			}
			fill(t, p, old...)
			echo, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
				return c.Send(m.(node.PID), "pong")
			}))
			assert.NoError(t, err)
			for range 50 {
				p.Send(echo, p.Self())
				assert.Equal(t, "pong", node.ReceiveOf[string](p))
			}
			assert.Equal(t, old, actortest.Rest(p))
		})
	})
}

// The reply to a call is not a message: older messages stay, in order.
func TestReplySkipsOlderMessages(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		server, err := n.Spawn(actortest.Actor.Actor(counter()))
		require.NoError(t, err)
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, 1, "two", 3)
			for k := range 10 {
				got, err := node.Call[int](context.Background(), p, server, add{1})
				assert.NoError(t, err)
				assert.Equal(t, k+1, got)
			}
			fill(t, p, 4)
			assert.Equal(t, []any{1, "two", 3, 4}, actortest.Rest(p))
		})
	})
}

// talk drives the behaviours of the tests below: messages for others stay.
type talk struct {
	name string
	log  node.PID
}

func (b talk) Receive(c *node.Context, m any) error {
	switch m {
	case "become " + b.name:
		return node.ErrUnhandled
	case "become a", "become b":
		c.Become(talk{m.(string)[len("become "):], b.log})
	case "push":
		c.Push(talk{b.name + "'", b.log})
	case "pop":
		c.Send(b.log, c.Unbecome())
	default:
		if v, ok := m.(tagged); ok && v.want != b.name {
			return node.ErrUnhandled
		}
		c.Send(b.log, fmt.Sprint(b.name, m))
	}
	return nil
}

// An error that wraps ErrUnhandled leaves the message in the mailbox, too, even after a handler that has lost its
// stage.
func TestUnhandledWrapped(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Detached} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			pid, err := n.SpawnOpt(s.Options, node.ActorFunc(func(c *node.Context, m any) error {
				switch m {
				case "become":
					c.Become(node.ActorFunc(func(c *node.Context, m any) error { return c.Send(h.Self(), m) }))
					return nil
				case "call":
					_, err := actortest.CallWithin[any](0, c, h.Self(), "lose the stage")
					assert.ErrorIs(t, err, node.ErrTimeout)
				}
				return fmt.Errorf("not now: %w", node.ErrUnhandled)
			}))
			require.NoError(t, err)
			for _, m := range []any{1, "call", 2, "become"} {
				require.NoError(t, h.Send(pid, m))
			}
			for _, want := range []any{1, "call", 2} {
				got, err := h.ReceiveWithin(testkit.Limit, func(m any) bool { _, request := m.(node.Request[string]); return !request })
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
		})
	}
}

// tagged is a message that only the behaviour of that name wants.
type tagged struct {
	want string
	k    int
}

func (m tagged) String() string { return fmt.Sprint(" ", m.want, m.k) }

func TestBecome(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Detached} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			pid, err := n.SpawnOpt(s.Options, talk{"a", h.Self()})
			require.NoError(t, err)
			for _, m := range []any{
				tagged{"b", 1}, tagged{"a", 2}, tagged{"b", 3}, tagged{"a'", 4}, // a 2
				"become b", // b 1, b 3
				tagged{"b", 5}, "become a", tagged{"b", 6}, tagged{"a", 7},
				"push", // a' 4
				tagged{"a", 8}, tagged{"a'", 9},
				"pop", // true, a 8
				"pop", // false
				tagged{"a", 10},
			} {
				require.NoError(t, h.Send(pid, m))
			}
			for _, want := range []any{
				"a a2", "b b1", "b b3", "b b5", "a a7", "a' a'4", "a' a'9", true, "a a8", false, "a a10",
			} {
				assert.Equal(t, want, nodetest.Expect[any](h))
			}
			require.NoError(t, h.Send(pid, "become b"))
			assert.Equal(t, "b b6", nodetest.Expect[any](h))
			h.ExpectNone()
		})
	}
}

func TestUnbecomeToTheBottom(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Detached} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			pid, err := n.SpawnOpt(s.Options, talk{"a", h.Self()})
			require.NoError(t, err)
			for range 10 {
				require.NoError(t, h.Send(pid, "push"))
			}
			for range 11 {
				require.NoError(t, h.Send(pid, "pop"))
			}
			for i := range 11 {
				assert.Equal(t, i < 10, nodetest.Expect[bool](h))
			}
			require.NoError(t, h.Send(pid, tagged{"a", 1}))
			assert.Equal(t, "a a1", nodetest.Expect[string](h))
		})
	}
}

// The model tests: a random script of messages and receives, compared with a slice from which the first match is taken.

// item is a message of the model: receives select by its kind.
type item struct{ kind, k int }

// model is the mailbox as the Reference Manual describes it.
type model []item

func (m *model) take(kinds []bool) (item, bool) {
	for i, v := range *m {
		if kinds[v.kind] {
			*m = slices.Delete(*m, i, i+1)
			return v, true
		}
	}
	return item{}, false
}

const kinds = 4

func pick(r *rand.Rand) []bool {
	set := make([]bool, kinds)
	for i := range set {
		set[i] = r.IntN(3) == 0
	}
	return set
}

func TestReceiveModel(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		r := testkit.Rand(t)
		s.Run(t, n, func(p *node.Process) {
			var m model
			next := 0
			// Two ways to send: from the process itself, and from another goroutine.
			send := func() {
				v := item{r.IntN(kinds), next}
				next++
				m = append(m, v)
				if r.IntN(2) == 0 {
					p.Send(p.Self(), v)
				} else {
					n.Send(p.Self(), v)
				}
			}
			for range 4000 {
				switch r.IntN(6) {
				case 0, 1, 2:
					send()
				case 3: // wait for a future message
					set := pick(r)
					want, ok := m.take(set)
					if !ok {
						kind := slices.Index(set, true)
						if kind < 0 {
							continue
						}
						want = item{kind, next}
						next++
						me := p.Self()
						go n.Send(me, want)
					}
					got := p.ReceiveMatch(func(v any) bool { return set[v.(item).kind] })
					if !assert.Equal(t, want, got) {
						return
					}
				case 4: // look
					set := pick(r)
					want, ok := m.take(set)
					got, err := p.ReceiveWithin(0, func(v any) bool { return set[v.(item).kind] })
					if !assert.Equal(t, ok, err == nil) || ok && !assert.Equal(t, want, got) {
						return
					}
				case 5: // the oldest
					if len(m) == 0 {
						continue
					}
					want := m[0]
					m = m[1:]
					if !assert.Equal(t, want, p.Receive()) {
						return
					}
				}
			}
			for _, want := range m {
				if !assert.Equal(t, want, p.Receive()) {
					return
				}
			}
			assert.Empty(t, actortest.Rest(p))
		})
	})
}

// chooser is an Actor that wants the kinds in its set, and changes the set when
// the script says so.
type chooser struct {
	set    []bool
	script [][]bool // the next sets: one for each message it takes
	got    []item
	done   chan []item
	total  int
}

func (a *chooser) Receive(c *node.Context, m any) error {
	v, ok := m.(item)
	if !ok {
		return fmt.Errorf("got %v", m)
	}
	if !a.set[v.kind] {
		return node.ErrUnhandled
	}
	a.got = append(a.got, v)
	if len(a.got) == a.total {
		a.done <- a.got
		return node.ErrStop
	}
	a.set = a.script[len(a.got)]
	c.Become(a)
	return nil
}

func TestUnhandledModel(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Detached} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Budget: 8, Workers: 2, Stages: 2})
			r := testkit.Rand(t)
			for range 20 {
				// The order in which Erlang's receive takes the messages is decided beforehand: each set contains the
				// kind of a message that is left.
				const total = 120
				var all, m model
				for k := range total {
					all = append(all, item{r.IntN(kinds), k})
				}
				m = slices.Clone(all)
				a := &chooser{total: total, done: make(chan []item, 1)}
				var want []item
				for len(m) > 0 {
					set := pick(r)
					set[m[r.IntN(len(m))].kind] = true
					v, _ := m.take(set)
					a.script, want = append(a.script, set), append(want, v)
				}
				// With these sets the order of arrival alone decides only if all messages are there before the first is
				// taken.
				a.set = make([]bool, kinds)
				go4it := append([]bool{}, a.script[0]...)
				gate := node.ActorFunc(func(c *node.Context, m any) error {
					if m == "go" {
						a.set = go4it
						c.Become(a)
						return nil
					}
					return node.ErrUnhandled
				})
				pid, err := n.SpawnOpt(s.Options, gate)
				require.NoError(t, err)
				for _, v := range all {
					require.NoError(t, n.Send(pid, v))
				}
				require.NoError(t, n.Send(pid, "go"))
				require.Equal(t, want, testkit.Receive(t, a.done))
			}
		})
	}
}
