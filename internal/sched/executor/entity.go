package executor

import (
	"sync/atomic"
)

// TurnResult is the result of a turn.
type TurnResult uint8

const (
	Idle    TurnResult = iota // no work left until a wake-up
	Again                     // more work: to the end of the queue
	Lost                      // the stage was taken away during the turn; FinishDetached must follow
	Refused                   // nothing was done because Worker.CanSwitch is false; the stage is still held
)

// Task is run by a stage. All methods except Name are called by the worker that holds the stage, one at a time; but while a
// turn runs without its stage, CollectInbox may be called.
type Task interface {
	// Turn does a bounded amount of work. It is called inside w's stage, leaves it (w.Leave) around foreign code and enters
	// it again (w.Enter) afterwards. Until it leaves, other goroutines that need the stage wait. If turns were relayed, it
	// returns the result of the last one: see [Worker.Relay].
	Turn(w *Worker) TurnResult
	// CollectInbox collects messages pushed from outside the stage and makes the next push from outside wake the task
	// again. It reports whether there is work.
	CollectInbox(s *Stage) bool
	// FinishDetached ends a turn that lost its stage. It reports whether there is work.
	FinishDetached(s *Stage) bool
	// Claim gives the caller the right to the task's next wake-up, so that the task can be moved. It returns false if
	// another party already has that right.
	Claim() bool
	// Name describes the task for a log line.
	Name() string
}

// FiberTask is a Task whose turns do not run on the worker's goroutine but on that of a
// coroutine.
type FiberTask interface {
	// Fiber returns the number of the fiber that runs the turn; see fiber.Traceback. It is called during a turn.
	Fiber() uint64
}

// Entity is the scheduler's state of a task: embed it by value. An entity belongs to
// a stage and is woken there; only the holder of that stage moves it.
type Entity struct {
	task   Task
	next   *Entity               // in the stage's run queue
	inj    *Entity               // in the stage's inject list; owned by the party with the right to the wake-up
	stage  atomic.Pointer[Stage] // nil if the entity is not run by stages
	pinned atomic.Bool           // never moved
	from   uint16                // stage that woke it from outside, plus 1, or 0; same owner as inj

	// Guarded by holding the stage.
	foreignWakes   uint8         // consecutive wake-ups by the stage foreignWaker: see Stage.gather
	hasLocalSender bool          // an entity of this stage sends to it, or did until Worker.share last looked
	flags          atomic.Uint32 // of flags; read without the stage: see Observe
	foreignWaker   uint16
	sendTarget     uint16 // see SetSendTarget: the stage plus 1, or 0
}

// flags of an entity.
type flags uint32

const (
	queued    flags = 1 << iota // in the run queue, running, or running without the stage
	relayable                   // the previous turn may start this entity's: see Worker.Relay
	suspended                   // in the run queue with a handler to continue: see Worker.Yield
	moving                      // queued, and moved once it is due, or its turn is over: see Pool.Move
)

// is reports whether e has any of the flags f. The caller holds e's stage, also for set and unset.
func (e *Entity) is(f flags) bool { return e.flags.Load()&uint32(f) != 0 }

func (e *Entity) set(f flags) { e.flags.Or(uint32(f)) }

func (e *Entity) unset(f flags) { e.flags.And(^uint32(f)) }

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
// for an entity that stages run. It does not take the stage, so the results may be outdated.
func (e *Entity) Observe() (stage int, isQueued, isSuspended bool) {
	f := flags(e.flags.Load())
	return e.stage.Load().Index(), f&queued != 0, f&suspended != 0
}

// Task returns the task of e.
func (e *Entity) Task() Task { return e.task }

// Stage returns e's stage, or nil if e is not run by stages.
func (e *Entity) Stage() *Stage { return e.stage.Load() }

// Pin keeps e on its stage.
func (e *Entity) Pin() { e.pinned.Store(true) }

// Unpin reverses Pin. On an own stage, e should stay pinned.
func (e *Entity) Unpin() { e.pinned.Store(false) }

// SetSendTarget records the receiver of e's last message if its turn ended because of its sends; nil clears it. If e does
// little else, both run faster on one stage: see Worker.migrate. The caller holds e's stage.
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

// SetRelayable sets whether the previous turn may start e's: see [Worker.Relay]. The caller holds e's stage.
func (e *Entity) SetRelayable(may bool) {
	if may {
		e.set(relayable)
	} else {
		e.unset(relayable)
	}
}
