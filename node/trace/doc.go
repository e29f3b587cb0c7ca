// Package trace shows what some processes of a node do and what is done to them: what they send
// and get, their links, monitors, names and children, and how they end. It is for tests and for
// looking at a program that runs; Erlang has erlang:trace and dbg for it.
//
//   - A [Trace] follows processes, from the time they are added to it.
//   - An [Event] is one thing that one of them has done, or that was done to it.
//   - A [Kind] says what an event is about. A trace shows all kinds, or those of its [Config].
//
// See the example.
//
// Invariants:
//
//  1. The events of a trace come in the order of their times. The last one of a process is its
//     [Exit].
//  2. Nothing waits for the reader of a trace. Events that do not fit into its buffer are dropped and
//     counted.
//  3. A trace without processes ends: C is closed when the last of its processes exits.
//
// An untraced process pays some nanoseconds a message while others are traced, and
// nothing otherwise.
//
// The package has no goroutine.
package trace
