// Package pool lets several workers share the messages that are sent to one process.
//
//	resizers, err := pool.Start(ctx, n, pool.Options{
//		Name: "resize", Workers: 4,
//		New:    func() node.Actor { return &resizer{} },
//		Bounds: mailbox.Bounds{Messages: 100, Policy: mailbox.Block},
//	})
//	small, err := node.Call[Image](ctx, n, node.Atom("resize"), Shrink{picture})   // as to any process, from any node
//	err = resizers.Resize(ctx, n, 8)
//
// # Nouns
//
//   - The front is the process that others send to, call and monitor. It has the name of the pool, and [Pool.PID].
//   - A worker is an Actor of any kind, such as a server of package genserver.
//   - A line holds the messages that wait for workers: one for all of them, or one for each, as the [Route] says.
//
// A pool is a supervisor whose children are the front and the workers. [Start] starts it; below a supervisor, use [New] and
// [Pool.Child].
//
// # Semantics
//
//   - A worker that has handled a message takes the next one from its line. [Options].Bounds are those of each line, with the
//     policies of package mailbox.
//   - A worker gets a request as if the front had forwarded it, see [node.Forward]: if the worker exits before it answers, the
//     caller gets a [*node.ExitError] with the worker's reason, or noproc if it was killed while it took the request. A request
//     whose caller has given up is not handled.
//   - All that is sent to the front is for the workers, system messages of package sys included.
//   - [Broadcast] and [First] send to all workers, past the lines. What is sent to a worker itself waits for 16 messages of its
//     line at most. While it handles such a message, it may be given one of the line only if no other worker is idle.
//   - A worker is restarted whenever it exits. With more than Intensity restarts within Period the pool ends; it also ends
//     with its front: n.Exit(node.Atom("resize"), node.Shutdown). Then the calls that wait fail with a *node.ExitError, and other
//     messages that wait are lost, as in the mailbox of any process that ends.
//
// # Invariants
//
//  1. A message of a line is given to one worker, at most once.
//  2. A worker has taken one message at most that it has not begun with. If it exits, that message and the one that it
//     handles are lost: calls fail with its reason. The others of its line wait for the next worker.
//  3. No message waits in a line while a worker of it is idle, except while that worker is being woken.
//  4. A worker that [Pool.Resize] takes away ends when it has handled what it has taken. What waits in its line goes to others.
//  5. With ByHash, messages with the same hash are handled in their order while the number of workers stays the same.
//
// A sender puts the message into a line, and gives an idle worker of that line, if there is one, an order to take it. A worker
// that finds no message counts as idle, and then looks once more; a sender looks for idle workers after it has put its message
// there: so one of the two sees the other. The worker handles a message at once; a request it forwards to itself, and after it
// sends itself the next order, so that its own mailbox has at most one message from the line. The front only sees the ends of
// workers, and gives another the order that a dead one may have had.
//
// # Goroutines
//
// None. The front and the workers are Actors.
//
// # Limits
//
// A pool is used from any node by its name or PID, and as a [*Pool] on its own node only. A line takes a lock for each message.
// Trace tokens do not go through it, as through any mailbox with Bounds. Config.DetectCycles does not see a sender that waits
// for space. A worker is an Actor: let those that block be [node.Detached]. A ProcessFunc cannot be one, because nothing tells
// when it has handled a message. Deadline is for messages of a line, not for those that are sent to a worker itself. A worker
// that calls its own pool may wait for itself. A user's Bounds.Size is called again when a message goes to another line.
package pool
