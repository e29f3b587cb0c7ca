// Package global is the name server of a published node: names and locks that all nodes of a cluster share, and the full mesh
// of their connections. It implements OTP's module global, message for message.
//
// Nouns:
//
//   - A [Machine] decides: its methods are the events, and its results are [Action]s. It
//     consists of three machines that are three processes in OTP: the name server (server.go,
//     session.go, overlap.go), the locker (locker.go) and the registrar (registrar.go).
//   - A [tables.GlobalNames] has the names, and may be read concurrently.
//   - A partition is the nodes that know each other: they have the same names. Two partitions become one
//     by a handshake of a node of each.
//   - A [Driver] is the process around the Machine. Its [Host] is the node.
//
// # Handshake of A and B, where C is of the partition of A
//
//	A, B    when connected: {init_connect, {Version, Tag}, Node, {locker, _, Known, Locker}} to each other
//	A, B    {init_connect_ack, Node, TagOfReceiver, TagOfSender}, from version 8 on: do both mean the same handshake?
//	lockers lock the resource global, on behalf of both, on all nodes of their own partition, and the one that
//	        begins on the other node, too; {lock_set, Locker, true, Known, Tag} to each other
//	A, B    {exchange, Node, Names, [], Tag}
//	A, B    each compares. The smaller node asks about clashes: resolve_it(Method, Name, His, Ours) on the node of its process
//	A, B    {resolved, Node, Ops, Known, unused, Names, Tag}: the operations for the other side, the known nodes
//	A to C  {new_nodes, A, Ops, Names, [{B, Version}], [{vsn, V}, {lock, Id}]}, by the locker, before it unlocks C
//	C to B  connects, and {in_sync, C, true}
//
// {cancel_connect, Node, Tag} gives up a handshake. Messages are casts, except the ack, the cancel and those of the next
// section, which are plain. Between nodes of version 5 lockers communicate without name servers; below 7, Known has no
// versions.
//
// # Overlapping partitions
//
//	A has lost B        {lost_connection, A, Life, Number, B} to all nodes of the partition
//	C receives that     once for each Number: the same to all nodes, {remove_connection, C} to B
//	B receives that     disconnects from C
//
// # Names
//
// The registrar of a node locks global on all nodes of its partition, the greatest first, then calls {register, Name, Pid,
// Method} or {unregister, Name} on each, then unlocks. Every node watches a process with a name or a lock: its own by a mark.
//
// # Invariants
//
//  1. Nothing but the Machine writes to the GlobalNames, and nothing but events changes the Machine.
//  2. A name changes only under the lock on names: a change that arrives after the lock is gone with its holder is
//     not made.
//  3. A node is known, in a handshake, or neither; never both. Each known node is connected, or
//     is being connected.
//  4. A message of a handshake counts only with the tag of the current one, and only if it was received over the
//     connection of the node that it names.
//  5. The locker has locked for at most one handshake, and unlocks before the next.
//  6. What others can make it hold is bounded: see MaxLocks, MaxNames.
//
// Situations in which OTP hangs are ended here: if a handshake makes no progress for two to four minutes the connection ends,
// so that it starts again; likewise if a node does not know this one two minutes after it was connected, though this one
// knows it; a node that asks to be removed is disconnected, known or not; a name is not registered where the lock may be lost
// with a connection.
//
// The package has no clock, socket or goroutine.
package global
