// Package executor runs tasks, such as the event-driven actors of a node, on a pool
// of worker goroutines. A message between two tasks of one stage costs no atomic
// operation, and a task that blocks does not delay the others.
//
// # Nouns
//
//   - A [Task] is run one turn at a time; it embeds an [Entity], which is its state in the scheduler.
//   - A [Stage] is a group of entities that run one at a time, with a run queue. An entity belongs to one stage at a time.
//     Entities are spread over a few stages per worker; callers can make further stages.
//   - A [Worker] is a goroutine that runs one stage at a time, under a lease.
//   - A [Pool] has the stages and the workers.
//   - An [InlineWorker] is a caller's goroutine that acts as a worker for a moment.
//   - A move takes an entity to another stage: see [Pool.Move].
//   - A [sched.Scheduler] is a user's replacement for the workers. [Pool.NewDriven] makes a stage that it runs; a
//     [Dedicated] runs one task on its own goroutine, without a stage.
//
// A pool, a task, and a wake-up from outside (the Example has the task):
//
//	p := executor.New(executor.Config{})
//	p.Start()
//	t := &task{}
//	t.Adopt(t, p.Spread(), false)
//	if t.in.Push(&inbox.Node{Msg: "hello"}) == mailbox.Wake {
//		p.Inject(&t.Entity, nil) // Push returned Wake: the caller must wake the task
//	}
//	err := p.Stop(ctx)
//
// # Stages and leases
//
// The goroutine that holds a stage may access the data that the stage guards: its run queue, its free nodes, and the
// unshared halves of its entities. A worker holds a stage under a lease, a lock that favours it: to enter, it
// stores a flag and loads another; to leave, it stores the flag. It is outside while a handler runs,
// and inside for the few instructions in between: to take the next message off a queue, or to append a message of the
// handler to the queue of a neighbour on the same stage.
//
// Another goroutine that wants the stage revokes the lease: a store, and a wait until the worker is outside. The worker
// notices it when it next tries to enter.
//
//	worker          store busy;    load revoked -> unset: inside
//	revoker         store revoked; load busy    -> unset: the worker is outside
//
// At least one of the two sees the other's store. A revoked lease is never used again; a returned one is.
//
// # Wake-ups
//
// An entity is woken by its neighbours with [Stage.Wake], a plain append to the run
// queue, and from anywhere else with [Pool.Inject]: a push onto its stage's inject list, a lock-free stack that the holder
// empties before each turn ([Task.CollectInbox]). The first goroutine that pushes onto the list of a stage without a holder
// queues the stage in the pool's list and wakes a worker for it.
//
// If that is a handler, on a worker that will soon be idle, the worker defers the wake-up: it takes the other stage itself
// after the handler, or wakes another worker as soon as it has other work. So two actors on two stages run on one worker
// without a goroutine switch.
//
// An inline worker ([Pool.NewInlineWorker]) runs the entities that it woke itself, in RunPending, while fewer than
// Config.Workers are active: at most 4 stages, and on each as many turns as it woke entities, or 4. Workers do the rest.
// Its goroutine has other work, so a handler must not occupy it. When the stage is taken from it, by [Worker.Block], by an
// inspection, or by the watcher when it sees the same turn twice, the turn becomes detached, and the pool calls the inline
// worker's onDetach function, which makes another goroutine do the other work.
//
// A turn may defer work to its end ([Worker.DeferToTurnEnd], [Local].End). The work is also done before the handler
// waits, and the watcher reports long turns ([Local].Overdue).
//
// Tasks that run on their own goroutines may relay their turns ([Worker.Relay]): one ends its turn, begins that of the next
// task in the queue, and resumes its goroutine without going through the worker. The worker gets the stage back from the
// last of them. They do this only while the worker has nothing else to do between turns, and not for long.
//
// Only one party at a time has the right to wake an entity from outside, until CollectInbox has consumed the wake-up:
// inbox.Inbox guarantees that. An entity can move to another stage only while a party holds that right, or has taken it
// with [Task.Claim].
//
// # Where entities run
//
// An entity made by another entity is put on the same stage; those made outside are spread over the stages in blocks. After
// that, unless it is pinned:
//
//   - When a worker is idle, another worker with a long enough run queue gives half of it to an idle stage (Worker.share):
//     the later half, so that entities that were woken one after the other stay together.
//   - An entity that is woken eight times in a row by the same other stage, and not by a third or its own stage, moves
//     there (Stage.gather).
//   - An entity whose turns are short and end because of its sends moves to the stage that it sends to (Worker.migrate).
//     Meanwhile neither it nor its receivers are moved to idle stages: a message to another stage costs both cores more
//     than a local message costs one.
//
// After a turn that returns [Again], the entity goes to the end of the queue. After 512 turns, where one that returned
// Again counts as 64, a stage goes behind other waiting stages. Fresh entities ([Stage.WakeFresh]) run when no other entity
// of the stage is due, the newest first, but one of them after at most 64 turns of others.
//
// # Kinds of stages
//
// There are three kinds of stages:
//
//	             made by       number            held by        others move entities there
//	spread over  Config,       from 0            a worker       to balance the load; Move
//	             SetStages
//	own          NewStage      from FirstOwn     a worker       Move
//	driven       NewDriven     -1                a scheduler's  never
//	                                             goroutine
//
// Entities on an own stage are pinned: they are not moved to balance the load. An own stage may be exclusive. If an
// exclusive stage is taken from its worker in the middle of a handler, by the watcher or by an inspection, it is reserved:
// it has no holder until that turn is over, or its handler declares that it will wait ([Worker.Block]). [Worker.Yield] does
// nothing there, and a handler that has waited continues only under a new lease ([Worker.Rejoin]).
//
//	        takeLocked                     the turn is over, or its handler waits
//	held ------------------> reserved ---------------------------------------------> idle or queued
//	  |                                                                               ^
//	  '-- release, handOver, Block ---------------------------------------------------'
//
// This package is not involved in ordered stages, where the order of sends applies across actors: their mailboxes implement
// that, see internal/kernel/runner.
//
// A stage is closed by [Stage.Close], or by [Pool.SetStages] when the number of stages is reduced. It continues to run, but
// no Move ends there. The closer moves its entities, and then calls [Pool.Forget] if NewStage has made the stage: the
// watcher then ignores it. Those of SetStages remain, empty, and are reused. Three things could bring an entity to a stage
// after it was closed and its entities were moved:
//
//   - A worker that balances the load has checked before. SetStages therefore takes all stages from their workers once: a
//     worker that was inside is then outside, and its next check sees the new number.
//   - A Move has been requested before. It checks when the entity leaves its old stage, and again when the entity has the
//     new one: if that is closed, the entity goes to another stage.
//   - An entity is made there. Its maker checks after others can find the entity, and moves it.
//
// # Moves
//
// [Pool.Move] makes a task, the mover, for an entity, and wakes it on the entity's stage, where no other party can move the
// entity concurrently. If the entity is not in its turn, and the mover has the right to its next wake-up, the entity gets
// its new stage and is put into that stage's inject list. Otherwise the mover waits, without a turn, until the entity is
// due, its turn ends, or another party's wake-up arrives. move.go has a state diagram. A handler that does not return
// delays the move; a later Move changes its target, and one with Joins shares its end.
//
// # Driven stages
//
// A driven stage is not in the pool's list. When it becomes ready it is passed to its scheduler as a [sched.Runnable]: each
// run is one turn of the stage, on the scheduler's goroutine, which acts as a worker meanwhile and does not count towards
// Config.Workers. The pool never takes a driven stage on its own, and the watcher ignores it. A handler that blocks there
// releases it as elsewhere. [sched.Scheduler.Schedule] is called without a lock of the pool.
//
// # Long-running handlers
//
// The watcher checks every held stage five times within Config.Blocked while workers run and after a long turn, and every
// 64 ms under low load, unless an entity is woken on a held stage: see pace. When nothing has run for 64 ms it rests; after
// a rest its first check comes soon. If a worker has been in one turn since the last check, and other entities of its stage
// are due, the stage is taken from it as soon as another worker is idle. After Config.Blocked it is taken in any case, and
// the turn is counted and reported (Config.OnBlocked) once. The handler continues as a detached turn: without a stage, on
// its worker, which no longer counts towards Config.Workers. It sends like a goroutine outside the stage. When it has
// ended, its worker returns the entity by putting its own entity into the inject list of the stage, whose holder finishes
// the turn ([Task.FinishDetached]). Until then the entity is marked as queued: no worker runs it, moves it or takes
// messages off its queue, but messages are still added.
//
// Usually many handlers block, not one. So after a check that has taken a stage away, or two that have found other entities
// waiting, the next checks follow at once (pace.go): a turn that runs for about ten microseconds while others wait is then
// detached. So only the first two or three of such handlers delay a stage, not each.
//
// Turns are detached in two other ways: by [Worker.Block], with which a handler declares that it will wait, and which is
// not reported; and by the inspections [Pool.Borrow] and [Pool.Look], which take the stage from its worker to read the data
// that it guards. [Entity.Observe] returns what an entity is doing without taking the stage.
//
// [Worker.Blocking] is Block, a call, and the way back: the handler requests its stage with a task in the inject list,
// waits at the end of the run queue with its goroutine blocked, and gets the stage by a hand-over, as after a Yield. If the
// pool stops meanwhile, it continues without the stage, as a detached turn.
//
// [Worker.Yield] suspends a handler so that others run first. The entity waits in the run queue like the others, its
// goroutine is blocked, and another worker runs the stage. When the entity is due, that worker hands the stage over, under
// a new lease. A handler that sends many messages yields automatically ([Worker.Sent]). The watcher ignores suspended
// handlers.
//
// One lock, Pool.mu, guards the data shared by all workers: the waiting stages and the waiting workers. It is taken when an
// idle stage is woken, and when a worker takes or returns a stage, but not for each message. docs/performance-ablation.md
// says how often that is.
//
// # Invariants
//
// lease.go has those of a lease. The others, at any time:
//
//  1. A stage is held by at most one party, and is idle, queued or held; state, lease and the links of the pool's list
//     change under the pool's lock.
//  2. An idle stage has an empty run queue, and a nil inject list unless a goroutine is about to make it ready: only the
//     goroutine that pushes onto nil must do that. A stage becomes idle only after a check of its list.
//  3. An entity is marked as queued from its insertion into its stage's run queue to the end of its turn, including a
//     detached turn, and is in the run queue at most once. It is also in at most one inject list: that of its stage, or on
//     the way there.
//  4. Entity.stage changes only while the old stage is held, by the party that has the
//     right to the entity's next wake-up, and when the entity is neither in its turn
//     nor suspended. If the entity is marked as moving, only its mover changes it.
//  5. An entity's handlers run one at a time, in sequence. So do the methods of its task, except Name; but while a handler
//     runs without its stage, CollectInbox may be called.
//  6. While a stage is queued and workers could run, a worker is on its way to it, or has deferred a wake-up
//     (Worker.pendingWake), which it makes after its turn, or the watcher makes if the turn takes long, or an inline worker
//     is between Inject and RunPending. A driven stage is queued only while its scheduler has it, or is about to get it.
//  7. A goroutine that holds the pool's lock may wait for a worker to leave its stage. So no worker inside a stage takes
//     that lock, or a lock under which that lock is taken.
//  8. A reserved stage is marked as held and has no lease. It is reserved for one turn, which is in Pool.detached.
//  9. An entity has at most one mover, which is in Pool.movers until the entity's target is settled. The mover is marked as
//     queued, or injected, or in Stage.moves of the entity's stage; only in the last case is the entity marked as moving,
//     and then it is queued, in its turn, or about to be woken from outside.
//  10. Entities on a stage made by NewStage are pinned there.
//  11. If a stage is closed, and a later scan of all entities has found none on it, then it has only entities that are
//     about to leave it.
//  12. Immediate checks take no stage while maxApart turns run without theirs, and do not take an exclusive stage sooner
//     than other checks.
//  13. Pool.free has the workers without a goroutine. A goroutine that ends puts its worker there last, so the number of
//     workers, and of values made by Config.Local, is at most the maximum number of concurrent workers.
//
// # Locks
//
//	lock        guards                                     taken
//	Pool.mu     states of stages, workers, turn records    outside all stages
//	movers.mu   targets of movers, and                     inside a stage or not; no lock is taken under it, and Done is
//	            which entities are pinned                  called after it
//	nodesMu     recycled nodes                             inside a stage or not; no lock is taken under it
//
// # Goroutines
//
//	name     started by         ends with                            owns
//	worker   the pool, when a   Stop, when it finds no work;         the stage under its lease;
//	         stage is ready     or at once, if there are enough idle its handler's turn
//	watcher  Start              Stop                                 its records in the leases
//	driver   driver.Run, on a   the turn: its caller waits           the turn of a driven stage
//	         goroutine that is
//	         locked to a thread
//	hand to  release of a       Schedule's return                    nothing
//	sched.   driven stage
//	Dedicated  its owner        Dedicated.Stop                       one task
//
// Stop waits for workers, the watcher, and for driven stages that are queued or have a turn. A handler that does not return
// keeps its worker, and a scheduler that does not run a stage keeps it queued: Stop gives up on them when its context ends.
// A handler that calls runtime.Goexit ends only its worker; one that panics ends the program, unless the task recovers.
//
// # What can be lost, reordered, duplicated
//
// No wake-up is lost before Stop has returned: Stop lets the workers finish current turns, and everything that these wake.
// Entities injected after the last worker has ended do not run. The watcher ends when Stop is called: a handler that blocks
// then delays its stage until it returns.
//
// Entities of one stage run in the order in which they were woken, except fresh ones; injected ones, in the order in which
// the holder collects them. There is no order between stages, or with detached turns. One turn may serve several wake-ups
// of an entity.
//
// # Limits
//
// A turn must leave its stage regularly, as it does around each handler: while it is inside, all goroutines that need the
// pool's lock may have to wait. There are at most 65,534 stages that entities are spread over, and as many of NewStage that
// have not been forgotten. The number of detached turns is that of the blocking handlers, each with a goroutine, but
// immediate checks detach at most maxApart. The pool keeps the goroutines of at most Config.Workers plus sixteen idle
// workers.
//
// A handler that blocks for less than a fifth of Config.Blocked does not trigger such checks: many of them may delay a
// stage one after the other. A check cannot distinguish a handler that blocks from one that computes. If all processors
// compute, the watcher does not run, so no stage is taken; if Config.Workers is less than GOMAXPROCS, more handlers than
// Workers may compute concurrently.
package executor
