package executor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// world is a pool full of actors that do everything that a handler may do, at random, while others look on and
// interfere. What must hold:
//
//  1. An actor's handlers run one at a time, each after the one before it.
//  2. Whatever a stage guards is touched by one goroutine at a time.
//  3. Of the handlers of one stage at most one holds it; the turns of the others are detached
//     or suspended.
//  4. Every message is handled once, those of one sender to one actor in order.
//  5. A handler that blocks without saying so is noticed.
//  6. Stop returns when everything under way is done, and leaves nothing.
//  7. While a handler runs on an exclusive stage, no other of that stage begins, or goes on, unless the first has said
//     that it will wait.
//  8. Nothing is on a stage that has been closed once all have been moved from it, and nothing is due there.
type world struct {
	t      *testing.T
	p      *Pool
	actors []*modelActor
	stages sync.Map // *Stage to *modelStage
	stalls bool
	moves  bool // actors are moved, and stages are made and closed, meanwhile

	openMu sync.Mutex
	open   []*Stage // made, and not closed
	closed []*Stage // each once

	faithful int // of 100 messages so many go to the friend: an actor woken from one stage only moves there

	left atomic.Int64 // messages not handled yet
	done chan struct{}

	errMu sync.Mutex
	errs  []string

	moved, yields, stalled, goexits, blocks, blockings, carried, helped, replaced, relayed atomic.Int64
}

// modelStage is what the test keeps for a stage, guarded by it.
type modelStage struct {
	alone   atomic.Pointer[modelActor] // has the exclusive stage to itself
	visits  int                        // plain: only as many as in counted if the stage guards it
	holder  *modelActor
	lease   *lease // the lease under which holder's handler began, or went on
	over    bool   // that handler has ended
	counted atomic.Int64
}

// modelActor is an actor with what the test checks about it.
type modelActor struct {
	actor
	w      *world
	id     int
	friend *modelActor
	first  *Stage // where it began

	inside  atomic.Int32 // handlers that run now
	stalled atomic.Pointer[chan struct{}]
	noticed atomic.Bool // the present turn, or one before it, has been reported

	// Plain: a handler runs after the one before it.
	rand    *rand.Rand
	handled int
	last    []int // by sender: the last number received
	sent    []int // by receiver: the last number sent
}

type letter struct{ from, seq, hops int }

func newWorld(t *testing.T, seed uint64, c Config, actors, outside int) *world {
	w := &world{t: t, done: make(chan struct{})}
	c.OnBlocked = w.notice
	w.p = New(c)
	for i := range actors {
		m := &modelActor{w: w, id: i, rand: rand.New(rand.NewPCG(seed, uint64(i))),
			last: make([]int, actors+outside), sent: make([]int, actors)}
		m.actor = actor{pool: w.p, name: fmt.Sprint("actor ", i), budget: 1 + m.rand.IntN(8), receive: m.live,
			entered: w.visit, starts: func() { m.noticed.Store(false) }}
		m.first = w.p.Stage(i % w.p.Stages())
		m.Adopt(m, m.first, i%7 == 0)
		m.SetRelayable(m.rand.IntN(3) > 0)
		w.actors = append(w.actors, m)
	}
	r := rand.New(rand.NewPCG(seed, 3000))
	w.faithful = []int{0, 50, 98}[r.IntN(3)]
	for _, m := range w.actors {
		m.friend = w.actors[r.IntN(actors)]
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	w.errMu.Lock()
	defer w.errMu.Unlock()
	if len(w.errs) < 10 {
		w.errs = append(w.errs, fmt.Sprintf(format, args...))
	}
}

// at returns the modelStage of s.
func (w *world) at(s *Stage) *modelStage {
	if l, ok := w.stages.Load(s); ok {
		return l.(*modelStage)
	}
	l, _ := w.stages.LoadOrStore(s, new(modelStage))
	return l.(*modelStage)
}

// some returns a stage, which may be about to be closed.
func (w *world) some(r *rand.Rand) *Stage {
	w.openMu.Lock()
	defer w.openMu.Unlock()
	if n := len(w.open); n > 0 && r.IntN(2) == 0 {
		return w.open[r.IntN(n)]
	}
	stages := *w.p.spreadOver.Load()
	return stages[r.IntN(len(stages))]
}

// visit is called by the holder of s.
func (w *world) visit(s *Stage) {
	l := w.at(s)
	l.visits++
	l.counted.Add(1)
}

// notice is OnBlocked.
func (w *world) notice(b Blocked) {
	m, ok := b.Task.(*modelActor)
	if !ok {
		return // a mover that the system has not run for so long
	}
	m.noticed.Store(true)
	if c := m.stalled.Swap(nil); c != nil {
		close(*c)
	}
}

// Turn runs, one after the other, the actors that relay their turns.
func (m *modelActor) Turn(w *Worker) TurnResult {
	v, relayed := relayTurns(w, m, (*modelActor).turn)
	m.w.relayed.Add(int64(relayed))
	return v
}

// turn checks that the handler that had the stage before has left it.
func (m *modelActor) turn(w *Worker) TurnResult {
	m.settle(w)
	v := m.actor.Turn(w)
	if v != Lost {
		l := m.w.at(w.Stage())
		if l.holder != m {
			m.w.fail("stage %d: the turn of %d ends in the middle of another", w.Stage().number, m.id)
		}
		l.over = true
		if m.Stage() != w.Stage() {
			m.w.fail("%d was moved while it ran", m.id)
		}
		if m.SetSendTarget(nil); m.rand.IntN(4) == 0 {
			m.SetSendTarget(&m.friend.Entity)
		}
	}
	return v
}

// settle makes m the holder of the stage that w has entered.
func (m *modelActor) settle(w *Worker) {
	l := m.w.at(w.Stage())
	if l.holder != nil && !l.over && !l.lease.revoked.Load() {
		m.w.fail("stage %d: %d runs beside %d", w.Stage().number, m.id, l.holder.id)
	}
	l.holder, l.lease, l.over = m, w.lease, false
}

// resume is settle after a Yield: there is another lease, unless nobody waited.
func (m *modelActor) resume(w *Worker) {
	if !w.Enter() {
		return
	}
	if l := m.w.at(w.Stage()); l.holder != m || l.lease != w.lease {
		m.settle(w)
	}
	w.Leave()
}

// live is the handler.
func (m *modelActor) live(w *Worker, msg any) {
	if !m.inside.CompareAndSwap(0, 1) {
		m.w.fail("%d runs twice at once", m.id)
	}
	m.handled++
	l := msg.(letter)
	if l.seq != m.last[l.from]+1 {
		m.w.fail("%d got letter %d of %d after %d", m.id, l.seq, l.from, m.last[l.from])
	}
	m.last[l.from] = l.seq
	m.alone()
	blocked := m.act(w)
	if l.hops > 0 {
		m.pass(w, l.hops-1)
	}
	if m.w.stalls && !blocked && m.rand.IntN(150) == 0 {
		m.stall()
	}
	leave := m.rand.IntN(100) == 0
	m.shared()
	m.inside.Store(0)
	if m.w.left.Add(-1) == 0 {
		close(m.w.done)
	}
	if leave {
		m.w.goexits.Add(1)
		if m.rand.IntN(2) == 0 {
			w.Enter()
		}
		runtime.Goexit()
	}
}

// alone notes that the handler has its stage to itself, if that is exclusive, until shared is called.
func (m *modelActor) alone() {
	if s := m.Stage(); s.IsExclusive() && !m.w.at(s).alone.CompareAndSwap(nil, m) {
		m.w.fail("stage %d: %d runs beside another, and it is exclusive", s.number, m.id)
	}
}

func (m *modelActor) shared() { m.w.at(m.Stage()).alone.CompareAndSwap(m, nil) }

// act does something that a handler may do, and reports whether it gave up its stage for good.
func (m *modelActor) act(w *Worker) (blocked bool) {
	switch n := m.rand.IntN(64); {
	case n < 8:
		m.w.yields.Add(1)
		w.Yield()
		m.resume(w)
	case n < 10:
		m.w.blocks.Add(1)
		m.shared()
		w.Block()
		return true
	case n < 12 && m.w.stalls: // once Stop is called the handler need not have its stage again
		m.w.blockings.Add(1)
		m.shared()
		w.Blocking(func() { runtime.Gosched() })
		m.alone()
		m.resume(w)
	case n == 12:
		m.w.look(m.rand)
	case n == 13:
		s := m.w.some(m.rand)
		m.w.p.Borrow(s, func() { m.w.visit(s) })
	case n < 30:
		compute(time.Duration(m.rand.IntN(12)) * time.Microsecond)
	case n == 30:
		for range sendsBeforeYield + 1 {
			w.Sent()
		}
		m.resume(w)
	case n < 35:
		runtime.Gosched()
	}
	return false
}

// stall blocks until the watcher has noticed it.
func (m *modelActor) stall() {
	m.w.stalled.Add(1)
	c := make(chan struct{})
	m.stalled.Store(&c)
	if !m.noticed.Load() {
		<-c
	}
}

func (m *modelActor) pass(w *Worker, hops int) {
	to := m.w.actors[m.rand.IntN(len(m.w.actors))]
	if m.rand.IntN(100) < m.w.faithful {
		to = m.friend
	}
	m.sent[to.id]++
	to.send(w, letter{m.id, m.sent[to.id], hops})
	if to.Stage() != to.first {
		m.w.moved.Add(1)
	}
}

// look looks at some actor.
func (w *world) look(r *rand.Rand) {
	m := w.actors[r.IntN(len(w.actors))]
	w.p.Look(&m.Entity, func(stage int, queued, running bool) {
		s := m.Stage()
		if s.Index() != stage {
			w.fail("Look at %d: stage %d, home %d", m.id, stage, s.Index())
		}
		if running && !queued && m.inside.Load() != 0 {
			w.fail("Look at %d: running, and not queued", m.id)
		}
		w.visit(s)
		m.in.Take(&m.q) // like an observer that counts messages
	})
}

// outsider injects messages from a goroutine that the pool does not know.
func (w *world) outsider(id, count, hops int, r *rand.Rand) {
	sent := make([]int, len(w.actors))
	for range count {
		to := r.IntN(len(w.actors))
		sent[to]++
		w.actors[to].send(nil, letter{id, sent[to], hops})
		if r.IntN(16) == 0 {
			runtime.Gosched()
		}
	}
}

// inlineWorker is an inline worker that runs some of the tasks it wakes, and has another goroutine go on when a handler
// keeps it.
func (w *world) inlineWorker(id, count, hops int, r *rand.Rand) {
	sent, done := make([]int, len(w.actors)), make(chan struct{})
	var run func()
	run = func() {
		g := w.p.NewInlineWorker(func() { go run() })
		for ; count > 0; count-- {
			to := r.IntN(len(w.actors))
			sent[to]++
			m := w.actors[to]
			if m.in.Push(&inbox.Node{Msg: letter{id, sent[to], hops}}) == mailbox.Wake {
				g.Inject(&m.Entity)
			}
			if more := r.IntN(4) == 0; more {
				continue
			}
			w.helped.Add(1)
			count-- // another goroutine may own it when RunPending returns
			if !g.RunPending() {
				w.replaced.Add(1)
				return
			}
			count++
		}
		if g.RunPending() { // the wake-up that it has deferred
			close(done)
		}
	}
	go run()
	<-done
}

// meddler borrows and looks now and then, until everything is done.
func (w *world) meddler(r *rand.Rand) {
	for {
		select {
		case <-w.done:
			return
		default:
		}
		for range r.IntN(200) {
			runtime.Gosched()
		}
		if r.IntN(2) == 0 {
			w.look(r)
		} else {
			s := w.some(r)
			w.p.Borrow(s, func() { w.visit(s) })
		}
	}
}

// move moves m and returns when it has been moved, or another move has come between.
func (w *world) move(m *modelActor, to *Stage, o Moved) (here bool) {
	done := make(chan bool, 1)
	o.Claim, o.Gone, o.Done = m.in.Claim, func() bool { return false }, func(here bool) { done <- here }
	w.p.Move(&m.Entity, to, o)
	return <-done
}

// evict moves all actors from closed stages.
func (w *world) evict() {
	for found := true; found; {
		found = false
		for _, m := range w.actors {
			if m.Stage().IsClosed() {
				found = true
				w.move(m, w.p.Spread(), Moved{Free: m.id%2 == 0, Joins: func() bool { return true }})
			}
		}
	}
}

// closing closes one of the made stages, or changes the number of stages that entities are spread over, and moves what
// is there.
func (w *world) closing(r *rand.Rand) {
	w.openMu.Lock()
	var s *Stage
	if n := len(w.open); n > 0 && r.IntN(2) == 0 {
		k := r.IntN(n)
		s = w.open[k]
		w.open = append(w.open[:k:k], w.open[k+1:]...)
		w.closed = append(w.closed, s)
	}
	w.openMu.Unlock()
	if s == nil {
		w.p.SetStages(1 + r.IntN(4))
	} else {
		s.Close()
	}
	w.evict()
	if s != nil {
		w.p.Forget(s)
	}
}

// mover moves actors, and makes and closes stages, until everything is done. Two of them do so at a time.
func (w *world) mover(r *rand.Rand) {
	for {
		select {
		case <-w.done:
			return
		default:
		}
		switch n := r.IntN(16); {
		case n < 2:
			w.openMu.Lock()
			if len(w.open) < 4 {
				w.open = append(w.open, w.p.NewStage(r.IntN(2) == 0))
			}
			w.openMu.Unlock()
		case n < 4:
			w.closing(r)
		default:
			w.carried.Add(1)
			m := w.actors[r.IntN(len(w.actors))]
			w.move(m, w.some(r), Moved{Free: r.IntN(2) == 0})
		}
		runtime.Gosched()
	}
}

// requireClosedEmpty checks invariant 8. The pool has stopped.
func (w *world) requireClosedEmpty() {
	for _, m := range w.actors {
		require.False(w.t, m.Stage().IsClosed(), "%d is on stage %d, which is closed", m.id, m.Stage().number)
		require.True(w.t, m.Pinned() || !m.Stage().IsOwn(), "%d may leave stage %d", m.id, m.Stage().number)
	}
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	require.Empty(w.t, w.p.movers.of)
	for _, s := range append(w.closed, w.p.stages...) {
		require.Empty(w.t, s.moves, "stage %d", s.number)
		require.Nil(w.t, s.reserved, "stage %d", s.number)
		require.Zero(w.t, s.n.Load(), "stage %d", s.number)
		require.Empty(w.t, s.waiting, "stage %d", s.number)
		require.Contains(w.t, []*Entity{nil, listening}, s.inject.Load(), "stage %d", s.number)
	}
}

func (w *world) state() string {
	var b strings.Builder
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	fmt.Fprintf(&b, "left %d, active %d, idle %d, waiting %d, detached %d\n", w.left.Load(), w.p.active, len(w.p.idle),
		w.p.waiting.Load(), len(w.p.detached))
	for _, s := range w.p.stages {
		fmt.Fprintf(&b, "stage %d: state %d, queued %d, inject %p (listening %p), held %v\n",
			s.index, s.state, s.n.Load(), s.inject.Load(), listening, s.lease != nil)
	}
	return b.String()
}

func TestModel(t *testing.T) {
	messages, hops := testkit.By(30, 150, 600), testkit.By(30, 30, 60) // messages: a multiple of 30, see play
	for _, procs := range []int{1, 2, 4} {
		for _, c := range []Config{
			{Workers: 1, Stages: 1}, {Workers: 1, Stages: 3}, {Workers: 2, Stages: 1},
			{Workers: 2, Stages: 2}, {Workers: 4, Stages: 3}, {Workers: 3, Stages: 16},
		} {
			for _, s := range []script{{}, {meddle: true}, {early: true}, {move: true}, {move: true, meddle: true},
				{inline: true}, {inline: true, meddle: true}, {inline: true, early: true}, {inline: true, move: true}} {
				name := fmt.Sprintf("procs=%d,workers=%d,stages=%d,meddle=%v,early=%v,inline=%v,move=%v",
					procs, c.Workers, c.Stages, s.meddle, s.early, s.inline, s.move)
				t.Run(name, func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					c.Blocked = time.Millisecond
					play(t, c, messages, hops, s)
				})
			}
		}
	}
}

// script says what happens beside the actors. A meddler's every look gives a pool that has forgotten a worker the kick
// it needs, and so does the watcher's; hence the script without either.
type script struct {
	meddle bool // somebody outside borrows and looks
	move   bool // somebody outside moves actors, and makes and closes stages
	inline bool // those outside are inline workers
	early  bool // Stop is called while all are at work; nobody watches from then on, so no handler may stall
}

// play runs a world to its end.
func play(t *testing.T, c Config, messages, hops int, script script) {
	const outsiders = 3
	seed := testkit.Seed(t)
	w := newWorld(t, seed, c, 5+5*c.Stages, outsiders+1)
	if w.faithful > 90 { // few messages, so that one is often all that an actor has
		messages, hops = messages/10, hops*10
	}
	w.stalls, w.moves = !script.early, script.move
	w.left.Store(int64(messages * (hops + 1)))
	w.p.Start()
	var outside, meddlers sync.WaitGroup
	for i := range outsiders {
		outside.Go(func() {
			if script.inline {
				w.inlineWorker(len(w.actors)+i, messages/outsiders, hops, rand.New(rand.NewPCG(seed, 1000+uint64(i))))
				return
			}
			w.outsider(len(w.actors)+i, messages/outsiders, hops, rand.New(rand.NewPCG(seed, 1000+uint64(i))))
		})
	}
	if script.meddle {
		meddlers.Go(func() { w.meddler(rand.New(rand.NewPCG(seed, 2000))) })
	}
	for k := range 2 {
		if script.move {
			meddlers.Go(func() { w.mover(rand.New(rand.NewPCG(seed, 2001+uint64(k)))) })
		}
	}
	outside.Wait()
	if script.early {
		stopPool(t, w.p)
		require.Zero(t, w.left.Load(), "Stop returned before all was done\n%s", w.state())
	}
	select {
	case <-w.done:
	case <-time.After(testkit.Limit):
		buf := make([]byte, 1<<20)
		require.FailNow(t, "messages are left that nobody handles", "%s%v\n%s", w.state(), w.errs, buf[:runtime.Stack(buf, true)])
	}
	meddlers.Wait()
	if !script.early {
		stopPool(t, w.p)
	}

	w.requireClosedEmpty()

	require.Empty(t, w.errs)
	handled := 0
	for _, m := range w.actors {
		handled += m.handled
		require.False(t, m.is(queued))
		require.False(t, m.is(suspended))
		require.Zero(t, m.q.Len())
		require.True(t, m.in.Armed(), "the inbox of %d is not armed, and nobody owes it a wake-up", m.id)
		if m.pinned.Load() && !w.moves {
			require.Same(t, m.first, m.Stage(), "a pinned entity was moved")
		}
	}
	require.Equal(t, messages*(hops+1), handled)
	for s, l := range w.stages.Range {
		l := l.(*modelStage)
		require.Equal(t, int(l.counted.Load()), l.visits, "stage %d guards nothing", s.(*Stage).number)
		require.Nil(t, l.alone.Load())
	}
	if testing.Verbose() {
		t.Logf("%d moved, %d carried, %d yields, %d stalls (%d turns reported), %d blocks (%d in Blocking)",
			w.moved.Load(), w.carried.Load(), w.yields.Load(), w.stalled.Load(), w.p.BlockedTurns(),
			w.blocks.Load(), w.blockings.Load())
		t.Logf("%d Goexits, %d helped (%d replaced), %d relayed",
			w.goexits.Load(), w.helped.Load(), w.replaced.Load(), w.relayed.Load())
	}
}
