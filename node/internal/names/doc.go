// Package names has the registered names of a node, and finds its processes by names and aliases.
//
// Nouns:
//
//   - A [Table] says which [Process] has which name.
//   - A [Directory] finds the process that a destination stands for: a name, an alias, a name on a node.
//   - A name of an alias stands for a reference of this node: other nodes monitor and call by it what
//     they know by the reference only. The table does not have it.
//   - A [Reservation] keeps a name for a service: only who has it registers a process by that name.
//
// Invariants:
//
//  1. A process has one name at most. It is known to the process, too, which guards it by its lock.
//  2. A name that the table has was entered for a process that was alive. Its end removes the name,
//     [Table.Remove]; until then the name may be given to another.
//  3. What a peer has had registered is counted, see [limits.Owner], as long as the table has the
//     name, whosever the process is.
//  4. The lock of a process is taken within that of the table, and what quota locks within both.
//
// The package has no clock and no goroutine.
package names
