// Package lifecycle says how far a process is on its way from spawn to death.
//
// A [State] is one word, which senders and those who run the process look at with each message:
//
//	alive ──End──► exiting ──Told──► dead
//
// Beside the way it notes who has ended the process, and whether its function still runs.
//
// Invariants:
//
//  1. A state only goes forward: no bit is ever taken away.
//  2. A process lingers, and is counted once, from Abandon until Return: it was ended from outside
//     while its function ran, and that has not returned. One that its own code ends never lingers.
//
// A state is safe for concurrent use but for End, which is called once.
package lifecycle
