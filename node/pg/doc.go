// Package pg is OTP's process groups (module pg of kernel): processes on any node join
// groups, and every node can read them, without a leader, a lock or a database.
//
// # Nouns
//
//   - A [Scope] is a set of groups, and a process on each node that takes part,
//     registered under the scope's name.
//   - A group is named by any term. It exists as long as it has a member.
//   - A member joins a group at the scope of its own node, and may join several
//     times. It leaves by Leave, or by its exit.
//   - A peer is the scope's process on another node.
//   - A [Change] is the message to a process that monitors one group or all groups.
//
// See the example. In Erlang it is
//
//	pg:start(pg), pg:join({room, 7}, Guest),
//	[Guest ! hello || Guest <- pg:get_members({room, 7})].
//
// and scopes in Go and in Erlang are one, wherever they run.
//
// # Protocol
//
// The protocol is exactly that of pg.erl, which crashes on an unknown message. S is the
// sender, a scope's process; PidOrPids is one pid or a list that is not empty.
//
//	message                               sent by S                             makes the receiver
//	{discover, S} to {Scope, Node}        when it starts, to all connected      answer sync; if it does not know S:
//	                                      nodes; to each that is connected      monitor it, and send {discover, Me}
//	                                      later; see Late scopes
//	{discover, S} to a pid                in answer to the discover of a
//	                                      process that it did not know
//	{'$gen_cast',                         in answer to a discover               monitor S, unless it does; take this for
//	  {sync, S, [{Group, [Pid]}]}}                                              all of S's members, whatever it had
//	{join, S, Group, PidOrPids}           when members of its node join,        add them, if it knows S
//	                                      to all peers that it has sent a sync
//	{leave, S, PidOrPids, [Group]}        when they leave: each pid once from   take them out, if it knows S
//	                                      each element, which may be there
//	                                      twice; to the same
//	'DOWN' of S                           by its exit, or the connection's end  forget S and all of its members
//
// OTP 29 sends {discover, S, Version}, and speaks this protocol with peers that answer without a version.
//
// The order matters: a scope sends its first sync to a peer before any join or leave,
// and a leave names only members that the sync or a later join named. In OTP 25 a leave
// from a group without members of the sender crashes the receiver; this package never
// sends such a leave.
//
// Two Erlang scopes discover each other when their nodes connect. This node usually is
// hidden, and Erlang scopes do not notice a hidden node. So this side sends the first
// discover after each connection.
//
// Calls that a scope answers, from Erlang and from here, are those of pg.erl's
// functions, whose argument Scope may be {Name, Node}:
//
//	monitor                      {Ref, #{Group => [Pid]}}     pg:monitor_scope({pg, Node})
//	{monitor, Group}             {Ref, [Pid]}                 pg:monitor({pg, Node}, Group)
//	{demonitor, Ref}             ok | false                   pg:demonitor({pg, Node}, Ref)
//	{join_local, Group, P}       ok | {error, {nolocal, P}}   gen_server:call({pg, Node}, …)
//	{leave_local, Group, P}      ok | not_joined | {error, _}
//
// and changes come as {Ref, join | leave, Group, [Pid]}.
//
// # Late scopes
//
// An OTP scope that starts after a hidden node has connected does not discover that
// node. So every Config.Seek a scope monitors its own name on each connected node
// without a known peer. If the monitor does not fire for as long, a process has that
// name there, and the scope sends it one discover. Once all nodes have known peers,
// nothing is sent.
//
// # Invariants
//
//  1. Reads are snapshots: a join is seen whole or not at all, except for a join that
//     exceeds a limit.
//  2. At rest, when all nodes are connected and all messages have arrived, all
//     scopes have the same groups, except for what exceeds a limit.
//  3. A process that applies a monitor's changes to what Monitor returned gets what Members
//     returns, in the same order of changes. No change removes a process that was not
//     a member.
//  4. A scope makes no connections.
//
// The files machine.go and table.go have more.
//
// # What can be lost, reordered, duplicated
//
// Views are eventually consistent: a node may send to a member that has already left on
// its node, or not see a member that has just joined. Changes of one node are seen in
// their order; changes of two nodes have no order. While two nodes are not connected,
// neither sees members of the other.
//
// When a scope's process ends, the members of its node leave all groups, and its
// monitors end without a message: monitor the process as well. A new scope process
// ([Config].Keep, or a supervisor) starts without members of its own node, which must
// join again, and without monitors. It learns the members on other nodes when these
// answer its discover. All of this is the same in OTP.
//
// # Goroutines
//
// The scope's process is an Actor without a goroutine. Reads do not go
// through it: any number of goroutines read immutable slices behind atomic pointers; the first reader after a member
// has left makes them, under the group's lock. A
// group whose name is an atom, an integer, a binary, a pid or a reference is found
// without a lock, any other group under a read lock.
//
//	name     started by        ends with     owns
//	closer   exit of the       one store     nothing
//	         scope's process
//
// # Limits and versions
//
// OTP 23 and newer; the tests compare with OTP 25, and OTP has monitors from 25.1 on.
// The cost of a join, a leave or an exit does not depend on the size of the group, nor on how many groups a
// process is in. The first who reads the members of a group after one has left makes the list that it and
// the next readers share. A membership takes about 150 bytes in a large group, of which 50 are the list.
//
// [Config].Members and [Config].Groups bound what other nodes can make a scope keep; one
// node may use half of each. The name of a group has at most 64 KiB. Memberships above a
// limit are ignored: the members that joined first are kept. If only some of a process's
// several joins were kept, that many leaves remove it. A node may have 8 scope processes
// of the same name at a time. [Scope.Limits] reports use and refusals, also for the
// monitors of other nodes and for local processes that other nodes make join.
//
// # Differences from pg.erl
//
//   - Monitors get the changes of a sync too, and effective leaves only.
//   - A malformed message, or an unknown one, is logged and changes nothing.
//   - [Scope.LeaveAll] is new, and so are the limits.
//   - Only this node's own processes can be members here, also by a call from
//     elsewhere.
//   - 1 and 1.0 are two groups, as there; 0.0 and -0.0 too, as in OTP 27.
package pg
