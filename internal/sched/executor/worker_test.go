package executor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Entities of one stage have their turns one after the other, in the order in which they were woken.
func TestTurnsGoRound(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
	var order []string
	done := make(chan struct{})
	var actors []*actor
	for _, name := range []string{"a", "b", "c"} {
		a := newActor(p, 0, func(_ *Worker, msg any) {
			order = append(order, fmt.Sprint(name, msg))
			if len(order) == 9 {
				close(done)
			}
		})
		a.budget = 1
		actors = append(actors, a)
	}
	first := newActor(p, 0, func(w *Worker, _ any) {
		for i := range 3 {
			for _, a := range actors {
				a.send(w, i)
			}
		}
	})
	first.send(nil, "go")
	testkit.Receive(t, done)
	require.Equal(t, []string{"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"}, order)
}

// A stage with more to do than turnsBeforeSwitch makes way for others that wait, and nobody in it is passed over,
// however many they are.
func TestNobodyStarves(t *testing.T) {
	const rounds = 50
	for _, n := range []int{1, 2, turnsBeforeSwitch - 1, turnsBeforeSwitch, turnsBeforeSwitch + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
			var over atomic.Bool
			done := make(chan struct{})
			turns := make([]int, n+1)
			again := func(k int) *endless {
				e := &endless{turn: func() bool {
					turns[k]++
					if k > 0 && !over.Load() && turns[k] == rounds*turnsBeforeSwitch/min(n, turnsBeforeSwitch) {
						over.Store(true)
						close(done)
					}
					return !over.Load()
				}}
				e.Adopt(e, p.Stage(min(k, 1)), true)
				return e
			}
			var many []*endless
			for k := range n {
				many = append(many, again(k+1))
			}
			p.Borrow(p.Stage(1), func() {
				for _, e := range many {
					p.Stage(1).Wake(&e.Entity)
				}
			})
			other := again(0) // always waits, because there is one worker
			p.Inject(&other.Entity, nil)
			testkit.Receive(t, done)
			stopPool(t, p)
			turns = turns[1:]
			assert.GreaterOrEqual(t, slices.Min(turns), slices.Max(turns)/4)
		})
	}
}

// endless is a task that is always due.
type endless struct {
	Entity
	turn func() bool
}

func (e *endless) Turn(w *Worker) TurnResult {
	w.Leave()
	again := e.turn()
	if !w.Enter() {
		return Lost
	}
	if again {
		return Again
	}
	return Idle
}

func (e *endless) CollectInbox(*Stage) bool   { return true }
func (e *endless) FinishDetached(*Stage) bool { return true }
func (e *endless) Claim() bool                { return true }
func (e *endless) Name() string               { return "endless" }

// A run queue that is worth it is shared with a worker that has nothing to do; pinned entities stay.
func TestShare(t *testing.T) {
	const n = 64
	p := startPool(t, Config{Workers: 2, Stages: 4, Blocked: time.Hour})
	moved, stop := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	var actors []*actor
	for i := range n {
		var a *actor
		a = newActor(p, 0, func(w *Worker, msg any) {
			compute(4 * shareWorth / n) // so that half the queue is worth it, too
			if a.Stage() != p.Stage(0) && once.CompareAndSwap(false, true) {
				close(moved)
			}
			select {
			case <-stop:
			default:
				a.send(w, msg)
			}
		})
		a.budget = 1
		if i%2 == 0 {
			a.Pin()
		}
		actors = append(actors, a)
	}
	for _, a := range actors {
		a.send(nil, "go")
	}
	testkit.Receive(t, moved)
	close(stop)
	stopPool(t, p)
	for i, a := range actors {
		if i%2 == 0 {
			require.Equal(t, 0, a.Stage().Index())
		}
		require.Zero(t, a.q.Len())
	}
}

// relay is an endless task that relays its turns.
type relay struct {
	endless
	calls *int    // of Turn
	on    *Worker // whose turn it is
}

func (r *relay) Turn(w *Worker) TurnResult {
	*r.calls++
	v, _ := relayTurns(w, r, func(r *relay, w *Worker) TurnResult {
		r.on = w
		return r.endless.Turn(w)
	})
	return v
}

// Entities that relay their turns have them in the order in which they were woken, within one call of Turn as far as
// they are neighbours in the queue; for the others, for work due after a turn, and after a while, the worker is asked.
// An entity that loses the stage in a relay gets it back itself.
func TestRelay(t *testing.T) {
	pay := 0
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour, Local: func(*Worker) Local {
		return &local{end: func(bool) { pay++ }}
	}})
	var order []string
	calls, left := 0, 0
	done := make(chan struct{})
	add := func(name string, relays bool, turns int, do func(*Worker)) {
		r := &relay{calls: &calls}
		r.turn = func() bool {
			if order = append(order, name); do != nil {
				do(r.on)
			}
			if turns--; turns > 0 {
				return true
			}
			if left--; left == 0 {
				close(done)
			}
			return false
		}
		r.Adopt(r, p.Stage(0), true)
		r.SetRelayable(relays)
		left++
		p.Inject(&r.Entity, nil)
	}
	first := newActor(p, 0, func(*Worker, any) { // while it runs, nobody else does
		add("a", true, 2, nil)
		add("b", true, 1, nil)
		add("c", false, 2, nil)
		add("d", true, 2, (*Worker).DeferToTurnEnd)
		add("e", true, 1, nil)
		add("f", true, 2, nil)
		lost := false
		add("g", true, 2, func(w *Worker) {
			if !lost {
				lost = true
				w.Block()
			}
		})
	})
	first.send(nil, "go")
	testkit.Receive(t, done)
	require.Equal(t, "abcdefg", strings.Join(order[:7], ""))
	require.Len(t, order, 12)
	require.Equal(t, 2, pay)
	require.Less(t, calls, 12)

	done = make(chan struct{})
	var before int
	many := newActor(p, 0, func(*Worker, any) {
		before = calls
		for range maxRelayed + 50 {
			add("h", true, 1, nil)
		}
	})
	many.send(nil, "go")
	testkit.Receive(t, done)
	stopPool(t, p)
	require.Equal(t, 2, calls-before)
}

// An entity that one other stage wakes again and again moves there, unless pinned; an entity woken by several stages,
// or from home in between, stays.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name    string
		pinned  bool
		wakers  []int // stages of those who send to it in turn
		follows bool
	}{
		{"one", false, []int{1}, true},
		{"pinned", true, []int{1}, false},
		{"two", false, []int{1, 2}, false},
		{"one and a neighbour", false, []int{1, 0}, false},
		{"one and home from outside", false, []int{1, 1, 1, 1, 1, 1, 1, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startPool(t, Config{Workers: 1, Stages: 3, Blocked: time.Hour})
			const rounds = 100
			homes := make(map[int]bool)
			done := make(chan struct{})
			var a *actor
			left := rounds
			wakers := make([]*actor, len(c.wakers))
			a = newActor(p, 0, func(w *Worker, _ any) {
				homes[a.Stage().Index()] = true
				if left--; left == 0 {
					close(done)
				} else if left > 0 {
					wakers[left%len(wakers)].send(w, "m")
				}
			})
			if c.pinned {
				a.Pin()
			}
			for i, k := range c.wakers {
				wakers[i] = newActor(p, k, func(w *Worker, _ any) { a.send(w, "m") })
				wakers[i].Pin()
			}
			a.send(nil, "m")
			testkit.Receive(t, done)
			want := map[int]bool{0: true}
			if c.follows {
				want[1] = true
			}
			require.Equal(t, want, homes)
		})
	}
}

// talker is a task whose every turn is over when it has sent to another.
type talker struct {
	endless
	to    *Entity
	takes time.Duration
	left  int // turns until it stops to look whether it moves
	over  chan struct{}
}

func (a *talker) Turn(w *Worker) TurnResult {
	if a.takes > 0 {
		work(a.takes) // of the bubble's clock
	}
	if a.left--; a.left == 0 || w.Stage() == a.to.Stage() {
		close(a.over)
		return Idle
	}
	a.SetSendTarget(a.to)
	return Again
}

// An entity that sends much to one of another stage, and does little else, moves there, unless it is pinned; one whose
// turns take long does not. The clock of the bubble stands still while anything runs, so the machine's speed does not
// matter.
func TestTalkersMove(t *testing.T) {
	for _, c := range []struct {
		name   string
		takes  time.Duration
		turns  int
		pinned bool
		moves  bool
	}{
		{"quick", 0, 1_000_000, false, true},
		{"pinned", 0, 1000, true, false},
		{"slow", 2 * minWorkTurn, 50, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
				a := &talker{to: &newActor(p, 1, nil).Entity, takes: c.takes, left: c.turns, over: make(chan struct{})}
				a.Adopt(a, p.Stage(0), c.pinned)
				p.Inject(&a.Entity, nil)
				testkit.Receive(t, a.over)
				require.Equal(t, c.moves, a.Stage() == a.to.Stage())
			})
		})
	}
}

// While turns are quick, entities that talk to each other on one stage stay there when work is shared out, and an
// entity with a local sender does not follow a third; when the talk is over they go.
func TestTalkersStay(t *testing.T) {
	w := bare(t, Config{Workers: 2, Stages: 2})
	p, s := w.pool, w.stage
	actors := make(map[string]*actor)
	for _, name := range []string{"a", "b", "silent", "talks", "heard", "e"} {
		actors[name] = named(p, 0, name)
		s.Wake(&actors[name].Entity)
	}
	actors["talks"].SetSendTarget(&actors["heard"].Entity)
	require.True(t, w.share(s, minWorkTurn-1))
	require.Equal(t, p.Stage(1), actors["e"].Stage())
	require.Equal(t, s, actors["talks"].Stage())
	require.Equal(t, s, actors["heard"].Stage())

	heard := actors["heard"]
	heard.hasLocalSender, heard.from, heard.foreignWaker, heard.foreignWakes = true, 2, 2, migrateAfter-1
	heard.unset(queued)
	require.False(t, s.shouldMigrate(&heard.Entity))
	for range migrateAfter - 1 {
		require.False(t, s.shouldMigrate(&heard.Entity), "it counts from the start")
	}
	require.True(t, s.shouldMigrate(&heard.Entity))
	heard.set(queued)

	p.Stage(1).state = stageIdle
	require.True(t, w.share(s, minWorkTurn), "turns that take long")
	require.Equal(t, p.Stage(1), actors["talks"].Stage())
}

// bare returns a worker that holds stage 0 of a pool whose workers nobody starts.
func bare(t *testing.T, c Config) *Worker {
	p := New(c)
	p.stopping = true
	w := &Worker{pool: p}
	w.assign(p.Stage(0))
	require.True(t, w.lease.enter())
	return w
}

// The duration of turns is not measured across two leases, whose turns are counted separately.
func TestQuickIsOfOneLease(t *testing.T) {
	w := bare(t, Config{Workers: 1, Stages: 1})
	turn := func(takes time.Duration) bool {
		compute(takes)
		w.lease.turns.Add(1)
		return w.quick()
	}
	require.False(t, turn(0), "there is nothing to compare with")
	require.False(t, turn(2*minWorkTurn))
	w.lease.turns.Add(1 << 31) // so that they are quick even if this goroutine is stopped for minutes
	require.True(t, turn(2*minWorkTurn))

	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour})
	other := newActor(p, 0, func(*Worker, any) {})
	quickAt := make(chan time.Time, 1)
	newActor(p, 0, func(w *Worker, _ any) {
		w.quickAt = time.Now()
		other.send(w, "m") // so that it waits
		w.Yield()
		quickAt <- w.quickAt
	}).send(nil, "m")
	require.Zero(t, testkit.Receive(t, quickAt))
}

// A queue none of whose entities can be moved is not searched again and again.
func TestShareInVain(t *testing.T) {
	w := bare(t, Config{Workers: 2, Stages: 2})
	s := w.stage
	for range 10 {
		a := named(w.pool, 0, "pinned")
		a.Pin()
		s.Wake(&a.Entity)
	}
	last := 0
	for range maxFailedShares + 3 {
		require.True(t, w.share(s, time.Second))
		require.EqualValues(t, 10, s.n.Load())
		require.GreaterOrEqual(t, w.countdown, min(2*last, sample<<maxFailedShares))
		last = w.countdown
	}
	s.Wake(&named(w.pool, 0, "free").Entity)
	require.True(t, w.share(s, time.Second))
	require.EqualValues(t, 10, s.n.Load())
	require.Zero(t, w.failedShares)
}

// When an entity moves to those it talks to, the count of who wakes it starts again.
func TestFollowCountsAnew(t *testing.T) {
	w := bare(t, Config{Workers: 1, Stages: 2})
	to := w.pool.Stage(1)
	a := named(w.pool, 0, "talks")
	a.hasLocalSender, a.from = true, 1
	a.set(queued)
	a.SetSendTarget(&named(w.pool, 1, "listens").Entity)
	require.True(t, a.Claim())
	require.True(t, w.stage.prefersOtherStage(&a.Entity))
	require.True(t, w.migrate(&a.Entity))
	require.Same(t, to, a.Stage())
	require.Zero(t, a.from)
	require.False(t, a.is(queued))
	require.False(t, a.hasLocalSender)
	require.Same(t, &a.Entity, to.inject.Load())
	require.Equal(t, stageQueued, to.state)
}

// An entity that prefers another stage does not relay its turn: the worker must move it.
func TestMisplacedDoNotRelay(t *testing.T) {
	w := bare(t, Config{Workers: 1, Stages: 2})
	s := w.stage
	a, next := named(w.pool, 0, "a"), named(w.pool, 0, "next")
	next.SetRelayable(true)
	s.Wake(&next.Entity)
	s.current = &a.Entity
	a.SetSendTarget(&named(w.pool, 1, "far").Entity)
	require.Nil(t, w.Relay(Again))
	a.SetSendTarget(&named(w.pool, 0, "near").Entity)
	require.Equal(t, Task(next), w.Relay(Again))
}

// taken is a task whose stage is taken when somebody claims it, and that owes something after each turn.
type taken struct {
	talker
	p    *Pool
	owed int
}

func (k *taken) Turn(w *Worker) TurnResult {
	k.owed++
	w.DeferToTurnEnd()
	return k.talker.Turn(w)
}

func (k *taken) Claim() bool {
	l := k.Stage().lease
	go k.p.Borrow(k.Stage(), func() {}) // ends when the worker is outside
	for !l.revoked.Load() {
		runtime.Gosched()
	}
	return true
}

// If the stage is lost while an entity is moved, the worker still does what the turn owes.
func TestFollowLosesTheStage(t *testing.T) {
	var paid atomic.Int64
	p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour, Local: func(*Worker) Local {
		return &local{end: func(bool) { paid.Add(1) }}
	}})
	k := &taken{talker: talker{to: &newActor(p, 1, nil).Entity, left: 1_000_000, over: make(chan struct{})}, p: p}
	k.Adopt(k, p.Stage(0), false)
	p.Inject(&k.Entity, nil)
	testkit.Receive(t, k.over)
	stopPool(t, p)
	require.Same(t, p.Stage(1), k.Stage())
	require.EqualValues(t, k.owed, paid.Load())
}

// Look sees an actor that moves all the time as it is: nobody else touches it meanwhile, neither where it was nor where
// it is going.
func TestLookWhileMoving(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 3, Blocked: time.Hour})
	const rounds = 4000
	var a *actor
	var wakers [2]*actor
	left, handled := rounds, 0
	done := make(chan struct{})
	a = newActor(p, 0, func(w *Worker, _ any) {
		handled++
		if left--; left > 0 {
			wakers[left/(2*migrateAfter)%2].send(w, "m") // long enough with each to move there
		} else if left == 0 {
			close(done)
		}
	})
	for i := range wakers {
		wakers[i] = newActor(p, 1+i, func(w *Worker, _ any) { a.send(w, "m") })
		wakers[i].Pin()
	}
	a.send(nil, "m")
	homes := make(map[int]int)
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		case <-time.After(testkit.Limit):
			require.FailNow(t, "a message was lost")
		default:
		}
		p.Look(&a.Entity, func(stage int, _, _ bool) {
			homes[stage]++
			a.in.Take(&a.q)
		})
		for range 50 {
			runtime.Gosched()
		}
	}
	stopPool(t, p)
	require.Equal(t, rounds, handled)
	if testing.Verbose() {
		t.Log("seen on stages", homes)
	}
}

// Invariant 4 of lease: a share that has lost the stage is outside it, or the one that took it would wait for ever.
func TestShareIsOutsideWhenItFails(t *testing.T) {
	p := New(Config{Workers: 2, Stages: 1}) // no stage to share with
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var cur atomic.Pointer[lease]
	var delay atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // revokes each lease once; ends with stop
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if l := cur.Load(); l != nil && !l.revoked.Load() {
				for range delay.Load() {
					p.waiting.Load()
				}
				l.revoked.Store(true)
			} else {
				runtime.Gosched()
			}
		}
	}()
	for range 20_000 {
		w := &Worker{pool: p}
		w.assign(p.Stage(0))
		l := w.lease
		require.True(t, l.enter())
		delay.Store(r.Int64N(100))
		cur.Store(l)
		for range 10 {
			if !w.share(p.Stage(0), 0) {
				require.False(t, l.busy.Load())
				break
			}
		}
		for !l.revoked.Load() {
			runtime.Gosched()
		}
	}
	close(stop)
	<-done
}

// Yield lets the others go first, and everything after it finds the stage held.
func TestYield(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour})
	var order []string
	done := make(chan struct{})
	other := newActor(p, 0, func(_ *Worker, msg any) { order = append(order, msg.(string)) })
	last := newActor(p, 0, func(*Worker, any) { close(done) })
	polite := newActor(p, 0, func(w *Worker, _ any) {
		other.send(w, "before")
		w.Yield()
		order = append(order, "between")
		w.Yield() // nobody waits: returns at once
		other.send(w, "after")
		if w.Enter() {
			order = append(order, "held")
			w.Leave()
		}
		last.send(w, "m")
	})
	polite.send(nil, "go")
	testkit.Receive(t, done)
	require.Equal(t, []string{"before", "between", "held", "after"}, order)
}

// A handler that sends a great deal lets the rest of its stage run now and then.
func TestSentYields(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour})
	handled := 0
	sent := make(chan int, 1)
	sink := newActor(p, 0, func(*Worker, any) { handled++ })
	sink.budget = 1 << 20
	source := newActor(p, 0, func(w *Worker, _ any) {
		for range 3 * sendsBeforeYield {
			sink.send(w, "m")
			w.Sent()
		}
		sent <- handled
	})
	source.send(nil, "go")
	require.Equal(t, 3*sendsBeforeYield, testkit.Receive(t, sent))
}

// replace acts for a lease, not for a worker: after Yield has left the stage and before replace, others may have taken
// the stage, and given it back.
func TestStandInOfALostStage(t *testing.T) {
	p := New(Config{Workers: 2, Stages: 1})
	s := p.Stage(0)
	e := newActor(p, 0, nil)
	w, other := &Worker{pool: p, wake: make(chan struct{}, 1)}, &Worker{pool: p, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	w.assign(s)
	p.countLocked(w, true)
	old := w.lease
	// The watcher takes s from w, other gets it and finds w's handler due.
	require.Nil(t, p.revokeLocked(s))
	other.assign(s)
	p.countLocked(other, true)
	p.mu.Unlock()
	s.waiting = map[*Entity]*Worker{&e.Entity: w}
	e.set(suspended)
	p.handOver(other, s, &e.Entity)
	given := w.lease
	require.NotSame(t, old, given)
	p.replace(w, s, old) // late

	require.True(t, w.Holds())
	require.Same(t, given, s.lease)
	require.Equal(t, &e.Entity, s.current)
	require.Equal(t, 1, p.active)
	require.Zero(t, p.live, "nobody was started")
	require.Len(t, w.wake, 1)
	require.False(t, e.is(suspended))
}

// A handler that is due while its stage is taken goes on as a detached turn, and is known to be one.
func TestHandOverOfALostStage(t *testing.T) {
	p := New(Config{Workers: 2, Stages: 1})
	s := p.Stage(0)
	e := newActor(p, 0, nil)
	w, other := &Worker{pool: p, wake: make(chan struct{}, 1)}, &Worker{pool: p, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	w.assign(s)
	old := w.lease
	old.since = time.Now()
	old.revoked.Store(true) // by replace
	other.assign(s)
	s.waiting = map[*Entity]*Worker{&e.Entity: w}
	e.set(suspended | queued)
	p.revokeLocked(s) // from other, while it waits for the pool's lock
	p.freeLocked(s)
	p.mu.Unlock()
	p.handOver(other, s, &e.Entity)
	require.Equal(t, map[*lease]*Entity{old: &e.Entity}, p.detached)
	require.Zero(t, old.since, "its time of rest does not count")
	require.Equal(t, stageIdle, s.state)
	require.Len(t, w.wake, 1)
	running := false
	p.Look(&e.Entity, func(_ int, _, r bool) { running = r })
	require.True(t, running)
}

// runtime.Goexit in a handler ends a worker's goroutine and nothing else: the actor gets its next message, the stage
// goes on.
func TestGoexit(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*Worker)
	}{
		{"plain", func(*Worker) {}},
		{"within the stage", func(w *Worker) { w.Enter() }},
		{"after Block", func(w *Worker) { w.Block() }},
		{"after Yield", func(w *Worker) { w.Yield() }},
		{"owing a wake-up", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startPool(t, Config{Workers: 2, Stages: 2, Blocked: time.Hour})
			got := make(chan string, 8)
			neighbour := newActor(p, 0, func(_ *Worker, msg any) { got <- "neighbour" })
			far := newActor(p, 1, func(_ *Worker, msg any) { got <- "far" })
			a := newActor(p, 0, func(w *Worker, msg any) {
				if msg == "exit" {
					neighbour.send(w, "m")
					if c.before == nil {
						far.send(w, "m")
					} else {
						c.before(w)
					}
					runtime.Goexit()
				}
				got <- msg.(string)
			})
			a.send(nil, "exit")
			a.send(nil, "next")
			a.send(nil, "last")
			want := []string{"neighbour", "next", "last"}
			if c.before == nil {
				want = append(want, "far")
			}
			var all []string
			for range want {
				all = append(all, testkit.Receive(t, got))
			}
			assert.ElementsMatch(t, want, all)
			assert.Less(t, slices.Index(all, "next"), slices.Index(all, "last"))
		})
	}
}

// Every worker dies that way again and again.
func TestGoexitManyTimes(t *testing.T) {
	const n = 500
	p := startPool(t, Config{Workers: 2, Stages: 2, Blocked: time.Hour})
	var left atomic.Int64
	left.Store(4 * n)
	done := make(chan struct{})
	for k := range 4 {
		var a *actor
		a = newActor(p, k%2, func(w *Worker, msg any) {
			if left.Add(-1) == 0 {
				close(done)
			}
			if i := msg.(int); i > 1 {
				a.send(w, i-1)
			}
			runtime.Goexit()
		})
		a.send(nil, n)
	}
	testkit.Receive(t, done)
}

// The worker that runs a handler also runs what it wakes on another stage, when the handler is done, or another worker
// does as soon as there is more to do; a woken task never waits for the watcher, here fast asleep, unless the handler
// goes on.
func TestOwedWakeUps(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 8, Blocked: time.Hour})
	done := make(chan struct{})
	var left atomic.Int64
	left.Store(2000)
	var actors []*actor
	for k := range 24 {
		r := rand.New(rand.NewPCG(1, uint64(k)))
		actors = append(actors, newActor(p, k%8, func(w *Worker, _ any) {
			if n := left.Add(-1); n == 0 {
				close(done)
			} else if n > 0 {
				actors[r.IntN(24)].send(w, "m")
				if r.IntN(4) == 0 {
					w.Yield()
				}
			}
		}))
	}
	for range 3 {
		actors[0].send(nil, "m")
	}
	testkit.Receive(t, done)
}

func TestLocal(t *testing.T) {
	var made atomic.Int64
	l := new(local)
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour, Local: func(*Worker) Local { made.Add(1); return l }})
	same := make(chan bool)
	a := newActor(p, 0, func(w *Worker, _ any) { same <- w.Local == l })
	a.send(nil, "m")
	require.True(t, testkit.Receive(t, same))
	require.EqualValues(t, 1, made.Load())
}
