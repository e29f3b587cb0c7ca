package global

import "github.com/actornode/actornode/wire"

// A published node that belongs to no group answers for the process global_group what OTP's module of that name asks of
// another node:
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
// A search waits for its answer until the connection ends, and its caller waits for the search, so each is answered.
// Configuration checks before OTP 25, which name no PID to answer, are not. No term from a peer makes these functions panic.

// groupProcess is the name under which the process is registered.
const groupProcess wire.Atom = "global_group"

// groupNames are the names of module global, as this node knows them.
type groupNames interface {
	Whois(name any) (wire.PID, bool)
	Names() []any
}

// groupAnswer is a message that goes to a process; To is zero: none.
type groupAnswer struct {
	To  wire.PID
	Msg any
}

// groupCast answers a cast of another node's global_group, or of a search that it has started.
func groupCast(body any, self wire.Atom, names groupNames) groupAnswer {
	t, ok := body.(wire.Tuple)
	if !ok || len(t) == 0 {
		return groupAnswer{}
	}
	switch {
	case t[0] == wire.Atom("find_name") && len(t) == 3:
		to, _ := t[1].(wire.PID)
		if pid, ok := names.Whois(t[2]); ok {
			return groupAnswer{to, wire.Tuple{wire.Atom("find_name_res"), pid}}
		}
		return groupAnswer{to, wire.Tuple{wire.Atom("find_name_res"), wire.AtomUndefined}}
	case t[0] == wire.Atom("registered_names") && len(t) == 2:
		to, _ := t[1].(wire.PID)
		return groupAnswer{to, wire.Tuple{wire.Atom("registered_names_res"), wire.List(names.Names())}}
	case t[0] == wire.Atom("conf_check") && len(t) >= 7 && len(t) <= 8:
		from, _ := t[3].(wire.Tuple)
		if len(from) == 2 {
			to, _ := from[0].(wire.PID)
			return groupAnswer{to, wire.Tuple{wire.Atom("config_error"), t[1], from, self}}
		}
	}
	return groupAnswer{}
}

// groupCall answers a call; nodes are the visible ones that are connected.
func groupCall(body any, self wire.Atom, nodes []wire.Atom, names groupNames) any {
	t, _ := body.(wire.Tuple)
	switch {
	case body == wire.Atom("global_groups"):
		return wire.AtomUndefined
	case body == wire.Atom("own_nodes"):
		l := wire.List{self}
		for _, n := range nodes {
			l = append(l, n)
		}
		return l
	case body == wire.Atom("sync"):
		return wire.AtomOK
	case len(t) == 4 && t[0] == wire.Atom("ng_add_check"):
		return wire.Atom("not_agreed")
	case len(t) == 2 && t[0] == wire.Atom("whereis_name"):
		if pid, ok := names.Whois(t[1]); ok {
			return pid
		}
		return wire.AtomUndefined
	}
	return wire.Tuple{wire.Atom("illegal_message"), body}
}
