// Package tables has the data structures by which a node finds its processes: by number, by name, by alias, and what belongs
// to one of them. Processes are a type parameter.
//
// # By number and by reference
//
// A [Table] finds processes by number, [Aliases] by reference; [PIDs] is a set for the links of one process; [Group], a set
// of processes that are notified of something; and [Lent], the references by which other nodes know things that are not
// processes.
//
// The caller compares the number of the process that it finds, which is next to what it needs then.
//
// Invariants:
//
//  1. A number is assigned once. A slot is reused with another serial, so an outdated number
//     finds nothing, or a process with another number.
//  2. A lookup takes no lock and never waits. It may find a process that has just been
//     removed: such a process itself records that it is dead.
//  3. The slots of a [Slots] are in no list: they are assigned to no one else. A cache holds less
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
//   - A [Names] records which [NameHolder] has which name.
//   - A [Directory] finds the process of a destination: a name, an alias, a name on a node.
//   - A name of an alias encodes a reference of this node: other nodes use it to monitor and call what
//     they know by the reference only. The table does not contain it.
//   - A [Reservation] keeps a name for a service: only its holder registers a process by that name.
//
// Invariants:
//
//  1. A process has at most one name. The process stores it, too, guarded by its lock.
//  2. A name in the table was entered for a process that was alive. Its end removes the name,
//     [Names.Remove]; until then the name may be given to another.
//  3. A name that a peer has registered is counted, see [limits.Owner], as long as it is in the
//     table, whichever process has it.
//  4. The lock of a process is taken within that of the table, and the lock of the peer's account within both.
//
// It has no clock and no goroutine.
//
// # By a name of the cluster
//
// [GlobalNames] has the names that all nodes of a cluster share, as known by one of them, and the methods that decide which
// of two processes keeps a name.
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
// The entries of a List are fields of the listed values, so that adding and removing an entry needs neither a search nor an
// allocation.
//
// A [List] is of things that belong to one process: its calls, its timers, the monitors of it. Its owner guards it, and each
// of its entries, by a lock; the package has none, and no goroutine.
//
// Invariants:
//
//  1. A [ListEntry] is on at most one list.
//  2. The entry that was added last comes first.
//  3. No entry refers to its list: a list may be moved.
//
// Two terms that are equal by [wire.Equal] have the same key. A plain key is compared by == and can be the key of a Go map;
// any other is compared by wire.Equal, like the keys of a [wire.Map].
//
// Invariants:
//
//  1. TermKey(a) and TermKey(b) are equal, by == if they are plain, exactly if wire.Equal(a, b).
//  2. It never panics, whatever the term.
//
// It has no state and no goroutine.
package tables
