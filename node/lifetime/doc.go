// Package lifetime ends processes that nobody can reach any more, and waits until no process is left, or until all of
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
//   - An [Owner] is a reference that keeps a process alive. A process that was started by [Own] lives as long as its
//     *Owner can be reached, or something else keeps it. An [Object] is the same for active objects.
//   - A PID is weak, as in Erlang: a PID or an active.Addr alone does not keep the process.
//   - A daemon is a process that serves others and that [Wait] does not wait for: Daemon of node.Options. The services
//     of a node are daemons.
//   - A node is idle when nothing is going on there: see [Idle].
//
// # What keeps a process
//
// Go's garbage collector decides whether an Owner can be reached: from a variable, the stack of a goroutine, the state
// of another process, or a message that waits for one. The following also keep a process:
//
//   - a message in its mailbox, including one that it has left as unhandled, and a turn that is running
//   - a registered name, a name or a lock of the cluster (package global), a link, an alias of it, such as the one of
//     an open channel (package channel), and a monitor that it has over others
//   - a timer that will send to it, such as those of match.After and match.SetTimeout, and a future that will be sent
//     to it (SendTo, futures.Then, futures.Send)
//   - a call that it has not answered, and a request of its own that has not been answered (node.SendRequest)
//   - a waiting activation of an active object
//   - a monitor by a process of another node, as that process may wait for the answer to a call
//   - for a blocking process, anything that it does except wait in a receive without a timeout
//
// A monitor by a process of this node does not keep the process, nor does [node.AwaitExit]: they get the reason
// [Collected]. Nor do a context of the process and a goroutine that it has started, unless the goroutine has its Owner.
// With Link of node.Options the parent keeps the process.
//
// Owners are not counted, so cycles do not leak: an Actor that has its own Owner, from [Self], and Actors that have
// each other's, are collected like all others when nobody else can reach them. That works because the process of an
// Actor refers to its behaviour only while it has something to do; otherwise only its Owner does. It does not work for
// code that must run at the end: Go's collector does not give back an unreachable object that is part of a cycle. So a
// [Terminator] is not collected if a cycle goes through it. Neither is a blocking process whose function has its own
// Owner in a variable, for the collector starts from the stacks of goroutines.
//
// # How a collected process ends
//
// It ends as if by an exit signal that cannot be trapped, with the reason [Collected]: none of its handlers is called
// any more. Monitors get that reason. A message to its PID is a dead letter, as for all processes that have ended. The
// deferred functions of a blocking process run, and so does Terminate of a [Terminator].
//
// # Invariants
//
//  1. A process does not end with the reason collected while its Owner can be reached, or something else keeps it.
//  2. A message in its mailbox is handled first. A message to the PID may not get in once nobody has the Owner any
//     more. [Owner.Send], [Call] and [Go] keep the Owner until the message is in.
//  3. When nobody can reach a process, and nothing keeps it, it ends after at most three cycles of the collector.
//  4. [Wait] returns nil only if there was a moment during the call with no process but daemons and handles.
//  5. [Idle] returns nil only if there was a moment during the call at which each process was at rest: none of its code
//     ran, it had looked at all waiting messages, and no timer that sends to it was due.
//  6. Processes without an Owner do no work for all this.
//
// # Goroutines
//
// The goroutines that Go's runtime has for runtime.AddCleanup end processes. One goroutine at a time runs the
// collector, once, and ends: see Limits.
//
// # Limits
//
// The collector runs when the heap has grown, and every two minutes: that is when a process ends. Do not use this for
// resources that must be closed in time. The package also runs the collector when the processes with Owners started
// since its last run take a quarter as much memory as all the rest, and 4 MiB at least. If as many again are started
// while it runs, Own waits some milliseconds for the run to end: otherwise unreachable processes would pile up.
//
// A process with an Owner takes some 500 bytes more than another, and a lock for each message. Limits and Mailbox of
// node.Options cannot be set, nor the Place of an ordered stage. On other stages it can be moved.
//
// An Owner belongs to its node: other nodes use the PID, which does not keep the process. So such a process cannot move to
// another node: package migrate refuses it with migrate.ErrFixed. A message copied by package isolation has the same
// *Owner as the original.
//
// Wait watches one process after the other. Each look of Idle reads all processes twice: with a million of them it
// takes some tenths of a second. Both see one node, and no messages on their way between nodes.
package lifetime
