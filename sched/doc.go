// Package sched holds what a user needs to run actors in another way than on the stages of
// their node: the [Scheduler] that a user implements, the [Runnable] that it is given, and
// the [Stats] of a node's stages. It imports the standard library only.
//
// Options.Scheduler of package node gives an actor such a scheduler: an event loop of a user
// interface, a locked thread, or a test that runs one step at a time.
package sched
