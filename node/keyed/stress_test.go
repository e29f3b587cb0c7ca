package keyed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// ledger is what the processes of a key have done.
type ledger struct {
	code    atomic.Int32 // pieces of code that run
	starts  atomic.Int32
	handled atomic.Int64
}

// booked is an Actor that writes into the ledger of its key, and fails the test if other code of the key runs.
type booked struct {
	t     testing.TB
	l     *ledger
	seed  uint64
	echo  node.PID
	waits int // requests that have no answer yet
	sum   int
}

func (b *booked) alone() func() {
	if b.l.code.Add(1) != 1 {
		assert.Fail(b.t, "two processes of a key run")
	}
	return func() { b.l.code.Add(-1) }
}

func (b *booked) Init(c *node.Context) error {
	defer b.alone()()
	b.l.starts.Add(1)
	c.TrapExit(b.seed%2 == 0)
	runtime.Gosched()
	if b.seed%5 == 0 {
		c.Blocking(runtime.Gosched)
	}
	return nil
}

func (b *booked) Receive(c *node.Context, msg any) error {
	defer b.alone()()
	switch m := msg.(type) {
	case node.Request[int]:
		b.sum += m.Body
		b.l.handled.Add(1)
		m.Reply([2]int{int(b.l.starts.Load()), b.sum})
	case int:
		b.sum += m
		b.l.handled.Add(1)
	case string: // ask, and count once the answer has come
		b.waits++
		node.SendRequest(c, b.echo, nil, m)
	case node.Result:
		b.waits--
		b.l.handled.Add(1)
	case time.Duration:
		c.Blocking(func() { time.Sleep(m) })
		b.l.handled.Add(1)
	case error:
		return m
	case node.Exited:
		if b.waits > 0 && m.Reason == node.Shutdown && b.seed != 0 {
			assert.Fail(b.t, "it was ended while it waited for an answer")
		}
		c.Blocking(runtime.Gosched) // saves its state
		return node.ExitWith(m.Reason)
	}
	return nil
}

func echo(t testing.TB, n *node.Node) node.PID {
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		c.Blocking(runtime.Gosched)
		return msg.(node.Request[string]).Reply(1)
	}))
	require.NoError(t, err)
	return pid
}

// However uses, ends for idleness and for count coincide, nothing that was sent is lost, and there is one process of a key
// at most. Each caller works with few keys, so that they coincide often.
func TestNothingIsLost(t *testing.T) {
	for _, from := range []string{"goroutines", "handles", "Actors"} {
		t.Run(from, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			seed := testkit.Seed(t)
			to := echo(t, n)
			ledgers := make([]ledger, 12)
			var starts atomic.Uint64
			g := start(t, n, keyed.Kind[int]{Max: 8, Idle: time.Millisecond, New: func(key int) (node.Actor, error) {
				return &booked{t: t, l: &ledgers[key], seed: seed + 1 + starts.Add(1), echo: to}, nil
			}})
			var sent [12]atomic.Int64
			work := func(caller node.Caller, r *rand.Rand) {
				ctx := testkit.Context(t)
				for range 1000 {
					key := r.IntN(len(ledgers))
					var err error
					switch r.IntN(5) {
					case 0:
						_, err = keyed.Call[[2]int](ctx, caller, g, key, 1)
					case 1:
						err = keyed.Send(ctx, caller, g, key, 1)
					case 2:
						err = keyed.Send(ctx, caller, g, key, "ask")
					case 3:
						err = g.Use(ctx, caller, key, func(pid node.PID) error {
							sent[key].Add(1)
							return errors.Join(node.Send(caller, pid, 1), node.Send(caller, pid, "ask"))
						})
					case 4:
						if err = nil; r.IntN(20) == 0 {
							time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond) //nolint // idle now and then
						}
						continue
					}
					if errors.Is(err, keyed.ErrFull) {
						runtime.Gosched()
						continue
					}
					if !assert.NoError(t, err) {
						return
					}
					sent[key].Add(1)
				}
			}
			var all sync.WaitGroup
			for i := range 4 {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				switch from {
				case "goroutines":
					all.Go(func() { work(n, r) })
				case "handles":
					h := nodetest.NewProbe(t, n)
					all.Go(func() { work(h, r) })
				case "Actors":
					all.Add(1)
					_, err := n.Spawn(&initializer{init: func(c *node.Context) error { work(c, r); all.Done(); return nil }})
					require.NoError(t, err)
				}
			}
			all.Wait()
			testkit.UntilTrue(t, func() bool { return g.Stats().Processes == 0 }, "all have ended for idleness")
			for key := range ledgers {
				assert.Equal(t, sent[key].Load(), ledgers[key].handled.Load(), "key %d", key)
			}
			s := g.Stats()
			assert.Zero(t, s.Crashed)
			assert.Equal(t, s.Started, s.EndedIdle+s.EndedFull)
			t.Logf("%+v", s)
		})
	}
}

// Whatever ends processes, and the group, there is one process of a key at most, each use comes to an end, and the
// processes that are counted are those that there are.
func TestChaos(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	seed := testkit.Seed(t)
	to := echo(t, n)
	ledgers := make([]ledger, 6)
	g, err := keyed.New(keyed.Kind[int]{Name: "group", Max: 5, Idle: time.Millisecond, Backoff: time.Millisecond,
		Restart: seed%2 == 0,
		New:     func(key int) (node.Actor, error) { return &booked{t: t, l: &ledgers[key], echo: to}, nil }})
	require.NoError(t, err)
	_, err = supervisor.Start(t.Context(), n, supervisor.Spec{Intensity: 1 << 20, Children: []supervisor.Child{g.Child()}},
		node.Options{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for range 500 {
				ctx, cancel := context.WithTimeout(testkit.Context(t), time.Duration(r.IntN(20))*time.Millisecond)
				switch key := r.IntN(len(ledgers)); r.IntN(8) {
				case 0, 1:
					keyed.Call[[2]int](ctx, n, g, key, 1)
				case 2:
					keyed.Send(ctx, n, g, key, "ask")
				case 3:
					keyed.Send(ctx, n, g, key, errors.New("crash"))
				case 4:
					keyed.Send(ctx, n, g, key, node.ErrStop)
				case 5:
					g.End(ctx, n, key)
				case 6:
					if pid, ok := g.Lookup(key); ok {
						n.Exit(pid, []any{node.Kill, node.Shutdown, node.Normal, "why"}[r.IntN(4)])
					}
				case 7:
					if r.IntN(10) == 0 {
						n.Exit(node.Atom("group"), node.Kill)
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	for key := range ledgers { // all work again
		testkit.Until(t, func() string {
			if _, err := keyed.Call[[2]int](testkit.Context(t), n, g, key, 1); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	testkit.Until(t, func() string {
		if s := g.Stats(); s.Processes != 0 {
			return fmt.Sprintf("all should have ended for idleness: %+v", s)
		}
		return ""
	})
	t.Logf("%+v", g.Stats())
}

// A random history, in a bubble with its own clock, against a model that knows for each key when it was last used: within Idle
// after that its process is the same, and a quarter later it has ended, unless it has more to do.
func TestModel(t *testing.T) {
	seed := testkit.Seed(t)
	bubble(t, func(t *testing.T, n *node.Node) {
		r := rand.New(rand.NewPCG(seed, 2))
		const idle = time.Minute
		type state struct {
			alive  bool
			sum    int
			last   time.Time // end of the last use
			busy   time.Time // end of the last long handler
			starts int
		}
		model := make([]state, 8)
		ledgers := make([]ledger, len(model))
		to := echo(t, n)
		g := start(t, n, keyed.Kind[int]{Idle: idle, New: func(key int) (node.Actor, error) {
			return &booked{t: t, l: &ledgers[key], seed: uint64(key + 1), echo: to}, nil
		}})
		for step := range 1000 {
			key := r.IntN(len(model))
			m := &model[key]
			at := fmt.Sprintf("step %d, key %d, seed %d", step, key, seed)
			now := time.Now()
			_, there := g.Lookup(key)
			unused, rests := now.Sub(m.last), now.Sub(m.busy)
			switch {
			case !m.alive || min(unused, rests) > idle+idle/4+time.Millisecond:
				require.False(t, there, at)
				m.alive, m.sum = false, 0
			case unused < idle || rests < idle*3/4:
				require.True(t, there, at)
			default:
				if !there {
					m.alive, m.sum = false, 0
				}
			}
			begin := func() {
				if !m.alive {
					m.alive = true
					m.starts++
				}
			}
			switch what := r.IntN(10); what {
			case 0, 1, 2:
				time.Sleep(time.Duration(r.Int64N(int64(idle))))
			case 3: // a long handler
				d := time.Duration(r.Int64N(int64(2 * idle)))
				begin()
				require.NoError(t, keyed.Send(t.Context(), n, g, key, d), at)
				if m.last = now; m.busy.Before(now) {
					m.busy = now
				}
				m.busy = m.busy.Add(d)
				synctest.Wait()
			case 4:
				if m.alive && now.After(m.busy) {
					require.NoError(t, g.End(t.Context(), n, key), at)
					m.alive, m.sum = false, 0
				}
			default:
				begin()
				if m.busy.After(now) { // it waits for the long handler
					now = m.busy
				}
				got, err := keyed.Call[[2]int](t.Context(), n, g, key, what)
				require.NoError(t, err, at)
				m.sum += what
				m.last = now
				require.Equal(t, [2]int{m.starts, m.sum}, got, at)
			}
		}
		time.Sleep(time.Hour) // all handlers return
		require.Zero(t, g.Stats().Crashed)
	})
}
