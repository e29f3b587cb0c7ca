// Package pool lets several workers share the messages that one process is sent.
//
//	resize, err := pool.Start(ctx, n, pool.Options{
//		Name: "resize", Workers: 4,
//		New:    func() node.Actor { return &resizer{} },
//		Bounds: mailbox.Bounds{Messages: 100, Policy: mailbox.Block},
//	}, node.Options{})
//	small, err := node.Call[Image](ctx, n, resize, Shrink{picture})   // as to any process, from any node
//	err = pool.Resize(ctx, n, resize, 8)
//
// # Nouns
//
//   - The front is the process that others send to, call and monitor. It has the name and the PID of the pool.
//   - A worker is an Actor of any kind, such as a server of package genserver. A worker gets a message when it has handled the
//     last.
//   - A [Route] says which worker gets a message: whichever is idle first, each in turn, or one by a hash.
//
// The pool is a supervisor, with the front, the workers, and a process that changes their number as its children. [New] makes
// one for a supervision tree.
//
// # Semantics
//
//   - A message that is sent to the front waits for a worker, in its order: in one queue, or in one for each worker if the
//     Route chooses before a worker is idle. [Options].Bounds are those of the queue, with the policies of package mailbox.
//   - A request reaches a worker as if the front had forwarded it, see [node.Forward]: if the worker exits before it answers,
//     the caller gets a [*node.ExitError] with the worker's reason, also if the worker owed the answer.
//   - A request whose caller has given up while it waited is not handled.
//   - A worker that leaves a message as unhandled (node.ErrUnhandled) gets no other of the pool until it has handled it.
//   - What is sent to a worker directly comes before what waits in the pool. [Broadcast] and [First] do that.
//   - The pool ends when its front does, or when there are more restarts of workers than Intensity within Period: the calls
//     that wait fail with an ExitError then, and other messages that wait are lost, as in the mailbox of any process that ends.
//
// # Protocol
//
// From Go, the functions of this package. In Erlang, gen_server:call(Pool, '$pool_workers') lists the workers, and
// gen_server:call(Pool, {'$pool_resize', N}) is [Resize]: ok, or {error, Reason}. Other calls, casts and messages are the
// workers'; system messages (package sys) are for the front: its state is a map with waiting and workers.
//
// # Invariants
//
//  1. A message is given to one worker, at most once.
//  2. A worker has at most one message of the pool at a time. If it exits, that message is lost, and no other.
//  3. No message waits while a worker that may have it is idle.
//  4. A worker that is taken away by [Resize] ends when it has handled what was for it.
//  5. With ByHash, messages with the same hash are handled in their order, while the number of workers stays the same.
//
// # Goroutines
//
// None: the front and the workers are Actors, and the process that waits for the supervisor is a coroutine.
//
// # What can be lost, limits
//
// A message, no request, that a worker handles when it exits is lost. So is one that the policy of Bounds drops, which is a
// dead letter.
//
// A pool takes a lock for each message, twice. Trace tokens do not go through it, as through any mailbox with Bounds.
// Config.DetectCycles does not see a sender that waits for space in a pool. A worker is an Actor; let those that block be
// [node.Detached]. A ProcessFunc cannot be one: it does not say when it has handled a message. Go cannot stop a function: a
// worker that is killed at its Deadline may go on, and is counted until it returns.
package pool
