package executor

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// call sends a message as an inline worker does, and calls RunPending.
func (g *InlineWorker) call(a *actor, msg any) bool {
	if a.in.Push(&inbox.Node{Msg: msg}) == mailbox.Wake {
		g.Inject(&a.Entity)
	}
	return g.RunPending()
}

// needInline skips a test if the pool's workers run the tasks that inline workers wake.
func needInline(t *testing.T) {
	if !Inline {
		t.Skip("built with a tag that switches inline workers off")
	}
}

// An inline worker runs the tasks it wakes on its own goroutine, and the tasks these wake, up to a few stages away;
// where there are enough workers it leaves them to those.
func TestGuestRuns(t *testing.T) {
	needInline(t)
	p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
	me := fiber.GoroutineID()
	here, log := make(chan uint64, 1), make(chan string, 10)
	second := newActor(p, 1, func(_ *Worker, msg any) { log <- fmt.Sprint(msg, fiber.GoroutineID() == me) })
	first := newActor(p, 0, func(w *Worker, msg any) {
		second.send(w, msg)
		here <- fiber.GoroutineID()
	})
	g := p.NewInlineWorker(func() { t.Error("nothing keeps it") })
	require.True(t, g.RunPending(), "nothing to do")
	for range 3 {
		require.True(t, g.call(first, "inline: "))
		require.Equal(t, me, <-here)
		require.Equal(t, "inline: true", <-log)
	}
	require.Len(t, p.free, 1, "one worker for all of it")

	busy, release := make(chan struct{}), make(chan struct{})
	newActor(p, 0, func(*Worker, any) { close(busy); <-release }).send(nil, "work")
	<-busy
	require.True(t, g.call(second, "by a worker: "))
	close(release)
	require.Equal(t, "by a worker: false", testkit.Receive(t, log))
}

// A handler that waits, in whatever way, keeps the goroutine of the inline worker but not its place, and its stage goes
// on.
func TestGuestIsKept(t *testing.T) {
	needInline(t)
	for name, wait := range map[string]func(w *Worker, c chan struct{}){
		"says so":   func(w *Worker, c chan struct{}) { w.Block(); holdUp(c) },
		"does not":  func(_ *Worker, c chan struct{}) { holdUp(c) },
		"never":     func(*Worker, chan struct{}) { runtime.Goexit() },
		"is looked": func(w *Worker, c chan struct{}) { w.pool.Borrow(w.pool.Stage(0), func() {}); holdUp(c) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
				var log record[string]
				release := make(chan struct{})
				a := newActor(p, 0, func(w *Worker, msg any) {
					log.add("begins")
					wait(w, release)
					log.add("ends")
				})
				other := newActor(p, 0, func(*Worker, any) { log.add("other") })
				go func() {
					g := p.NewInlineWorker(func() { log.add("left") })
					log.add(fmt.Sprint("inline: ", g.call(a, "wait")))
				}()
				pass(p.cfg.Blocked)
				require.Equal(t, []string{"begins", "left"}, log.got(), "once, before the handler is blocked for long")
				other.send(nil, "go on")
				synctest.Wait()
				require.Equal(t, "other", log.got()[2])
				close(release)
				synctest.Wait()
				if name != "never" {
					require.Equal(t, []string{"ends", "inline: false"}, log.got()[3:])
				}
			})
		})
	}
}

// A stage with much to do is left to workers after some turns.
func TestGuestGoesOn(t *testing.T) {
	needInline(t)
	bubble(t, Config{Workers: 2, Stages: 1}, func(t *testing.T, p *Pool) {
		left, mine, me := 100, 0, fiber.GoroutineID()
		var a *actor
		a = newActor(p, 0, func(w *Worker, _ any) {
			if fiber.GoroutineID() == me {
				mine++
			}
			if left--; left > 0 {
				a.send(w, "more")
				a.send(w, "and more")
			}
		})
		a.budget = 1
		g := p.NewInlineWorker(func() { t.Error("nothing keeps it") })
		require.True(t, g.call(a, "go"))
		require.NotZero(t, mine)
		require.LessOrEqual(t, mine, inlineStages*(inlineTurns+1))
		synctest.Wait()
		require.LessOrEqual(t, left, 0)
	})
}

// local is what a worker of a test keeps.
type local struct {
	end     func(busy bool)
	overdue func()
}

func (l *local) End(busy bool) { l.end(busy) }
func (l *local) Overdue() {
	if l.overdue != nil {
		l.overdue()
	}
}

// What a turn owes is done after it, or before it waits; if the turn takes long, the watcher reports that.
func TestOwe(t *testing.T) {
	var log record[string]
	c := Config{Workers: 1, Stages: 1, Local: func(*Worker) Local {
		return &local{func(busy bool) { log.add(fmt.Sprint("due, busy: ", busy)) }, func() { log.add("long") }}
	}}
	bubble(t, c, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		a := newActor(p, 0, func(w *Worker, msg any) {
			w.DeferToTurnEnd()
			log.add(msg.(string))
			switch msg {
			case "block":
				w.Block()
				log.add("goes on")
			case "yield":
				w.Yield()
				log.add("goes on")
			case "long":
				holdUp(release)
			}
		})
		b := newActor(p, 0, func(*Worker, any) { log.add("b") })
		says := func(want ...string) {
			t.Helper()
			synctest.Wait()
			assert.Equal(t, want, log.got())
			log = record[string]{}
		}
		a.send(nil, "short")
		says("short", "due, busy: false")
		a.send(nil, "block")
		says("block", "due, busy: false", "goes on")
		newActor(p, 0, func(w *Worker, _ any) { a.send(w, "yield"); b.send(w, "b") }).send(nil, "both")
		says("yield", "due, busy: true", "b", "goes on")
		a.send(nil, "long")
		pass(p.cfg.Blocked / 2)
		assert.Contains(t, log.got(), "long")
		close(release)
		pass(time.Second)
		assert.Contains(t, log.got(), "due, busy: false")
	})
}

// BenchmarkGuest is a message from outside that its sender handles by itself; compare BenchmarkWakeFromOutside. Budget:
// 400 ns, no allocation but the node's.
func BenchmarkGuest(b *testing.B) {
	p := startPool(b, Config{Workers: 2, Stages: 2})
	n := 0
	a := newActor(p, 0, func(*Worker, any) { n++ })
	g := p.NewInlineWorker(func() {})
	b.ReportAllocs()
	for b.Loop() {
		if !g.call(a, nil) { // the machine is busy with other things
			g = p.NewInlineWorker(func() {})
		}
	}
	if n == 0 {
		b.Error("nothing was handled")
	}
}

// An inline worker that wakes many tasks before it runs them runs them all, on whichever stages they are, and no worker
// is woken for them.
func TestInlineWorkerRunsAllItWakes(t *testing.T) {
	needInline(t)
	bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
		me, others, ran := fiber.GoroutineID(), 0, 0
		g := p.NewInlineWorker(func() { t.Error("nothing keeps it") })
		for i := range 8 * inlineTurns {
			a := newActor(p, i%2, func(*Worker, any) {
				if ran++; fiber.GoroutineID() != me {
					others++
				}
			})
			require.Equal(t, mailbox.Wake, a.in.Push(&inbox.Node{Msg: i}))
			g.Inject(&a.Entity)
		}
		synctest.Wait()
		require.Zero(t, ran, "nothing runs before it is told to")
		require.True(t, g.RunPending())
		require.Equal(t, 8*inlineTurns, ran)
		require.Zero(t, others)
	})
}
