// Package global provides names and locks that all nodes of a cluster share: OTP's module global, between nodes of this
// module and real OTP nodes in any mix.
//
// A node takes part if it is published:
//
//	n, err := node.Start(node.Config{Name: "till@host", Distribution: &node.Distribution{
//		Cookie: cookie, Published: global.Join(global.Config{}),
//	}})
//
// It is then in nodes() of the others, connects to all of them, and runs the process global_name_server, which speaks version 8
// of OTP's protocol, and 5 to 7 with older nodes.
//
// Nouns:
//
//   - A name is any Erlang term. It belongs to one process of the cluster, until that exits or [Unregister]. A change
//     takes the lock on names, on all nodes: [Register] costs some round trips. [Whois] is a look at a table of this node.
//   - node.Global(name) is a destination, wherever a process is named. OTP's processes use {global, Name} and
//     {via, global, Name}.
//   - A resource is any term, which a requester locks on some nodes, or all: [TryLock], [Lock], [Trans].
//   - A clash is a name that two processes have when two parts of a cluster connect to each other. The method given with
//     the name decides: [RandomExit], [RandomNotify], [NotifyAll], or a function of the program.
//
// # Guarantees
//
//   - When Register has returned without an error, Whois of each node that was connected finds the process.
//   - Two processes never have the same name on nodes that are connected to each other, except while two parts of a
//     cluster become one.
//   - A name and a lock end with their process, on every node.
//   - If a connection is lost, the nodes that have lost each other are disconnected from all that keep connections to
//     both, so that no two nodes are in the same part and see different names (prevent_overlapping_partitions). With
//     [Config].Overlap they are not: all nodes of a cluster need the same setting.
//   - A node that others report and that cannot be connected is in [State].Unreached.
//
// # Compared to OTP
//
//   - A handshake that makes no progress for two to four minutes ends the connection, so that it begins anew, and so does a node
//     that does not know this one two minutes after they were connected, though this one knows it; OTP's waits
//     for ever.
//   - A published node belongs to no group of global_group, and shares names with all nodes. The process of that name
//     answers those that look for a name on this node.
//   - set_lock, del_lock and trans cannot be called by rpc on a Go node: the lock would end with the process of the call.
//     register_name, whereis_name and the rest can,
//     and net_adm:ping, net_kernel:connect_node and erlang:disconnect_node.
//   - A lock of a plain goroutine belongs to the node.
//
// # Goroutines
//
// Those of the node's processes: global_name_server, its locker and its registrar, global_group, and one for each node
// that is being connected or asked about a clash.
package global
