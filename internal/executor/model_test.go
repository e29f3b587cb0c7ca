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

	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/internal/randtest"
	"github.com/actornode/actornode/mailbox"
)

// world is a pool full of actors that do everything which a handler may do, at
// random, while others look on and interfere. What must hold:
//
//  1. An actor's handlers run one at a time, each after the one before it.
//  2. What a stage guards is touched by one goroutine at a time.
//  3. Of the handlers of one stage one at most holds it; the turns of the others are detached
//     or suspended.
//  4. Every message is handled once, those of one sender to one actor in order.
//  5. A handler that blocks without saying so is noticed.
//  6. Stop returns when all that is under way is done, and leaves nothing.
type world struct {
	t      *testing.T
	p      *Pool
	actors []*modelActor
	stages []*modelStage
	stalls bool

	faithful int // of 100 messages so many go to the friend: who hears from one stage only moves there

	left atomic.Int64 // messages that are not handled yet
	done chan struct{}

	errMu sync.Mutex
	errs  []string

	moved, yields, stalled, goexits, blocks, helped, replaced, relayed atomic.Int64
}

// modelStage is what the test keeps for a stage, guarded by it.
type modelStage struct {
	visits  int // plain: only as many as in counted if the stage guards it
	holder  *modelActor
	lease   *lease // under which holder's handler began, or went on
	over    bool   // that handler has ended
	counted atomic.Int64
}

// modelActor is an actor with what the test checks about it.
type modelActor struct {
	actor
	w      *world
	id     int
	friend *modelActor

	inside  atomic.Int32 // handlers that run now
	stalled atomic.Pointer[chan struct{}]
	noticed atomic.Bool // the present turn, or one before it, has been reported

	// Plain: a handler runs after the one before it.
	rand    *rand.Rand
	handled int
	last    []int // by sender: the last number that came
	sent    []int // by receiver: the last number that went
}

type letter struct{ from, seq, hops int }

func newWorld(t *testing.T, seed uint64, c Config, actors, outside int) *world {
	w := &world{t: t, done: make(chan struct{})}
	c.OnBlocked = w.notice
	w.p = New(c)
	for range w.p.Stages() {
		w.stages = append(w.stages, &modelStage{})
	}
	for i := range actors {
		m := &modelActor{w: w, id: i, rand: rand.New(rand.NewPCG(seed, uint64(i))),
			last: make([]int, actors+outside), sent: make([]int, actors)}
		m.actor = actor{pool: w.p, name: fmt.Sprint("actor ", i), budget: 1 + m.rand.IntN(8), receive: m.live,
			entered: w.visit, starts: func() { m.noticed.Store(false) }}
		m.Adopt(m, w.p.Stage(i%w.p.Stages()), i%7 == 0)
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

// visit is called by whoever holds s.
func (w *world) visit(s *Stage) {
	l := w.stages[s.index]
	l.visits++
	l.counted.Add(1)
}

// notice is OnBlocked.
func (w *world) notice(b Blocked) {
	m := b.Task.(*modelActor)
	m.noticed.Store(true)
	if c := m.stalled.Swap(nil); c != nil {
		close(*c)
	}
}

// Turn has those run who relay their turns, one after the other.
func (m *modelActor) Turn(w *Worker) TurnResult {
	v, relayed := relayTurns(w, m, (*modelActor).turn)
	m.w.relayed.Add(int64(relayed))
	return v
}

// turn checks that the handler which had the stage before is out of it.
func (m *modelActor) turn(w *Worker) TurnResult {
	m.settle(w)
	v := m.actor.Turn(w)
	if v != Lost {
		l := m.w.stages[w.Stage().index]
		if l.holder != m {
			m.w.fail("stage %d: the turn of %d ends in the middle of another", w.Stage().index, m.id)
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
	l := m.w.stages[w.Stage().index]
	if l.holder != nil && !l.over && l.lease.revoked.Load() == 0 {
		m.w.fail("stage %d: %d runs beside %d", w.Stage().index, m.id, l.holder.id)
	}
	l.holder, l.lease, l.over = m, w.lease, false
}

// resume is settle after a Yield: there is another lease, unless nobody waited.
func (m *modelActor) resume(w *Worker) {
	if !w.Enter() {
		return
	}
	if l := m.w.stages[w.Stage().index]; l.holder != m || l.lease != w.lease {
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
	blocked := m.act(w)
	if l.hops > 0 {
		m.pass(w, l.hops-1)
	}
	if m.w.stalls && !blocked && m.rand.IntN(150) == 0 {
		m.stall()
	}
	leave := m.rand.IntN(100) == 0
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

// act does something that a handler may do, and answers whether it gave up its
// stage for good.
func (m *modelActor) act(w *Worker) (blocked bool) {
	switch n := m.rand.IntN(64); {
	case n < 8:
		m.w.yields.Add(1)
		w.Yield()
		m.resume(w)
	case n < 10:
		m.w.blocks.Add(1)
		w.Block()
		return true
	case n == 10:
		m.w.look(m.rand)
	case n == 11:
		s := m.w.p.Stage(m.rand.IntN(m.w.p.Stages()))
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
	if to.Stage() != m.w.p.Stage(to.id%m.w.p.Stages()) {
		m.w.moved.Add(1)
	}
}

// look looks at some actor.
func (w *world) look(r *rand.Rand) {
	m := w.actors[r.IntN(len(w.actors))]
	w.p.Look(&m.Entity, func(stage int, queued, running bool) {
		if s := m.Stage(); s.index != stage {
			w.fail("Look at %d: stage %d, home %d", m.id, stage, s.index)
		}
		if running && !queued && m.inside.Load() != 0 {
			w.fail("Look at %d: running, and not queued", m.id)
		}
		w.visit(w.p.Stage(stage))
		m.in.Take(&m.q) // as one who counts messages does
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

// inlineWorker is an inline worker that runs some of what it wakes, and has another goroutine go
// on when a handler keeps it.
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

// meddler borrows and looks until all is done, now and then.
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
			s := w.p.Stage(r.IntN(w.p.Stages()))
			w.p.Borrow(s, func() { w.visit(s) })
		}
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
			s.index, s.state, atomic.LoadUint32(&s.n), s.inject.Load(), listening, s.lease != nil)
	}
	return b.String()
}

func TestModel(t *testing.T) {
	messages, hops := 150, 30
	if testing.Short() {
		messages, hops = 60, 20
	}
	for _, procs := range []int{1, 2, 4} {
		for _, c := range []Config{
			{Workers: 1, Stages: 1}, {Workers: 1, Stages: 3}, {Workers: 2, Stages: 1},
			{Workers: 2, Stages: 2}, {Workers: 4, Stages: 3}, {Workers: 3, Stages: 16},
		} {
			for _, s := range []script{{}, {meddle: true}, {early: true},
				{inline: true}, {inline: true, meddle: true}, {inline: true, early: true}} {
				name := fmt.Sprintf("procs=%d,workers=%d,stages=%d,meddle=%v,early=%v,inline=%v",
					procs, c.Workers, c.Stages, s.meddle, s.early, s.inline)
				t.Run(name, func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					c.Blocked = time.Millisecond
					play(t, c, messages, hops, s)
				})
			}
		}
	}
}

// script says what happens beside the actors. A meddler's every look gives a pool
// that has forgotten a worker the kick it needs, and so does the watcher's: hence
// the script without either.
type script struct {
	meddle bool // somebody outside borrows and looks
	inline bool // those outside are inline workers
	early  bool // Stop is called while all are at work; nobody watches from then on, so nobody may stall
}

// play runs a world to its end.
func play(t *testing.T, c Config, messages, hops int, script script) {
	const outsiders = 3
	seed := randtest.Seed(t)
	w := newWorld(t, seed, c, 5+5*c.Stages, outsiders+1)
	if w.faithful > 90 { // few messages, so that one is often all that an actor has
		messages, hops = messages/10, hops*10
	}
	w.stalls = !script.early
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
	outside.Wait()
	if script.early {
		stopPool(t, w.p)
		require.Zero(t, w.left.Load(), "Stop returned before all was done\n%s", w.state())
	}
	select {
	case <-w.done:
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		require.FailNow(t, "messages are left that nobody handles", "%s%v\n%s", w.state(), w.errs, buf[:runtime.Stack(buf, true)])
	}
	meddlers.Wait()
	if !script.early {
		stopPool(t, w.p)
	}

	require.Empty(t, w.errs)
	handled := 0
	for _, m := range w.actors {
		handled += m.handled
		require.False(t, m.is(queued))
		require.False(t, m.is(suspended))
		require.Zero(t, m.q.Len())
		require.True(t, m.in.Armed(), "the inbox of %d is not armed, and nobody owes it a wake-up", m.id)
		if m.pinned.Load() {
			require.Equal(t, m.id%c.Stages, m.Stage().index, "a pinned entity was moved")
		}
	}
	require.Equal(t, messages*(hops+1), handled)
	for k, l := range w.stages {
		require.Equal(t, int(l.counted.Load()), l.visits, "stage %d guards nothing", k)
	}
	if testing.Verbose() {
		t.Logf("%d moved, %d yields, %d stalls (%d turns reported), %d blocks, %d Goexits, %d helped (%d replaced), %d relayed", w.moved.Load(), w.yields.Load(),
			w.stalled.Load(), w.p.BlockedTurns(), w.blocks.Load(), w.goexits.Load(), w.helped.Load(), w.replaced.Load(), w.relayed.Load())
	}
}
