package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/actornode/actornode/wire"
)

// Processes that other nodes expect here, and calls that they make.

// startKernel starts them. They are ordinary actors.
func (n *Node) startKernel() error {
	kernel, err := n.SpawnOpt(Options{Name: "net_kernel"}, ActorFunc(netKernel))
	if err != nil {
		return err
	}
	n.dist.kernel = kernel
	n.exportErlang()
	_, err = n.SpawnOpt(Options{Name: "rex"}, ActorFunc(rex))
	return err
}

// netKernel answers net_adm:ping: without an answer OTP takes a node for dead.
func netKernel(c *Context, msg any) error {
	r, ok := c.node.AsRequest(msg)
	if !ok {
		return nil
	}
	if t, ok := r.Body.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.Atom("is_auth") {
		return ignoreLate(c.Reply(r.From, wire.Atom("yes")))
	}
	return ignoreLate(r.Fail(fmt.Errorf("net_kernel does not know %s", wire.Format(r.Body))))
}

func ignoreLate(err error) error {
	if errors.Is(err, ErrReplied) {
		return nil
	}
	return err
}

// rex answers what comes to it since rpc goes by spawns: the question for
// features, and the calls of older nodes, block_call and C nodes.
func rex(c *Context, msg any) error {
	n := c.node
	if r, ok := n.AsRequest(msg); ok {
		if t, ok := r.Body.(wire.Tuple); ok && len(t) == 5 && (t[0] == wire.Atom("call") || t[0] == wire.Atom("block_call")) {
			return n.answerRex(t, func(v any) { r.Reply(v) })
		}
		return ignoreLate(r.Fail(fmt.Errorf("rex does not know %s", wire.Format(r.Body))))
	}
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return nil
	}
	if from, ok := t[0].(PID); ok {
		if t[1] == wire.Atom("features_request") {
			c.Send(from, wire.Tuple{wire.Atom("features_reply"), n.cfg.Name, wire.List{wire.Atom("erpc")}})
			return nil
		}
		if call, ok := t[1].(wire.Tuple); ok && len(call) == 5 && call[0] == wire.Atom("call") {
			return n.answerRex(call, func(v any) { n.Send(from, wire.Tuple{wire.Atom("rex"), v}) })
		}
	}
	if cast, ok := t[1].(wire.Tuple); ok && t[0] == wire.Atom("$gen_cast") && len(cast) == 5 && cast[0] == wire.Atom("cast") {
		return n.answerRex(cast, func(any) {})
	}
	return nil
}

// answerRex runs {call, Module, Function, Args, Leader} in a process of its own.
func (n *Node) answerRex(t wire.Tuple, reply func(any)) error {
	module, ok1 := t[1].(Atom)
	function, ok2 := t[2].(Atom)
	args, ok3 := listOf(t[3])
	badrpc := func(reason any) any {
		return wire.Tuple{wire.Atom("badrpc"), wire.Tuple{wire.Atom("EXIT"), reason}}
	}
	if !ok1 || !ok2 || !ok3 {
		reply(badrpc(wire.Atom("badarg")))
		return nil
	}
	_, err := n.Spawn(Process(func(p *Self) error {
		class, v, _ := n.apply(p.Context(), module, function, args)
		if class != "return" {
			v = badrpc(v)
		}
		reply(v)
		return nil
	}))
	return err
}

// apply calls an exported function and tells how it went as erpc does: class is
// return, error or exit.
func (n *Node) apply(ctx context.Context, module, function Atom, args []any) (class Atom, v any, stack wire.List) {
	stack = wire.List{wire.Tuple{module, function, wire.List(args), wire.List{}}}
	returned := false
	defer func() {
		if !returned {
			class, v = wire.Error, fmt.Sprint(recover())
		}
	}()
	v, err := n.Apply(ctx, module, function, args)
	returned = true
	switch {
	case err == nil:
		return "return", v, nil
	case errors.Is(err, ErrUndef):
		return wire.Error, wire.Atom("undef"), stack
	case IsExit(err):
		return "exit", reasonOf(err), nil
	}
	return wire.Error, ErrorTerm(err), stack
}

// behaviourFor makes the behaviour of a process that another node asks for.
func (n *Node) behaviourFor(p *peer, s *wire.Spawn) (Actor, error) {
	undef := func(m, f Atom, args []any) Process {
		return func(*Self) error {
			return ExitWith(wire.Tuple{wire.Atom("undef"), wire.List{wire.Tuple{m, f, wire.List(args), wire.List{}}}})
		}
	}
	if s.Module == "erpc" && (s.Function == "execute_call" && len(s.Args) == 4 || s.Function == "execute_cast" && len(s.Args) == 3) {
		args := s.Args
		var ref any
		if len(args) == 4 {
			ref, args = args[0], args[1:]
		}
		module, ok1 := args[0].(Atom)
		function, ok2 := args[1].(Atom)
		list, ok3 := listOf(args[2])
		if !ok1 || !ok2 || !ok3 {
			return nil, ExitWith(wire.Atom("badarg"))
		}
		return Process(func(s *Self) error {
			var class Atom = wire.Error
			var v any = wire.Atom("undef")
			stack := wire.List{wire.Tuple{module, function, wire.List(list), wire.List{}}}
			if n.allows(p, module, function, len(list)) {
				class, v, stack = n.apply(s.Context(), module, function, list)
			}
			switch {
			case ref == nil:
				return nil
			case class == wire.Error:
				return ExitWith(wire.Tuple{ref, class, v, stack})
			}
			return ExitWith(wire.Tuple{ref, class, v})
		}), nil
	}
	if !n.allows(p, s.Module, s.Function, len(s.Args)) {
		return undef(s.Module, s.Function, s.Args), nil
	}
	b, err := n.Behaviour(s.Module, s.Function, s.Args)
	if errors.Is(err, ErrUndef) {
		return undef(s.Module, s.Function, s.Args), nil
	}
	if err != nil {
		reason := ErrorTerm(err)
		return Process(func(*Self) error { return ExitWith(reason) }), nil
	}
	return b, nil
}

func (n *Node) allows(p *peer, module, function Atom, arity int) bool {
	allow := n.dist.cfg.Allow
	return allow == nil || allow(p.name, wire.Export{Module: module, Function: function, Arity: arity})
}

// listOf reads a proper list of any spelling.
func listOf(t any) ([]any, bool) {
	switch l := t.(type) {
	case nil:
		return nil, true
	case wire.List:
		return l, true
	case wire.Charlist:
		return l.List(), true
	}
	return nil, false
}

// exportErlang offers what operators and OTP's tools call in the module erlang.
func (n *Node) exportErlang() {
	offer := func(name Atom, arity int, f func(args []any) (any, error)) {
		n.ExportFunction(wire.Export{Module: "erlang", Function: name, Arity: arity},
			func(_ context.Context, args []any) (any, error) { return f(args) })
	}
	badarg := ExitWith(wire.Atom("badarg"))
	offer("node", 0, func([]any) (any, error) { return n.cfg.Name, nil })
	offer("nodes", 0, func([]any) (any, error) { return atoms(n.Nodes(false)), nil })
	offer("registered", 0, func([]any) (any, error) { return atoms(n.Registered()), nil })
	offer("processes", 0, func([]any) (any, error) {
		l := wire.List{}
		for pid := range n.Processes() {
			l = append(l, pid)
		}
		return l, nil
	})
	offer("whereis", 1, func(args []any) (any, error) {
		name, ok := args[0].(Atom)
		if !ok {
			return nil, badarg
		}
		if pid, ok := n.Whereis(name); ok {
			return pid, nil
		}
		return wire.Undefined, nil
	})
	offer("is_process_alive", 1, func(args []any) (any, error) {
		pid, ok := args[0].(PID)
		if !ok {
			return nil, badarg
		}
		return n.IsAlive(pid), nil
	})
	offer("process_info", 1, func(args []any) (any, error) { return n.processInfo(args[0], nil) })
	offer("process_info", 2, func(args []any) (any, error) { return n.processInfo(args[0], args[1]) })
	offer("memory", 0, func([]any) (any, error) { return memory(), nil })
	offer("system_info", 1, func(args []any) (any, error) { return n.systemInfo(args[0]) })
	offer("statistics", 1, func(args []any) (any, error) { return n.statistics(args[0]) })
}

func atoms(names []Atom) wire.List {
	l := make(wire.List, len(names))
	for i, a := range names {
		l[i] = a
	}
	return l
}

// items are what process_info tells, in OTP's words.
func (n *Node) items(pid PID) ([]wire.Tuple, bool) {
	i, err := n.Info(pid)
	if err != nil {
		return nil, false
	}
	status := map[State]Atom{StateIdle: "waiting", StateWaiting: "waiting", StateScheduled: "runnable", StateRunning: "running",
		StateExiting: "exiting", StateDead: "exiting"}[i.State]
	pids := func(l []PID, wrap bool) wire.List {
		r := make(wire.List, len(l))
		for k, p := range l {
			r[k] = p
			if wrap {
				r[k] = wire.Tuple{wire.Atom("process"), p}
			}
		}
		return r
	}
	initial := wire.Tuple{wire.Atom(i.Behaviour), wire.Atom("init"), 1}
	var parent any = wire.Undefined
	if !i.Parent.IsZero() {
		parent = i.Parent
	}
	var t []wire.Tuple
	if i.Name != "" {
		t = append(t, wire.Tuple{wire.Atom("registered_name"), i.Name})
	}
	return append(t,
		wire.Tuple{wire.Atom("current_function"), initial},
		wire.Tuple{wire.Atom("initial_call"), initial},
		wire.Tuple{wire.Atom("status"), status},
		wire.Tuple{wire.Atom("message_queue_len"), i.Mailbox},
		wire.Tuple{wire.Atom("links"), pids(i.Links, false)},
		wire.Tuple{wire.Atom("monitors"), pids(i.Monitors, true)},
		wire.Tuple{wire.Atom("monitored_by"), pids(i.Watchers, false)},
		wire.Tuple{wire.Atom("dictionary"), wire.List{wire.Tuple{wire.Atom("$initial_call"), initial}}},
		wire.Tuple{wire.Atom("trap_exit"), i.TrapExit},
		wire.Tuple{wire.Atom("error_handler"), wire.Atom("error_handler")},
		wire.Tuple{wire.Atom("priority"), wire.Atom("normal")},
		wire.Tuple{wire.Atom("group_leader"), n.self()},
		wire.Tuple{wire.Atom("total_heap_size"), 0},
		wire.Tuple{wire.Atom("heap_size"), 0},
		wire.Tuple{wire.Atom("stack_size"), 0},
		wire.Tuple{wire.Atom("memory"), 0},
		wire.Tuple{wire.Atom("reductions"), int(i.Handled)},
		wire.Tuple{wire.Atom("parent"), parent},
		wire.Tuple{wire.Atom("suspending"), wire.List{}},
	), true
}

func (n *Node) processInfo(pid, what any) (any, error) {
	p, ok := pid.(PID)
	if !ok || !n.origin.Minted(p) {
		return nil, ExitWith(wire.Atom("badarg"))
	}
	items, ok := n.items(p)
	if !ok {
		return wire.Undefined, nil
	}
	find := func(name any) (any, bool) {
		for _, t := range items {
			if t[0] == name {
				return t, true
			}
		}
		if name == wire.Atom("registered_name") {
			return wire.List{}, true
		}
		return nil, false
	}
	if what == nil {
		l := wire.List{}
		for _, t := range items {
			switch t[0] {
			case wire.Atom("monitors"), wire.Atom("monitored_by"), wire.Atom("memory"), wire.Atom("parent"):
			default:
				l = append(l, t)
			}
		}
		return l, nil
	}
	if names, ok := listOf(what); ok {
		l := wire.List{}
		for _, name := range names {
			t, ok := find(name)
			if !ok {
				return nil, ExitWith(wire.Atom("badarg"))
			}
			if name == wire.Atom("registered_name") {
				if _, none := t.(wire.List); none {
					t = wire.Tuple{name, wire.List{}}
				}
			}
			l = append(l, t)
		}
		return l, nil
	}
	if t, ok := find(what); ok {
		return t, nil
	}
	return nil, ExitWith(wire.Atom("badarg"))
}

func memory() wire.List {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return wire.List{
		wire.Tuple{wire.Atom("total"), int(m.Sys)},
		wire.Tuple{wire.Atom("processes"), int(m.HeapAlloc)},
		wire.Tuple{wire.Atom("processes_used"), int(m.HeapAlloc)},
		wire.Tuple{wire.Atom("system"), int(m.Sys - m.HeapSys)},
		wire.Tuple{wire.Atom("atom"), 0},
		wire.Tuple{wire.Atom("atom_used"), 0},
		wire.Tuple{wire.Atom("binary"), 0},
		wire.Tuple{wire.Atom("code"), 0},
		wire.Tuple{wire.Atom("ets"), 0},
	}
}

func (n *Node) systemInfo(what any) (any, error) {
	switch what {
	case wire.Atom("process_count"):
		return n.Stats().Processes, nil
	case wire.Atom("process_limit"):
		return n.cfg.MaxProcesses, nil
	case wire.Atom("schedulers"), wire.Atom("schedulers_online"), wire.Atom("logical_processors"), wire.Atom("logical_processors_online"):
		return runtime.GOMAXPROCS(0), nil
	case wire.Atom("otp_release"):
		return wire.Charlist("25"), nil
	case wire.Atom("version"):
		return wire.Charlist(runtime.Version()), nil
	case wire.Atom("system_architecture"):
		return wire.Charlist(runtime.GOARCH + "-" + runtime.GOOS), nil
	case wire.Atom("wordsize"):
		return 8, nil
	case wire.Atom("creation"):
		return int(n.cfg.Creation), nil
	}
	return nil, ExitWith(wire.Atom("badarg"))
}

func (n *Node) statistics(what any) (any, error) {
	switch what {
	case wire.Atom("run_queue"):
		return 0, nil
	case wire.Atom("wall_clock"):
		return wire.Tuple{int(time.Since(n.born).Milliseconds()), 0}, nil
	}
	return nil, ExitWith(wire.Atom("badarg"))
}
