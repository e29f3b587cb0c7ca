// Package executor runs tasks, such as the event-driven actors of a node, on a pool
// of worker goroutines. A message between two tasks of one stage costs no atomic
// operation, and a task that blocks does not hold up the others.
//
// # Nouns
//
//   - A [Task] is what is run, a turn at a time; its [Entity], embedded in it, is
//     its place here.
//   - A [Stage] is a group of entities of which one at a time has its turn, with
//     the queue of those that are due. An entity belongs to one stage at a time.
//     There are a few stages for each worker, over which entities are spread; a caller makes others.
//   - A [Worker] is a goroutine that runs one stage at a time, under a lease.
//   - A [Pool] is the stages and the workers.
//   - An [InlineWorker] is a goroutine of the caller's that is a worker for a moment.
//   - A move takes an entity to another stage: see [Pool.Move].
//   - A [sched.Scheduler] is what a user may put in place of the workers. [Pool.NewDriven] makes a stage that it
//     runs; a [Dedicated] runs one task on a goroutine of its own, without a stage.
//
// A pool, a task, and a wake-up from outside (the Example has the task):
//
//	p := executor.New(executor.Config{})
//	p.Start()
//	t := &task{}
//	t.Adopt(t, p.Spread(), false)
//	if t.in.Push(&inbox.Node{Msg: "hello"}) == mailbox.Wake {
//		p.Inject(&t.Entity, nil) // Push returned Wake: the caller gives the wake-up
//	}
//	err := p.Stop(ctx)
//
// # Stages and leases
//
// The goroutine that holds a stage may touch what it guards: its run queue, its free
// nodes, and the unshared halves of its entities. A worker holds a stage under a lease,
// a lock that is biased towards it: to enter it stores a flag and loads another,
// to leave it stores, all of it without a fence. It is outside whenever a handler
// runs and inside for the few instructions in between: to take the next message
// off a queue, or to put one that the handler sends into the queue of a neighbour
// on the same stage. That is the local path, and there is nothing atomic on it
// but loads.
//
// Another goroutine that wants the stage revokes the lease: a store, a barrier on all
// threads of the program ([membarrier(2)], which is what makes plain stores
// enough on the worker's side), and a wait until the worker is outside. The
// worker learns of it when it next tries to enter. Where there is no membarrier
// every store carries its own fence: the same, a little slower.
//
//	worker          store busy=1;            load revoked  -> 0: inside
//	revoker         store revoked=1; barrier; load busy    -> 0: the worker is outside
//
// One of the two sees the other's store. A lease that was revoked is never used
// again; one that was given back is.
//
// # Wake-ups
//
// An entity is woken by its neighbours with [Stage.Wake], a plain append to the run
// queue, and from anywhere else with [Pool.Inject]: a push onto its stage's inject
// list, a lock-free stack of which the holder takes all before each turn
// ([Task.CollectInbox]). The first to push onto the list of a stage that nobody holds
// queues the stage in the pool's list and wakes a worker for it.
//
// If that is a handler, on a worker that will soon have nothing else to do, the
// worker defers the wake-up: it takes the other stage itself after the handler, or
// wakes another worker for it as soon as it does have something else to do. Two actors
// on two stages thus run on one worker and need no switch of goroutines.
//
// An inline worker ([Pool.NewInlineWorker]) runs what it woke itself, in RunPending, while fewer
// than Config.Workers are active: at most 4 stages, and on each as many turns as it woke entities,
// or 4. Workers do the rest.
// Its goroutine has other work, so a handler must not keep it. When the stage is taken
// away from it, by [Worker.Block], by a look, or by the watcher when it sees the same
// turn twice, the pool calls the inline worker's onDetach function, which has another
// goroutine do that work; the turn is detached.
//
// A turn may defer work to its end ([Worker.DeferToTurnEnd], Config.OnTurnEnd). The work is
// also done before the handler waits, and the watcher reports turns that go on (Config.OnLong).
//
// Tasks that run on goroutines of their own may relay their turns ([Worker.Relay]): one
// ends its turn, begins that of the next in the queue, and resumes its goroutine without
// the worker in between. The worker gets the stage back from the last of them. They do so
// only while the worker has nothing else to do between two turns, and not for long.
//
// One party at a time has the right to wake an entity from outside, until CollectInbox
// has taken the wake-up in: inbox.Inbox sees to that. An entity can move to another stage
// only while a party holds that right, or has taken it with [Task.Claim].
//
// # Where entities run
//
// An entity that is made by another is put on its stage; those that are made
// outside are spread over the stages in blocks. After that, unless it is pinned:
//
//   - When a worker has nothing to do, another whose run queue is worth it gives
//     half of it to an idle stage (Worker.share). The later half, so that those
//     which woke one after the other stay together.
//   - An entity that is woken eight times in a row by one other stage, and neither
//     by a third nor on its own stage, moves there (Stage.gather).
//   - An entity the turns of which are over for what it has sent, and quickly, moves to
//     those it sends to (Worker.migrate). While that goes on neither they nor it are shared
//     out: a message to another stage costs both cores more than a message on one stage costs one.
//
// A turn that ends in [Again] goes to the back of the queue. After 512 turns, of which
// one that ended in Again counts for 64, a stage goes behind the others that wait.
// Fresh entities ([Stage.WakeFresh]) run when the rest of the stage has nothing to
// do, the newest first, and one of them after at most 64 turns of the rest.
//
// # Stages that are made
//
// There are three sorts of stages:
//
//	             made by       number            held by        others move entities there
//	spread over  Config,       from 0            a worker       to balance the load; Move
//	             SetStages
//	own          NewStage      from FirstOwn     a worker       Move
//	driven       NewDriven     -1                a scheduler's  never
//	                                             goroutine
//
// Nothing that is on an own stage leaves it to balance the load: it is pinned. An own stage may be exclusive. If an
// exclusive stage is taken from its worker in the middle of a handler, by the watcher or by a look, it is reserved:
// nobody holds it until that turn is over, or its handler says that it will wait ([Worker.Block]). [Worker.Yield] does
// nothing there, and who has waited goes on only under a new lease ([Worker.Rejoin]).
//
//	        takeLocked                     the turn is over, or its handler waits
//	held ------------------> reserved ---------------------------------------------> idle or queued
//	  |                                                                               ^
//	  '-- release, handOver, Block ---------------------------------------------------'
//
// The order in which the actors of a stage handle what was sent to all of them ("ordered") is no matter of this package:
// their mailboxes have it, see internal/kernel/runner.
//
// A stage is closed by [Stage.Close], or by [Pool.SetStages] if there are to be fewer. It goes on as before, but no Move
// ends there. Who closes it moves what is there, and then calls [Pool.Forget] for one that NewStage has made:
// the watcher looks at it no more. Those of SetStages remain, empty, and are used again. Three things could bring an
// entity to a stage after it has been closed and looked through:
//
//   - A worker that balances the load has looked before. SetStages therefore takes all stages from their workers once:
//     a worker that was inside is outside, and its next look finds the new number.
//   - A Move has been asked for before. It looks when the entity leaves its old stage, and again when the entity has the
//     new one: if that is closed, the entity goes on to another.
//   - An entity is made there. Its maker looks when others can find the entity, and moves it.
//
// # Moves
//
// [Pool.Move] makes a task, the mover, for an entity, and wakes it on the entity's stage: there nobody else moves the entity
// meanwhile. When the entity is not in its turn, and its next wake-up is the mover's, it gets its new stage and is put
// in that one's inject list. Else the mover waits, without a turn, for what must come first: the entity is due, its
// turn ends, or another's wake-up arrives. States are drawn in move.go. A handler that does not return keeps the
// move waiting; a later Move changes its aim, and one that Joins shares its end.
//
// # Stages that a scheduler runs
//
// A driven stage has no place in the pool's list. When it becomes ready it is given to its scheduler, as a
// [sched.Runnable]: each run is one turn of the stage, by the goroutine that runs it, which is a worker meanwhile and
// counts for none of Config.Workers. The pool never takes a driven stage by itself: the watcher does not look. A
// handler that blocks there gives it up as elsewhere. [sched.Scheduler.Schedule] is called without a lock of the pool.
//
// # Handlers that take long
//
// The watcher looks at every held stage five times within Config.Blocked while workers
// run and after a turn that took long, and every 64 ms while there is little to do, unless
// an entity is woken on a stage that is held: see pace. When nothing has run for as long as
// that it rests, and the first look after its rest comes soon. A stage
// whose worker has been in one turn since the last look, and of which others are
// due, is taken from it as soon as a worker has nothing to do; after
// Config.Blocked it is taken in any case, and the turn is counted and reported
// (Config.OnBlocked) once. The handler goes on, as a detached turn: one without a
// stage, on its worker, which counts for none of Config.Workers any more. It sends
// from outside. When it has ended, its worker gives the entity back
// by an entity of its own in the inject list of its stage, whose holder finishes the turn
// ([Task.FinishDetached]). Until then the entity is marked as queued: no worker runs it,
// moves it or takes messages off its queue, but messages are still added.
//
// Handlers that block come in numbers, as a rule. So after a look that has taken a stage away, or two that have found others
// waiting for a turn, the next looks come at once (pace.go): a turn that goes on for some ten microseconds while others
// wait is detached. A stage is thus held up by the first two or three of such handlers, and not by each.
//
// Turns are detached in two other ways: by [Worker.Block], with which a handler says
// that it will wait, and which is not reported; and by [Pool.Borrow] and
// [Pool.Look], which take the stage from its worker to look at what it guards. To learn what an
// entity does the stage need not be taken: [Entity.Observe].
//
// [Worker.Blocking] is Block, a call, and the way back: the handler asks for its stage by a task in the inject list, waits in
// the run queue as the last of those that are due, its goroutine blocked, and gets the stage by a hand-over, as after a Yield.
// If the pool stops meanwhile it goes on without, as a detached turn.
//
// [Worker.Yield] suspends a handler so that the others go first. The entity
// waits in the run queue like the others, its goroutine is blocked, and another
// worker runs the stage. When the entity is due, that worker hands the stage
// over, under a new lease. A handler that sends much yields without a call
// ([Worker.Sent]). A suspended handler is not watched.
//
// One lock, Pool.mu, guards what all workers share: which stages wait, and which workers. It is
// passed when a stage is woken that has nothing to do, and when a worker takes a stage or gives it
// back; not with each message. docs/performance-ablation.md says how often that is.
//
// # Invariants
//
// Those of a lease are in front of it, in lease.go. Of the rest, at any time:
//
//  1. A stage is held by one party at most, and is idle, queued or held; state,
//     lease and the links of the pool's list change under the pool's lock.
//  2. An idle stage has an empty run queue, and a nil inject list unless a goroutine is
//     about to make it ready: the goroutine that pushes onto nil does that, and no other
//     need. A stage that is not idle is not left idle before a look at its list.
//  3. An entity is marked as queued from when it is put into its stage's run queue to
//     the end of its turn, detached too, and is in there at most once. Beside that
//     it is in one inject list at most: in that of its stage, or on the way there.
//  4. Entity.stage changes only while the old stage is held, by the party that has the
//     right to the entity's next wake-up, and when the entity is neither in its turn
//     nor suspended. If the entity is marked as moving it does not change otherwise than by its mover.
//  5. An entity's handlers run one at a time, each after the one before it. So do
//     the methods of its task, except Name; but while a handler goes on without
//     its stage, CollectInbox is called.
//  6. A stage is queued, and workers could run, only while one is on its way to
//     it, or has deferred a wake-up (Worker.pendingWake), which it gives after its turn; if the
//     turn takes long, the watcher does; or while an inline worker is between Inject and RunPending.
//     A driven stage is queued only while its scheduler has it, or is being given it.
//  7. A goroutine that holds the pool's lock may wait for a worker to be outside its stage.
//     So no worker takes that lock, or a lock under which that lock is taken, while inside.
//  8. A reserved stage is marked as held and has no lease. It is reserved for one turn, which is in Pool.detached.
//  9. An entity has one mover at most, in Pool.movers until it is settled where the entity goes. The mover is marked as
//     queued, or injected, or in Stage.moves of the entity's stage; in the last case, and in no other, the entity is
//     marked as moving, and is queued, in its turn, or about to be woken from outside.
//  10. What is on a stage that NewStage has made is pinned there.
//  11. Nothing is on a stage that is closed, and on which nothing was when somebody looked through all entities after that,
//     but what is about to leave it.
//  12. Looks that come at once take no stage while maxApart turns go on without theirs, and no exclusive one sooner than
//     other looks do.
//  13. Pool.free has the workers that no goroutine runs. A goroutine that ends by itself puts its worker there last, so
//     there are no more workers, and no more of what Config.Local makes, than have been run at a time.
//
// # Locks
//
//	lock        guards                                     taken
//	Pool.mu     states of stages, workers, notes of turns  outside all stages
//	movers.mu   where movers take their entities, and      inside a stage or not; nothing is locked within, and Done is
//	            which entities are pinned                  called after it
//	nodesMu     recycled nodes                             inside a stage or not; nothing is locked within
//
// # Goroutines
//
//	name     started by         ends with                            owns
//	worker   the pool, when a   Stop, when it finds nothing to do;   the stage under its lease;
//	         stage is ready     or at once, if there are enough idle its handler's turn
//	watcher  Start              Stop                                 its notes in the leases
//	driver   driver.Run, on a   the turn: its caller waits           the turn of a driven stage
//	         goroutine that is
//	         locked to a thread
//	hand to  release of a       Schedule's return                    nothing
//	sched.   driven stage
//	Dedicated  its owner        Dedicated.Stop                       one task
//
// Stop waits for workers, the watcher, and for driven stages that are queued or have a turn. A handler that does not return
// keeps its worker, and a scheduler that does not run a stage keeps it queued: Stop gives up on them when its context ends. A
// handler that calls runtime.Goexit ends its worker and nothing else; one that panics ends the program, unless the task recovers.
//
// # What can be lost, reordered, duplicated
//
// No wake-up is lost before Stop has returned: Stop lets the workers finish what is
// under way, and everything that it wakes. What is injected after the last worker has
// ended is not run. From the call of Stop on the watcher does not run: a handler that
// blocks then holds its stage up until it returns.
//
// Entities of one stage have their turns in the order in which they were woken,
// the fresh apart; those that are injected, when the holder next looks. Between
// stages there is no order, and a detached turn ends when it ends. Several wake-ups
// of one entity may be one turn.
//
// # Limits
//
// A turn must leave its stage every now and then, as it does around each handler:
// while it is inside, all goroutines that want the pool's lock may have to wait. There are at
// most 65,534 stages that entities are spread over, and as many of NewStage that have not been forgotten. Detached turns are as
// many as there are handlers that block, each with a goroutine, but looks that come at once detach no more
// than maxApart. Of the workers that are idle afterwards the pool keeps the goroutines of Config.Workers and sixteen.
//
// A handler that blocks for less than a fifth of Config.Blocked is no reason for such looks: many of them may hold a stage
// up one after the other. A look cannot tell a handler that blocks from one that computes. Where all processors compute
// the watcher has no turn before them, so nothing is taken; where Config.Workers is less than GOMAXPROCS, more handlers than
// Workers may compute at a time.
//
// Plain stores need linux/amd64, its order of stores and loads, and a kernel with
// MEMBARRIER_CMD_PRIVATE_EXPEDITED (4.14); see package bias.
//
// [membarrier(2)]: https://man7.org/linux/man-pages/man2/membarrier.2.html
package executor
