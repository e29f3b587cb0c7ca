package global

import (
	"slices"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/global"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// otpHost is the node, as the functions use it that other nodes may call by rpc.
type otpHost interface {
	global.Worker
	tables.GlobalEffects
	// Ask calls the name server.
	Ask(body any) (any, error)
	Whois(name any) (wire.PID, bool)
	Names() []any
	Nodes() []wire.Atom
	Self() wire.Atom
	// MayName reports whether who calls may give a process a name, or take it away.
	MayName(pid wire.PID) bool
	// MayAct reports whether who calls may do what operators do.
	MayAct() bool
}

// functions are those of OTP's module global that a published node has for others, who call them by rpc, and for the resolution
// of clashes; and those of other modules that bring a node into a cluster or out of it: net_adm:ping, net_kernel:connect_node,
// erlang:disconnect_node, and what global_group asks. They are called with terms, and answer as those of OTP do.
//
// set_lock, del_lock and trans are not among them: a lock would belong to the process of the call, and end with it.
var functions = map[wire.Export]func(e otpHost, args []any) (any, error){
	fn("resolve_it", 4): func(e otpHost, args []any) (any, error) {
		a, ok := args[2].(wire.PID)
		b, ok2 := args[3].(wire.PID)
		m, ok3 := args[0].(wire.Export)
		if !ok || !ok2 || !ok3 || m.Arity != 3 {
			return nil, badarg()
		}
		if m.Module == "global" {
			if keeps, ok := tables.DecideGlobal(m.Function, args[1], a, b, e); ok {
				return keeps, nil
			}
		}
		return e.Apply("", m.Module, m.Function, args[1:])
	},
	fn("random_exit_name", 3):   method,
	fn("random_notify_name", 3): method,
	fn("notify_all_name", 3):    method,
	fn("whereis_name", 1): func(e otpHost, args []any) (any, error) {
		if pid, ok := e.Whois(args[0]); ok {
			return pid, nil
		}
		return wire.AtomUndefined, nil
	},
	fn("registered_names", 0): func(e otpHost, _ []any) (any, error) { return wire.List(e.Names()), nil },
	fn("register_name", 2):    func(e otpHost, args []any) (any, error) { return register(e, args, tables.RandomExit, false) },
	fn("register_name", 3):    func(e otpHost, args []any) (any, error) { return register(e, args, args[2], false) },
	fn("re_register_name", 2): func(e otpHost, args []any) (any, error) { return register(e, args, tables.RandomExit, true) },
	fn("re_register_name", 3): func(e otpHost, args []any) (any, error) { return register(e, args, args[2], true) },
	fn("unregister_name", 1): func(e otpHost, args []any) (any, error) {
		if !mayTake(e, args[0]) {
			return nil, &calls.Raise{Reason: protected}
		}
		return done(e.Ask(global.Unregistering{Name: args[0]}))
	},
	fn("sync", 0):       func(e otpHost, _ []any) (any, error) { return done(e.Ask(global.Syncing{Nodes: e.Nodes()})) },
	fn("disconnect", 0): operators(func(e otpHost, _ []any) (any, error) { return e.Ask(global.Leaving{}) }),
	fn("send", 2): func(e otpHost, args []any) (any, error) {
		pid, ok := e.Whois(args[0])
		if !ok {
			return nil, &calls.Exit{Reason: wire.Tuple{wire.Atom("badarg"), wire.Tuple{args[0], args[1]}}}
		}
		e.Tell(pid, args[1])
		return pid, nil
	},
	{Module: "net_adm", Function: "ping", Arity: 1}: operators(func(e otpHost, args []any) (any, error) {
		if ok, err := connect(e, args[0]); !ok || err != nil {
			return wire.Atom("pang"), err
		}
		return wire.Atom("pong"), nil
	}),
	{Module: "net_kernel", Function: "connect_node", Arity: 1}: operators(func(e otpHost, args []any) (any, error) {
		return connect(e, args[0])
	}),
	{Module: "erlang", Function: "disconnect_node", Arity: 1}: operators(func(e otpHost, args []any) (any, error) {
		name, ok := args[0].(wire.Atom)
		if !ok {
			return nil, badarg()
		}
		was := slices.Contains(e.Nodes(), name)
		e.Disconnect(name)
		return was, nil
	}),
	// What a node with groups asks before it takes this one, which is of none, for one of its own.
	{Module: "global_group", Function: "get_own_nodes"}: func(otpHost, []any) (any, error) { return wire.List{}, nil },
	{Module: "global_group", Function: "ng_add_check", Arity: 3}: func(otpHost, []any) (any, error) {
		return wire.Atom("not_agreed"), nil
	},
}

// operators has a function refuse those who do not operate the node.
func operators(f func(otpHost, []any) (any, error)) func(otpHost, []any) (any, error) {
	return func(e otpHost, args []any) (any, error) {
		if !e.MayAct() {
			return nil, &calls.Raise{Reason: wire.Atom("not_allowed")}
		}
		return f(e, args)
	}
}

func connect(e otpHost, name any) (bool, error) {
	n, ok := name.(wire.Atom)
	if !ok {
		return false, badarg()
	}
	return n == e.Self() || e.Connect(n), nil
}

func fn(name wire.Atom, arity int) wire.Export {
	return wire.Export{Module: "global", Function: name, Arity: arity}
}

func badarg() error { return &calls.Raise{Reason: wire.Atom("badarg")} }

// otpExports are the functions.
func otpExports() (all []wire.Export) {
	for e := range functions {
		all = append(all, e)
	}
	return all
}

// applyOTP calls one of them.
func applyOTP(x otpHost, e wire.Export, args []any) (any, error) {
	f := functions[e]
	switch {
	case f == nil:
		return nil, erpc.UndefExport(e)
	case e.Arity == 3 && e.Function != "register_name" && e.Function != "re_register_name":
		args = append([]any{e}, args...) // a method
	}
	return f(x, args)
}

// method is for a method that is called by itself; the first of args is what it is.
func method(e otpHost, args []any) (any, error) {
	a, ok := args[2].(wire.PID)
	b, ok2 := args[3].(wire.PID)
	if !ok || !ok2 {
		return nil, badarg()
	}
	keeps, _ := tables.DecideGlobal(args[0].(wire.Export).Function, args[1], a, b, e)
	return keeps, nil
}

func register(e otpHost, args []any, method any, again bool) (any, error) {
	pid, ok := args[1].(wire.PID)
	if !ok {
		return nil, badarg()
	}
	if !e.MayName(pid) || again && !mayTake(e, args[0]) {
		return nil, &calls.Raise{Reason: protected}
	}
	v, err := e.Ask(global.Registering{Name: args[0], PID: pid, Method: method, Again: again})
	if err != nil {
		return nil, err
	}
	if v == true {
		return wire.Atom("yes"), nil
	}
	return wire.Atom("no"), nil
}

// mayTake reports whether the caller may take a name from its holder.
func mayTake(e otpHost, name any) bool {
	pid, ok := e.Whois(name)
	return !ok || e.MayName(pid)
}

// protected is what a function raises that would name a process which the caller may not name, or take its name.
const protected wire.Atom = "protected"

func done(_ any, err error) (any, error) { return wire.Atom("ok"), err }
