// Package tables has the data structures by which a node finds its processes: by number, by name, by alias, and those
// that hang on one of them. What a process is they do not know: it is a type parameter.
//
// # By number and by reference
//
// A [Table] finds processes by number, [Aliases] by reference; [PIDs], a set for the links of one process; [Group], a
// set of processes that are told of something; and [Lent], the references by which other nodes know what is no
// process.
//
// The caller compares the number of the process that it finds, which lies beside what is needed next.
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
//
// # By name
//
// [Names] has the registered names of a node, and finds its processes by names and aliases.
//
// Nouns:
//
//   - A [Names] says which [NameHolder] has which name.
//   - A [Directory] finds the process that a destination stands for: a name, an alias, a name on a node.
//   - A name of an alias stands for a reference of this node: other nodes monitor and call by it what
//     they know by the reference only. The table does not have it.
//   - A [Reservation] keeps a name for a service: only who has it registers a process by that name.
//
// Invariants:
//
//  1. A process has one name at most. It is known to the process, too, which guards it by its lock.
//  2. A name that the table has was entered for a process that was alive. Its end removes the name,
//     [Names.Remove]; until then the name may be given to another.
//  3. What a peer has had registered is counted, see [limits.Owner], as long as the table has the
//     name, whosever the process is.
//  4. The lock of a process is taken within that of the table, and what the account of the peer locks within both.
//
// It has no clock and no goroutine.
//
// # By a name of the cluster
//
// [GlobalNames] has the names that all nodes of a cluster share, as one of them knows them, and the methods that
// decide which of two processes keeps a name.
//
// Nouns: a [GlobalNames] has a [GlobalEntry] for each name. A name is any term; two names are the same if =:= says so. A
// method is a function that is exported as Module:Function/3; those of OTP's module global are here.
//
// Invariants: a GlobalNames has one writer and any number of readers.
//
// It has no goroutines.
//
// # Lists and keys
//
// The entries of a List stand in what it lists, so that an entry is added and removed without a search and without
// memory of its own.
//
// A [List] is what hangs on one process: its calls, its timers, the monitors over it. Its owner
// guards it, and each entry that is on it, by a lock; the package has none, and no goroutine.
//
// Invariants:
//
//  1. A [ListEntry] is on one list at most.
//  2. The entry that was added last comes first.
//  3. No entry refers to its list: a list may be moved.
//
// Two terms that [wire.Equal] takes for one have the same key. A plain key is compared by == and may be that of
// a Go map; any other is compared by wire.Equal, as the keys of a [wire.Map] are.
//
// Invariants:
//
//  1. TermKey(a) and TermKey(b) are equal, by == if they are plain, exactly if wire.Equal(a, b).
//  2. No term makes it panic.
//
// It has no state and no goroutine.
package tables
