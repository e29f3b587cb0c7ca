package globalgroup

import "github.com/actornode/actornode/wire"

// Name is what the process is registered under.
const Name wire.Atom = "global_group"

// Names are the names of module global, as this node knows them.
type Names interface {
	Whois(name any) (wire.PID, bool)
	Names() []any
}

// Answer is a message that goes to a process; To is zero: none.
type Answer struct {
	To  wire.PID
	Msg any
}

// Cast answers a cast of another node's global_group, or of a search that it has started.
func Cast(body any, self wire.Atom, names Names) Answer {
	t, ok := body.(wire.Tuple)
	if !ok || len(t) == 0 {
		return Answer{}
	}
	switch {
	case t[0] == wire.Atom("find_name") && len(t) == 3:
		to, _ := t[1].(wire.PID)
		if pid, ok := names.Whois(t[2]); ok {
			return Answer{to, wire.Tuple{wire.Atom("find_name_res"), pid}}
		}
		return Answer{to, wire.Tuple{wire.Atom("find_name_res"), wire.Undefined}}
	case t[0] == wire.Atom("registered_names") && len(t) == 2:
		to, _ := t[1].(wire.PID)
		return Answer{to, wire.Tuple{wire.Atom("registered_names_res"), wire.List(names.Names())}}
	case t[0] == wire.Atom("conf_check") && len(t) >= 7 && len(t) <= 8:
		from, _ := t[3].(wire.Tuple)
		if len(from) == 2 {
			to, _ := from[0].(wire.PID)
			return Answer{to, wire.Tuple{wire.Atom("config_error"), t[1], from, self}}
		}
	}
	return Answer{}
}

// Call answers a call; nodes are the visible ones that are connected.
func Call(body any, self wire.Atom, nodes []wire.Atom, names Names) any {
	t, _ := body.(wire.Tuple)
	switch {
	case body == wire.Atom("global_groups"):
		return wire.Undefined
	case body == wire.Atom("own_nodes"):
		l := wire.List{self}
		for _, n := range nodes {
			l = append(l, n)
		}
		return l
	case body == wire.Atom("sync"):
		return wire.OK
	case len(t) == 4 && t[0] == wire.Atom("ng_add_check"):
		return wire.Atom("not_agreed")
	case len(t) == 2 && t[0] == wire.Atom("whereis_name"):
		if pid, ok := names.Whois(t[1]); ok {
			return pid
		}
		return wire.Undefined
	}
	return wire.Tuple{wire.Atom("illegal_message"), body}
}
