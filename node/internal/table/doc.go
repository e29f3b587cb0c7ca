// Package table has the data structures by which a node finds its processes: a [Table] by
// number, [Aliases] by reference; [PIDs], a set for the links of one process; [Group], a set of
// processes that are told of something; and [Lent], the references by which other nodes know what is
// no process.
//
// What a process is they do not know: it is a type parameter. So who looks one up compares
// its number himself, which lies beside what he needs next.
//
// Invariants:
//
//  1. A number is given out once. A slot is used again with another serial, so a number
//     that is out of date finds nothing, or a process with another number.
//  2. A lookup takes no lock and never waits. It may find a process that has just been
//     removed: such a process says itself that it is dead.
//  3. The slots of a [Slots] are in no list: nobody else is given them. A cache holds less
//     than twice slotBatch of them.
//  4. PIDs are yielded in the same order in each run of a program that does the same.
//
// Limits: 2^32 slots, each with 2^32 serials.
package table
