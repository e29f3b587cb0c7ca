package executor

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// listening ends an inject list that its stage will check on its own. A nil list means that the goroutine that adds the
// first entity must make the stage ready.
var listening = new(Entity)

// stageState determines which goroutine may access a stage.
type stageState uint8

const (
	stageIdle   stageState = iota // none; no work
	stageQueued                   // none; in the pool's list
	stageHeld                     // a worker under a lease, or a borrower
)

// Stage is a group of entities that run one at a time, with a run queue. A message between two entities of one stage needs
// no atomic operation. A stage is held by one worker at a time; a handler that has lost it to another worker continues
// without it: see the package comment.
type Stage struct {
	// Set once, except closed.
	pool      *Pool
	index     int         // among those that entities are spread over, or -1
	number    int32       // index, or one from FirstOwn on
	exclusive bool        // see Pool.NewStage
	closed    atomic.Bool // rarely written: see Stage.Close and Pool.SetStages
	driver    *driver     // runs the stage; nil if the pool does

	_      [32]byte
	inject atomic.Pointer[Entity] // woken from outside: a stack
	_      [56]byte

	// Guarded by holding the stage.
	head, tail *Entity
	fresh      *Entity // entities that have not run yet, the newest first
	nfresh     uint32
	n          atomic.Uint32 // length of the run queue, fresh ones included; also read by the watcher
	streak     int           // pops since the last fresh one
	leaving    *Entity       // entities that have moved to the stage that wakes them: see Pool.deliverMigrants
	current    *Entity
	waiting    map[*Entity]*Worker // suspended handlers
	moves      map[*Entity]*mover  // of entities that are marked as moving
	nodes      inbox.Free

	_ [64]byte // the fields below are read by other goroutines under pool.mu

	// Guarded by pool.mu.
	state stageState
	lease *lease // nil unless a worker holds the stage
	spare *lease // a returned lease, for the next holder
	at    int    // the index in Pool.own
	after *Stage // in the pool's list

	reserved *lease // an exclusive stage is reserved for the turn that lost this lease; else nil
}

// Index returns the number of s: from 0, or from FirstOwn on for one that NewStage has made.
func (s *Stage) Index() int { return int(s.number) }

// Node returns a mailbox node with msg in it. The caller holds the stage.
func (s *Stage) Node(msg any) *inbox.Node {
	if s.nodes.Len() == 0 {
		s.pool.Refill(&s.nodes)
	}
	return s.nodes.Get(msg)
}

// Recycle returns a node to the stage. The caller holds the stage.
func (s *Stage) Recycle(n *inbox.Node) {
	s.nodes.Put(n)
	if s.nodes.Len() >= 4*inbox.Batch {
		s.pool.returnNodes(&s.nodes)
	}
}

// Wake puts e, which belongs to s, into the run queue unless it is already there or running. The caller holds the stage.
func (s *Stage) Wake(e *Entity) {
	if !e.is(queued) {
		e.set(queued)
		e.foreignWakes = 0
		s.push(e)
	}
}

// WakeFresh is Wake for an entity that has never run. Fresh entities run when no others are due, the newest first: a tree
// of spawns is walked depth-first, so few of its entities are alive at a time. The newest one waits for at most freshAfter
// turns of others; an older one also for newer ones.
func (s *Stage) WakeFresh(e *Entity) {
	if !e.is(queued) {
		e.set(queued)
		e.next, s.fresh = s.fresh, e
		s.nfresh++
		s.n.Add(1)
	}
}

const freshAfter = 64

func (s *Stage) push(e *Entity) {
	e.next = nil
	if s.tail == nil {
		s.head = e
	} else {
		s.tail.next = e
	}
	s.tail = e
	s.n.Add(1)
}

func (s *Stage) pop() *Entity {
	e := s.head
	if s.fresh != nil {
		if s.streak++; e == nil || s.streak > freshAfter {
			s.streak = 0
			e = s.fresh
			s.fresh = e.next
			s.nfresh--
			s.n.Add(^uint32(0))
			return e
		}
	}
	if e != nil {
		s.popFront()
	}
	return e
}

// popFront removes the first entity of the run queue, ignoring fresh ones.
func (s *Stage) popFront() {
	if s.head = s.head.next; s.head == nil {
		s.tail = nil
	}
	s.n.Add(^uint32(0))
}

// post adds the list from first to last to the inject list and reports whether the caller must make s ready.
func (s *Stage) post(first, last *Entity) bool {
	for {
		old := s.inject.Load()
		if old == listening {
			last.inj = nil
		} else {
			last.inj = old
		}
		if s.inject.CompareAndSwap(old, first) {
			return old == nil
		}
	}
}

// injected reports whether an entity was woken from outside.
func (s *Stage) injected() bool {
	h := s.inject.Load()
	return h != nil && h != listening
}

// gather collects all entities that were woken from outside, oldest first.
func (s *Stage) gather() {
	top := s.inject.Swap(listening)
	if top == listening {
		return
	}
	var list *Entity
	for top != nil {
		next := top.inj
		top.inj = list
		list, top = top, next
	}
	for e := list; e != nil; {
		next := e.inj
		e.inj = nil
		switch {
		case s.shouldMigrate(e):
			e.foreignWakes = 0
			e.stage.Store(s.pool.target(e.from)) // while s is held: see Entity
			e.inj, s.leaving = s.leaving, e
		case e.task.CollectInbox(s):
			wakes := e.foreignWakes
			s.Wake(e)
			e.foreignWakes = wakes // Wake has counted it as a local wake-up
		case e.is(moving):
			s.retryMove(e)
		}
		e = next
	}
}

// migrateAfter is the number of consecutive wake-ups by one other stage after which an entity moves there.
const migrateAfter = 8

// shouldMigrate records which stage has woken e and decides whether e moves there: an actor
// that gets messages from no other stage is cheaper to reach there.
func (s *Stage) shouldMigrate(e *Entity) bool {
	if e.from == 0 || int(e.from) == s.index+1 {
		return false
	}
	if e.foreignWaker != e.from {
		e.foreignWaker, e.foreignWakes = e.from, 0
	}
	e.foreignWakes++
	if e.hasLocalSender { // it gets more messages from this stage
		e.hasLocalSender, e.foreignWakes = false, 0
	}
	return e.foreignWakes >= migrateAfter && !e.is(queued) && !e.pinned.Load() && s.pool.target(e.from) != nil
}

// deliverMigrants passes the entities in leaving to their new stage, with the wake-ups that gather has collected. The
// caller has taken leaving from the stage and is outside it.
func (p *Pool) deliverMigrants(leaving *Entity, w *Worker) {
	for e := leaving; e != nil; {
		next := e.inj
		t := e.stage.Load()
		if t.post(e, e) {
			p.ready(t, w)
		}
		e = next
	}
}

// reattach is the task by which a worker that lost its stage in a handler
// returns the entity: it ends that entity's turn.
type reattach struct {
	entity Entity
	e      *Entity
}

func (r *reattach) CollectInbox(s *Stage) bool {
	r.e.unset(queued)
	s.retryMove(r.e)
	if r.e.task.FinishDetached(s) {
		s.Wake(r.e)
	}
	return false
}

func (r *reattach) Turn(*Worker) TurnResult    { panic("executor: a task that reattaches was run") }
func (r *reattach) FinishDetached(*Stage) bool { return false }
func (r *reattach) Claim() bool                { return false }
func (r *reattach) Name() string               { return "reattach " + r.e.task.Name() }
