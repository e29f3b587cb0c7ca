// Package trace says which processes are traced by which traces ([Registry], [View]), and
// counts the serial numbers of sequential trace tokens ([Token]).
//
// What a process is, and what a trace shows of it, it does not know: both are type
// parameters. A process is told from others by its pointer and its number.
//
// Invariants of a Registry:
//
//  1. Its View is nil exactly if nobody is traced; what it points to never changes.
//  2. Whoever takes a process out because of its exit is told so, alone: of several calls
//     of Gone for the same process the first counts.
//  3. Its lock is taken with no lock of a node held. A function that is called with it held
//     may lock what belongs to one trace, and nothing else.
//
// While nobody is traced a message costs one load of a pointer; while others are, a look at a
// mask besides.
package trace
