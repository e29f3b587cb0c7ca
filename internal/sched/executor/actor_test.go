package executor

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// actor is a Task like those of the packages above: a mailbox, and a handler that runs outside the stage.
type actor struct {
	Entity
	in      inbox.Inbox
	pool    *Pool
	name    string
	budget  int // messages a turn
	receive func(w *Worker, msg any)
	entered func(*Stage) // called wherever the actor is in its stage; nil: not called
	starts  func()       // called when a turn starts; nil: not called

	q inbox.Queue // guarded by the home stage

	// Owned by the goroutine that runs the actor.
	ended bool // the handler that lost its stage has ended
}

// newActor returns an actor on stage k.
func newActor(p *Pool, k int, receive func(w *Worker, msg any)) *actor {
	a := &actor{pool: p, name: "actor", budget: 4, receive: receive}
	a.Adopt(a, p.Stage(k), false)
	return a
}

func (a *actor) Name() string { return a.name }

func (a *actor) Claim() bool { return a.in.Claim() }

func (a *actor) CollectInbox(s *Stage) bool {
	a.visit(s)
	a.in.TakeArmed(&a.q)
	return a.q.More()
}

func (a *actor) FinishDetached(s *Stage) bool {
	a.visit(s)
	if a.ended {
		a.ended = false
		s.Recycle(a.q.Drop())
	}
	return a.q.More() || a.in.Pending()
}

func (a *actor) visit(s *Stage) {
	if a.entered != nil {
		a.entered(s)
	}
}

func (a *actor) Turn(w *Worker) TurnResult {
	if a.starts != nil {
		a.starts()
	}
	for range a.budget {
		a.visit(w.Stage())
		msg, ok := a.q.Next()
		if !ok {
			if a.in.Take(&a.q) > 0 {
				continue
			}
			return Idle
		}
		if !a.handle(w, msg) {
			return Lost
		}
		a.visit(w.Stage())
		w.Stage().Recycle(a.q.Drop())
	}
	return Again
}

// relayTurns runs turn for t and for the tasks that t relays its turn to, and returns how many these were.
func relayTurns[T Task](w *Worker, t T, turn func(T, *Worker) TurnResult) (v TurnResult, relayed int) {
	for ; ; relayed++ {
		if v = turn(t, w); v == Lost {
			return v, relayed
		}
		next := w.Relay(v)
		if next == nil {
			return v, relayed
		}
		t = next.(T)
	}
}

// handle runs the handler outside the stage. It returns false if the stage was lost. A handler that ends by Goexit has
// handled its message all the same.
func (a *actor) handle(w *Worker, msg any) bool {
	w.Leave()
	a.ended = true
	a.receive(w, msg)
	if !w.Enter() {
		return false
	}
	a.ended = false
	return true
}

// send delivers msg. w is the worker whose handler sends, nil elsewhere.
func (a *actor) send(w *Worker, msg any) {
	if w == nil || !w.Enter() {
		a.push(w, &inbox.Node{Msg: msg})
		return
	}
	s := w.Stage()
	n := s.Node(msg)
	if a.Stage() != s {
		w.Leave()
		a.push(w, n)
		return
	}
	a.visit(s)
	if !a.in.Armed() {
		a.in.Take(&a.q)
	}
	a.q.Append(n)
	s.Wake(&a.Entity)
	w.Leave()
}

func (a *actor) push(w *Worker, n *inbox.Node) {
	if a.in.Push(n) == mailbox.Wake {
		a.pool.Inject(&a.Entity, w)
	}
}

// startPool starts a pool that is stopped when the test ends.
func startPool(t testing.TB, c Config) *Pool {
	p := New(c)
	p.Start()
	t.Cleanup(func() { stopPool(t, p) })
	return p
}

// stopPool stops p and checks that nothing is left of it.
func stopPool(t testing.TB, p *Pool) {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Limit)
	defer cancel()
	require.NoError(t, p.Stop(ctx))
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Zero(t, p.live, "goroutines")
	require.Zero(t, p.active)
	require.Empty(t, p.detached)
	require.Nil(t, p.first, "a stage is queued still")
	for _, s := range p.stages {
		require.Equal(t, stageIdle, s.state, "stage %d", s.index)
		require.Nil(t, s.lease)
		require.Nil(t, s.inject.Load(), "stage %d: somebody was woken and never noticed", s.index)
		require.Zero(t, s.n.Load())
		require.Nil(t, s.head)
		require.Nil(t, s.current)
		require.Empty(t, s.waiting)
	}
}

// compute keeps the goroutine busy for about d.
func compute(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// record holds values that handlers note and a test reads meanwhile.
type record[T any] struct {
	mu  sync.Mutex
	all []T
}

func (r *record[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, v)
}

func (r *record[T]) got() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
