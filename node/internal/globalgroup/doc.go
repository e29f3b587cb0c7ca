// Package globalgroup answers for the process global_group of a published node that belongs to no group: what OTP's
// module of that name asks of another node. It consists of functions of terms.
//
// Nouns: an [Answer] is a message to a process of the other node.
//
//	message                                                 from                               answer
//	cast {find_name, Pid, Name}                             global_group:whereis_name, send    {find_name_res, Pid | undefined}
//	cast {registered_names, Pid}                            global_group:registered_names      {registered_names_res, Names}
//	cast {conf_check, V, Node, {Pid, Ref}, sync, Group, …}  global_group:sync                  {config_error, V, {Pid, Ref}, Self}
//	call global_groups, own_nodes, sync                     calls by rpc                       undefined, all nodes, ok
//	call {ng_add_check, Node, Type, Nodes}                  a node with other groups           not_agreed
//	call {whereis_name, Name}                               calls by rpc                       Pid | undefined
//	call anything else                                                                         {illegal_message, Request}
//
// A search waits for its answer until the connection ends, and its caller for the search: each is answered. Checks of
// configurations before OTP 25, which name no PID to answer, are not.
//
// Invariants:
//
//  1. No term that a peer sends makes a function of this package panic.
//
// The package has no state, no clock and no goroutine.
package globalgroup
