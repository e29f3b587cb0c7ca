// Package lifetime says when processes are over: when none is left, and when all of them have nothing to do.
//
//	pid, err := n.Spawn(work)
//	err = lifetime.Wait(ctx, n) // until all have ended
//
// Nouns:
//
//   - A daemon is a process that serves others and is not waited for: Daemon of node.Options. The services of a
//     node are daemons.
//   - A node is idle when nothing is under way on it: see [Idle].
//
// # Invariants
//
//  1. [Wait] returns nil only if there was a moment during the call with no process but daemons and handles.
//  2. [Idle] returns nil only if there was a moment during the call at which each process was at rest: no
//     code of it ran, no message waited for it that it had not looked at, and no timer was due that sends to it.
//  3. A process does nothing for either, and keeps no count for them that it has not kept before.
//
// # Goroutines
//
// None of its own.
//
// # Limits
//
// Wait watches one process after the other. Idle looks at all processes, twice, whenever it looks: with a million of them
// a look takes some tenths of a second. Both see one node. Messages on their way between nodes are not seen.
package lifetime
