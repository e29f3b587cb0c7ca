package otp

import (
	"crypto/md5"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// modules are the functions of the module code, and module_info of every module.
func (t *tools) modules() []function {
	return []function{
		{"code", "ensure_loaded", []int{1}, plain(t.ensureLoaded)},
		{"code", "is_loaded", []int{1}, plain(t.isLoaded)},
		{"code", "which", []int{1}, plain(t.which)},
		{"code", "all_loaded", []int{0}, plain(t.allLoaded)},
		{erpc.AnyModule, "module_info", []int{0}, plain(t.moduleInfo)},
		{erpc.AnyModule, "module_info", []int{1}, plain(t.moduleInfoOf)},
	}
}

// known returns the modules that this node exports functions of, in alphabetical order.
func (t *tools) known() []wire.Atom {
	var l []wire.Atom
	for _, e := range t.n.Inside(process.Key{}).Exports() { // in order
		if e.Module != erpc.AnyModule && (len(l) == 0 || l[len(l)-1] != e.Module) {
			l = append(l, e.Module)
		}
	}
	return l
}

// module reports whether a module exists: it exports something, or a process of it has been shown.
func (t *tools) module(name wire.Atom) (behaviour wire.Atom, ok bool) {
	t.mu.Lock()
	behaviour, ok = t.seen[name]
	t.mu.Unlock()
	return behaviour, ok || slices.Contains(t.known(), name)
}

func (t *tools) ensureLoaded(args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return nil, rpc.Raise(wire.Atom("function_clause"))
	}
	if _, ok := t.module(name); ok {
		return wire.Tuple{wire.Atom("module"), name}, nil
	}
	return wire.Tuple{wire.AtomError, wire.Atom("nofile")}, nil
}

func (t *tools) isLoaded(args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	if _, ok := t.module(name); ok {
		return wire.Tuple{wire.Atom("file"), wire.Atom("preloaded")}, nil
	}
	return wire.AtomFalse, nil
}

func (t *tools) which(args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	if _, ok := t.module(name); ok {
		return wire.Atom("preloaded"), nil
	}
	return wire.Atom("non_existing"), nil
}

func (t *tools) allLoaded([]any) (any, error) {
	l := wire.List{}
	for _, m := range t.known() {
		l = append(l, wire.Tuple{m, wire.Atom("preloaded")})
	}
	return l, nil
}

func (t *tools) moduleLoaded(args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return nil, errBadArg
	}
	_, ok = t.module(name)
	return boolAtom(ok), nil
}

func (t *tools) functionExported(args []any) (any, error) {
	m, ok1 := args[0].(wire.Atom)
	f, ok2 := args[1].(wire.Atom)
	arity, ok3 := wire.AsInt(args[2])
	if !ok1 || !ok2 || !ok3 {
		return nil, errBadArg
	}
	e := wire.Export{Module: m, Function: f, Arity: int(arity)}
	return boolAtom(slices.Contains(t.n.Inside(process.Key{}).Exports(), e)), nil
}

// moduleInfo is module_info/0; the first of args is the module.
func (t *tools) moduleInfo(args []any) (any, error) {
	l := wire.List{}
	for _, what := range []wire.Atom{"module", "exports", "attributes", "compile", "md5"} {
		v, err := t.moduleInfoOf([]any{args[0], what})
		if err != nil {
			return nil, err
		}
		l = append(l, wire.Tuple{what, v})
	}
	return l, nil
}

// moduleInfoOf is module_info/1.
func (t *tools) moduleInfoOf(args []any) (any, error) {
	name := args[0].(wire.Atom)
	behaviour, ok := t.module(name)
	if !ok {
		return nil, fmt.Errorf("otp: %w: %s", rpc.ErrUndef, name)
	}
	digest := md5.Sum([]byte(name))
	switch args[1] {
	case wire.Atom("module"):
		return name, nil
	case wire.Atom("attributes"):
		l := wire.List{pair("vsn", wire.List{0})}
		if behaviour != "" {
			l = append(l, pair("behaviour", wire.List{behaviour}))
		}
		return l, nil
	case wire.Atom("exports"), wire.Atom("functions"):
		l := wire.List{}
		for _, e := range t.n.Inside(process.Key{}).Exports() {
			if e.Module == name {
				l = append(l, wire.Tuple{e.Function, e.Arity})
			}
		}
		return append(l, wire.Tuple{wire.Atom("module_info"), 0}, wire.Tuple{wire.Atom("module_info"), 1}), nil
	case wire.Atom("compile"), wire.Atom("nifs"):
		return wire.List{}, nil
	case wire.Atom("md5"):
		return digest[:], nil
	}
	return nil, errBadArg
}

// processes are the functions of proc_lib.
func (t *tools) processes() []function {
	return []function{
		{"proc_lib", "translate_initial_call", []int{1}, plain(t.translate)},
		{"proc_lib", "initial_call", []int{1}, plain(t.initialCall)},
		{"proc_lib", "get_label", []int{1}, plain(t.label)},
	}
}

// translate returns the initial call of a behaviour. For other processes it returns {proc_lib, init_p, 5}, which tells
// tools to send no system messages.
func (t *tools) translate(args []any) (any, error) {
	if p, ok := t.running(args[0]); ok && p.Kind != "" {
		return p.Initial, nil
	}
	return initP, nil
}

func (t *tools) running(pid any) (procview.Program, bool) {
	p, err := t.local(pid)
	if err != nil {
		return procview.Program{}, false
	}
	i, err := t.n.Info(p)
	if err != nil {
		return procview.Program{}, false
	}
	run := procview.ProgramOf(&i)
	t.see(run)
	return run, true
}

// initialCall returns {Module, Function, Args}; the values of Args are not known.
func (t *tools) initialCall(args []any) (any, error) {
	p, ok := t.running(args[0])
	if !ok || p.Kind == "" {
		return wire.AtomFalse, nil
	}
	return wire.Tuple{p.Initial[0], p.Initial[1], wire.List{wire.Atom("Argument__1")}}, nil
}

func (t *tools) label(args []any) (any, error) {
	pid, err := t.local(args[0])
	if err != nil {
		return nil, err
	}
	if i, err := t.n.Info(pid); err == nil && i.Label != "" {
		return i.Label, nil
	}
	return wire.AtomUndefined, nil
}
