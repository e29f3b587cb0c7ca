// Package lifetime says when processes are over: when nobody can reach one any more, when none is left, and when all of
// them have nothing to do.
//
//	cell, err := lifetime.Own(n, &Cell{}, node.Options{})
//	err = cell.Send(n, 5)
//	// The process ends, with the reason collected, when nobody has cell any more.
//
//	err = lifetime.Wait(ctx, n) // until all processes have ended
//
// Nouns:
//
//   - An [Owner] is a process as those know it who keep it. A process that was started by [Own] lives as long as its
//     *Owner can be reached, and something keeps it otherwise. An [Object] is the same for active objects.
//   - A PID is weak, as in Erlang: who has only the PID, or an active.Addr, does not keep the process.
//   - A daemon is a process that serves others and is not waited for: Daemon of node.Options. The services of a
//     node are daemons.
//   - A node is idle when nothing is under way on it: see [Idle].
//
// # What keeps a process
//
// Go's collector decides whether an Owner can be reached: from a variable, the stack of a goroutine, the state of
// another process, or a message that waits for one. The following keep a process that nobody can reach so:
//
//   - a message in its mailbox, one that it has left as unhandled included, and a turn that goes on
//   - a registered name, a name or a lock of the cluster (package global), a link, an alias of it, which an open channel
//     has (package channel), and a monitor that it has over others
//   - a timer that will send to it, such as that of match.After and match.SetTimeout, and a future that is to be sent
//     to it (SendTo, futures.Then, futures.Send)
//   - a call that it has not answered, and a request of its own that has not been answered (node.SendRequest)
//   - an activation of an active object that waits
//   - a monitor by a process of another node, which may wait for the answer to a call
//   - of a blocking process, all that is not a receive without a timeout
//
// A monitor by a process of this node keeps nobody, nor does [node.AwaitExit]: they hear the reason [Collected]. Nor do a
// context of the process and a goroutine that it has started, unless that has its Owner. With Link of node.Options a
// process is kept by its parent.
//
// Owners need not be counted, so cycles are no leak: an Actor that has its own Owner, by [Self], and Actors that
// have each other's, are collected like all others when nobody else can reach them. That is so because the process of
// an Actor refers to its behaviour only while it has something to do; else its Owner alone does. It cannot be had for
// code that is to run
// at the end: Go's collector does not give back what it has found unreachable, if that is part of a cycle. So a
// [Terminator] is not collected if a cycle goes through it. Neither is a blocking process whose function has its own Owner
// in a variable, for the stacks of goroutines are where the collector begins.
//
// # How a process ends that is collected
//
// As by an exit signal that cannot be trapped, with the reason [Collected]: no handler of it is called any more. Monitors
// hear that reason. What is sent to its PID is a dead letter, as of all processes that are over. The deferred
// functions of a blocking process run, and Terminate of a [Terminator].
//
// # Invariants
//
//  1. A process does not end with the reason collected while its Owner can be reached, or one of what keeps it is there.
//  2. A message that got into its mailbox is handled first. Whether one gets in that is sent by its PID when nobody
//     has its Owner any more, is not said. [Owner.Send], [Call] and [Go] have the Owner until it is in.
//  3. When nobody can reach a process, and nothing keeps it, it ends after at most three cycles of the collector.
//  4. [Wait] returns nil only if there was a moment during the call with no process but daemons and handles.
//  5. [Idle] returns nil only if there was a moment during the call at which each process was at rest: no
//     code of it ran, no message waited for it that it had not looked at, and no timer was due that sends to it.
//  6. Processes without an Owner do nothing for all this.
//
// # Goroutines
//
// Processes are ended by the goroutines that Go's runtime has for runtime.AddCleanup. One goroutine at a time runs the
// collector, once, and ends: see Limits.
//
// # Limits
//
// The collector runs when the heap has grown, and every two minutes: that is when a process ends. Do not use this for
// what must be closed in time. It is also run when many processes with Owners have been started since it ran last, so many
// that they take a quarter as much memory as all the rest, and 4 MiB at least. Who starts as many again while it runs
// waits for its end, for some milliseconds: else there would be ever more processes that nobody can reach.
//
// A process with an Owner takes some 500 bytes more than another, and a lock for each message. Limits and Mailbox of
// node.Options cannot be set, nor can the Place of an ordered stage. On other stages it can be moved.
//
// An Owner is of its own node: another one takes the PID, which keeps nobody. So such a process cannot move to another
// node: package migrate refuses it with migrate.ErrFixed. A message that is copied, by package isolation, has the same
// *Owner as the original.
//
// Wait watches one process after the other. Idle looks at all processes, twice, whenever it looks: with a million of them
// a look takes some tenths of a second. Both see one node. Messages on their way between nodes are not seen.
package lifetime
