package executor

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
)

// Verdict is what a turn ends with.
type Verdict uint8

const (
	Idle    Verdict = iota // nothing left to do; a wake-up will come
	Again                  // more to do: to the back of the queue
	Lost                   // the stage was taken away during the turn; Back must follow
	Refused                // nothing has been done: Worker.CanSwitch says no; the stage is held still
)

// Task is what a stage runs. All methods are called by the worker that holds the stage
// at the time, one at a time, except Name; but while a turn goes on without its
// stage, Notice may be called.
type Task interface {
	// Turn does a bounded amount of work. It is entered on w's stage, leaves it
	// (w.Leave) around foreign code and enters it again (w.Enter) afterwards. Who
	// wants the stage must wait until it leaves. What it returns is of the turn that was
	// the last, if others have followed: see [Worker.Relay].
	Turn(w *Worker) Verdict
	// Notice takes in what was pushed from outside the stage and makes the next
	// push from outside wake the task again. It answers whether there is work.
	Notice(s *Stage) bool
	// Back ends a turn that lost its stage. It answers whether there is work.
	Back(s *Stage) bool
	// Claim makes the caller the one who owes the task its next wake-up, so that
	// it can be moved. It answers false where somebody else owes it already.
	Claim() bool
	// Name says in a log line what is running.
	Name() string
}

// FiberTask is a Task whose turns run on another goroutine than the worker's: that of a
// coroutine.
type FiberTask interface {
	// Fiber returns the number of the fiber whose goroutine that is; see fiber.Traceback. It
	// is called while a turn is under way.
	Fiber() uint64
}

// Entity is a task's place in the scheduler: embed it by value. An entity has a
// home, its stage, and is woken there; only the stage's owner moves it.
type Entity struct {
	task   Task
	next   *Entity               // run queue of the home stage
	inj    *Entity               // inject list of the home stage; whoever owes the wake-up
	home   atomic.Pointer[Stage] // nil: this entity is not run by stages
	pinned atomic.Bool           // never moved
	from   uint16                // stage that woke it from outside, plus 1; 0: none; whoever owes the wake-up

	// Guarded by the home stage.
	foreignWakes   uint8 // wake-ups by the stage foreignWaker, one after the other: see Stage.gather
	hasLocalSender bool  // somebody of this stage talks to it, or has until Worker.share has seen that
	flags          flags // read by anybody: see Observe
	foreignWaker   uint16
	sendTarget     uint16 // see Talks: the stage, plus 1; 0: none
}

// flags of an entity.
type flags uint32

const (
	queued    flags = 1 << iota // in the run queue, running, or running without the stage
	relays                      // the turn before may begin this entity's: see Worker.Relay
	suspended                   // in the run queue with a handler to continue: see Worker.Yield
)

// is reports whether e has one of some flags. The caller holds e's stage, as those of set and unset do.
func (e *Entity) is(f flags) bool { return e.flags&f != 0 }

func (e *Entity) set(f flags) { bias.Store((*uint32)(&e.flags), uint32(e.flags|f)) }

func (e *Entity) unset(f flags) { bias.Store((*uint32)(&e.flags), uint32(e.flags&^f)) }

// Adopt gives e, which nobody else knows of yet, its task and its home.
func (e *Entity) Adopt(t Task, s *Stage, pinned bool) {
	e.task = t
	if pinned {
		e.pinned.Store(true)
	}
	if s != nil {
		bias.StorePointer(&e.home, s)
	}
}

// Queued reports whether e is in the run queue or running. The caller holds e's
// stage.
func (e *Entity) Queued() bool { return e.is(queued) }

// Observe returns the number of e's stage, whether e is in its run queue or running, and
// whether it waits there in the middle of a turn: see [Worker.Yield]. Anybody may call it for an
// entity that stages run. It does not take the stage: what it returns may change meanwhile.
func (e *Entity) Observe() (stage int, isQueued, isSuspended bool) {
	f := flags(atomic.LoadUint32((*uint32)(&e.flags)))
	return e.home.Load().index, f&queued != 0, f&suspended != 0
}

// Task returns what was adopted.
func (e *Entity) Task() Task { return e.task }

// Home returns the stage that e belongs to, nil if it is not run by stages.
func (e *Entity) Home() *Stage { return e.home.Load() }

// Pin keeps e on the stage it is on.
func (e *Entity) Pin() { e.pinned.Store(true) }

// Talks records the entity to which e sent its last message when its turn ended because of
// its sends; nil clears it. If e does little else the two are better off on one stage: see
// Worker.migrate. The caller holds e's stage.
func (e *Entity) Talks(to *Entity) {
	e.sendTarget = 0
	if to == nil {
		return
	}
	if s := to.Home(); s != nil {
		e.sendTarget = uint16(s.index + 1)
		if s == e.Home() {
			to.hasLocalSender = true
		}
	}
}

// Relays says whether the turn before may begin e's: see [Worker.Relay]. The caller holds
// e's stage.
func (e *Entity) Relays(may bool) {
	if may {
		e.set(relays)
	} else {
		e.unset(relays)
	}
}
