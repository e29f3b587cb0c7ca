package executor

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/sched/bias"
)

// TurnResult is what a turn ends with.
type TurnResult uint8

const (
	Idle    TurnResult = iota // nothing left to do; a wake-up will come
	Again                     // more to do: to the back of the queue
	Lost                      // the stage was taken away during the turn; FinishDetached must follow
	Refused                   // nothing has been done: Worker.CanSwitch says no; the stage is held still
)

// Task is what a stage runs. All methods are called by the worker that holds the stage
// at the time, one at a time, except Name; but while a turn goes on without its
// stage, CollectInbox may be called.
type Task interface {
	// Turn does a bounded amount of work. It is entered on w's stage, leaves it
	// (w.Leave) around foreign code and enters it again (w.Enter) afterwards. Until it
	// leaves, other goroutines that want the stage wait. It returns the result of the last
	// turn, if others have followed: see [Worker.Relay].
	Turn(w *Worker) TurnResult
	// CollectInbox takes in what was pushed from outside the stage and makes the next
	// push from outside wake the task again. It answers whether there is work.
	CollectInbox(s *Stage) bool
	// FinishDetached ends a turn that lost its stage. It answers whether there is work.
	FinishDetached(s *Stage) bool
	// Claim gives the caller the right to the task's next wake-up, so that the task can
	// be moved. It returns false if another party has that right already.
	Claim() bool
	// Name describes the task for a log line.
	Name() string
}

// FiberTask is a Task whose turns do not run on the worker's goroutine but on that of a
// coroutine.
type FiberTask interface {
	// Fiber returns the number of the fiber that runs the turn; see fiber.Traceback. It
	// is called while a turn is under way.
	Fiber() uint64
}

// Entity is the scheduler's state of a task: embed it by value. An entity belongs to
// a stage and is woken there; only the holder of that stage moves it.
type Entity struct {
	task   Task
	next   *Entity               // in the stage's run queue
	inj    *Entity               // in the stage's inject list; owned by the party with the right to the wake-up
	stage  atomic.Pointer[Stage] // nil: this entity is not run by stages
	pinned atomic.Bool           // never moved
	from   uint16                // stage that woke it from outside, plus 1; 0: none; same owner as inj

	// Guarded by holding the stage.
	foreignWakes   uint8 // wake-ups by the stage foreignWaker, one after the other: see Stage.gather
	hasLocalSender bool  // an entity of this stage sends to it, or did until Worker.share last looked
	flags          flags // read without the stage: see Observe
	foreignWaker   uint16
	sendTarget     uint16 // see SetSendTarget: the stage, plus 1; 0: none
}

// flags of an entity.
type flags uint32

const (
	queued    flags = 1 << iota // in the run queue, running, or running without the stage
	relayable                   // the turn before may begin this entity's: see Worker.Relay
	suspended                   // in the run queue with a handler to continue: see Worker.Yield
	moving                      // queued, and to be moved once it is due, or its turn is over: see Pool.Move
)

// is reports whether e has one of some flags. The caller holds e's stage, as those of set and unset do.
func (e *Entity) is(f flags) bool { return e.flags&f != 0 }

func (e *Entity) set(f flags) { bias.StoreRelaxed((*uint32)(&e.flags), uint32(e.flags|f)) }

func (e *Entity) unset(f flags) { bias.StoreRelaxed((*uint32)(&e.flags), uint32(e.flags&^f)) }

// Adopt gives e its task and its stage. No other goroutine may have access to e yet.
func (e *Entity) Adopt(t Task, s *Stage, pinned bool) {
	e.task = t
	if pinned {
		e.pinned.Store(true)
	}
	if s != nil {
		e.stage.Store(s)
	}
}

// Queued reports whether e is in the run queue or running. The caller holds e's
// stage.
func (e *Entity) Queued() bool { return e.is(queued) }

// Observe returns the number of e's stage, whether e is in its run queue or running, and
// whether it waits there in the middle of a turn: see [Worker.Yield]. Any goroutine may call it
// for an entity that stages run. It does not take the stage, so its results may be outdated.
func (e *Entity) Observe() (stage int, isQueued, isSuspended bool) {
	f := flags(atomic.LoadUint32((*uint32)(&e.flags)))
	return e.stage.Load().Index(), f&queued != 0, f&suspended != 0
}

// Task returns what was adopted.
func (e *Entity) Task() Task { return e.task }

// Stage returns the stage that e belongs to, nil if it is not run by stages.
func (e *Entity) Stage() *Stage { return e.stage.Load() }

// Pin keeps e on the stage it is on.
func (e *Entity) Pin() { e.pinned.Store(true) }

// Unpin ends what Pin has begun. On a stage that is not spread over e should be pinned.
func (e *Entity) Unpin() { e.pinned.Store(false) }

// SetSendTarget records the entity to which e sent its last message when its turn ended because of
// its sends; nil clears it. If e does little else, both run faster on one stage: see
// Worker.migrate. The caller holds e's stage.
func (e *Entity) SetSendTarget(to *Entity) {
	e.sendTarget = 0
	if to == nil {
		return
	}
	if s := to.Stage(); s != nil {
		e.sendTarget = uint16(s.index + 1)
		if s == e.Stage() {
			to.hasLocalSender = true
		}
	}
}

// SetRelayable sets whether the turn before may begin e's: see [Worker.Relay]. The caller holds
// e's stage.
func (e *Entity) SetRelayable(may bool) {
	if may {
		e.set(relayable)
	} else {
		e.unset(relayable)
	}
}
