// Package sched lets users run actors on a scheduler of their own instead of their node's stages: the [Scheduler] that a
// user implements, the [Runnable] that it gets, and the [Stats] of a node's stages. It imports only the standard library.
//
// Options.Scheduler of package node assigns such a scheduler to an actor: the event loop of a user interface, a locked
// thread, or a test that runs one step at a time.
package sched
