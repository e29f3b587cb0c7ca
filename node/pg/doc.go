// Package pg is OTP's process groups (module pg of kernel): processes of any nodes
// join groups that any node can read, without a leader, a lock or a database.
//
// # Nouns
//
//   - A [Scope] is a set of groups, and a process on each node that takes part,
//     registered under the scope's name.
//   - A group is named by any term. It is there as long as somebody is in it.
//   - A member has joined a group at the scope of its own node, as many times as
//     it is in it; it leaves by Leave, or by its exit.
//   - A peer is the scope's process on another node.
//   - A [Change] tells a process that monitors a group, or all of them.
//
// See the example. In Erlang it is
//
//	pg:start(pg), pg:join({room, 7}, Guest),
//	[Guest ! hello || Guest <- pg:get_members({room, 7})].
//
// and the scopes of both are one, wherever they are.
//
// # Protocol
//
// That of pg.erl, to the letter: a message that pg.erl does not know ends it. S is
// the sender, a scope's process; PidOrPids one pid, or a list that is not empty.
//
//	message                               sent by S                             makes the receiver
//	{discover, S} to {Scope, Node}        when it starts, to all connected      answer sync; if it does not know S:
//	                                      nodes; to each that is connected      monitor it, and send {discover, Me}
//	                                      later; see Late scopes
//	{discover, S} to a pid                in answer to the discover of a
//	                                      process that it did not know
//	{'$gen_cast',                         in answer to a discover               monitor S, if it does not; take this for
//	  {sync, S, [{Group, [Pid]}]}}                                              all of S's members, whatever it had
//	{join, S, Group, PidOrPids}           when members of its node join,        add them, if it knows S
//	                                      to all peers that it has sent a sync
//	{leave, S, PidOrPids, [Group]}        when they leave: each pid once from   take them out, if it knows S
//	                                      each element, which may be there
//	                                      twice; to the same
//	'DOWN' of S                           by its exit, or the connection's end  forget S and all of its members
//
// The order matters: a scope sends a peer neither join nor leave before its first
// sync, and in a leave only who has been in the sync or in a join since. A leave
// from a group in which pg.erl has nobody of the sender ends it in OTP 25: its own
// peers can do that to it, this package does not.
//
// To connect two Erlang nodes is to introduce them to each other. This node is
// hidden as a rule; then Erlang nodes do not take notice of it, and it is this side
// that sends the first discover, after each connection.
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
// A pg of OTP that starts when a hidden node is connected already does not ask it.
// So a scope monitors its name on each connected node where it has no peer, every
// Config.Seek; when that has said nothing for as long, somebody has the name, and
// gets one discover. Nothing is sent while all nodes have been met.
//
// # Invariants
//
//  1. Who is read is what was at one time: never half of a join, but for one that exceeds
//     a limit.
//  2. At rest, when all nodes are connected and all messages have arrived, all
//     scopes have the same groups, but for what exceeds a limit.
//  3. The changes that a monitor brings, applied to what it returned, give what
//     Members returns, in the order in which that has changed. Nobody is told to
//     have left who was not there.
//  4. A scope makes no connections.
//
// The files machine.go and table.go have more.
//
// # What can be lost, reordered, duplicated
//
// Views are consistent in the end only: a node may send to a member that has left
// elsewhere, or miss one that has joined. What comes from one node is seen in the
// order in which it happened there; what comes from two is not ordered. While two
// nodes are not connected neither has members of the other. A scope's process that
// ends takes the members of its node along, and its monitors, who are not told:
// monitor the process as well.
//
// A scope's process that has ended leaves nothing: a new one ([Config].Keep, or a
// supervisor) has no members of its own node, who must join again, and no monitors; the
// members on other nodes are there when those have answered its discover. The other nodes
// take the members of this one out when its process ends. It is so in OTP, too.
//
// # Goroutines
//
// The scope's process is an Actor without a goroutine of its own. Reading does not
// go through it: any number of goroutines look at immutable slices behind atomic
// pointers. A group named by an atom, an integer, a binary, a pid or a reference
// is found without a lock, any other under a read lock.
//
//	name     started by        ends with     owns
//	closer   exit of the       one store     nothing
//	         scope's process
//
// # Limits and versions
//
// OTP 23 and newer; 25 is what the tests compare with, monitors are there from
// 25.1. To join costs the same however many are in a group; to leave and to exit
// cost a copy of the group's list, as in OTP, and a leave of many at once one copy.
// A membership takes some 40 bytes.
//
// What other nodes make a scope keep is bounded by [Config].Members and [Config].Groups,
// half of each for one node, and so are the names of groups: 64 KiB. Of what is beyond,
// this node knows nothing: of a group that is too long, the members that joined first. Of
// a process that has joined a group several times, and not each of these was taken, as
// many leaves make it gone as were taken. A node may have 8 scope processes of the same
// name at a time. [Scope.Limits] says what is used and refused, also for other nodes'
// monitors, and for the processes here that they have join.
//
// # Differences from pg.erl
//
//   - Monitors are told of the changes of a sync too, and of effective leaves only.
//   - A malformed message, or an unknown one, is logged and changes nothing.
//   - [Scope.LeaveAll] is new, and so are the limits.
//   - Only this node's own processes can be members here, also by a call from
//     elsewhere.
//   - 1 and 1.0 are two groups, as there; 0.0 and -0.0 too, as in OTP 27.
package pg
