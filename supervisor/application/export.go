package application

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// errBadArg is Erlang's badarg.
var errBadArg = node.ExitWith(wire.Atom("badarg"))

// call is a function called by Erlang, with at least as many arguments as its exported arity.
type call func(ctx context.Context, args []any) (any, error)

// export exports the functions listed in doc.go to Erlang.
func (c *Controller) export() error {
	acts := func(f call) call {
		return func(ctx context.Context, args []any) (any, error) {
			if !c.n.Inside(process.Key{}).AskerOf(ctx).MayAct() {
				return nil, errNotAllowed
			}
			return f(ctx, args)
		}
	}
	for _, x := range []struct {
		module, name wire.Atom
		arities      []int
		f            call
	}{
		{"application", "which_applications", []int{0, 1}, c.callWhich},
		{"application", "loaded_applications", []int{0}, func(context.Context, []any) (any, error) { return terms(c.Loaded()), nil }},
		{"application", "info", []int{0}, func(ctx context.Context, _ []any) (any, error) { return sys.GetState(ctx, c.n, c.pid) }},
		{"application", "start", []int{1, 2}, acts(c.callStart)},
		{"application", "ensure_started", []int{1, 2}, acts(c.callEnsureStarted)},
		{"application", "ensure_all_started", []int{1, 2}, acts(c.callEnsureAll)},
		{"application", "stop", []int{1}, acts(c.callStop)},
		{"application", "load", []int{1}, acts(c.callLoad)},
		{"application", "unload", []int{1}, acts(c.callUnload)},
		{"application", "get_key", []int{2}, c.callKey},
		{"application", "get_all_key", []int{1}, c.callAllKey},
		{"application", "get_env", []int{2, 3}, c.callEnv},
		{"application", "get_all_env", []int{1}, func(_ context.Context, args []any) (any, error) { return c.envTerm(args[0]), nil }},
		{"application", "set_env", []int{3, 4}, acts(c.callSetEnv)},
		{"application", "unset_env", []int{2, 3}, acts(c.callUnsetEnv)},
		{registeredName, "is_running", []int{1}, c.callRunning},
		{registeredName, "get_master", []int{1}, c.callMaster},
		{"application_master", "get_child", []int{1}, c.callChild},
	} {
		for _, arity := range x.arities {
			if err := rpc.Export(c.n, wire.Export{Module: x.module, Function: x.name, Arity: arity}, rpc.Function(x.f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// errNotAllowed is raised by functions that change something, if the calling node is not an operator.
var errNotAllowed = rpc.Raise(wire.Atom("not_allowed"))

// result returns ok or {error, Reason}. An error without its own term, such as the end of ctx, is the error of the call.
func result(err error) (any, error) {
	if err == nil {
		return wire.AtomOK, nil
	}
	if term, ok := termof.Error(err); ok {
		return wire.Tuple{wire.AtomError, term}, nil
	}
	return nil, err
}

func refused(reason wire.Atom, value any) any {
	return wire.Tuple{wire.AtomError, wire.Tuple{reason, value}}
}

func (c *Controller) callWhich(ctx context.Context, args []any) (any, error) {
	if len(args) == 1 && args[0] != wire.Atom("infinity") {
		ms, ok := wire.AsInt(args[0])
		if !ok || ms < 0 || ms > int64(node.Infinity/time.Millisecond)-1 {
			return nil, errBadArg
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	all, err := c.Which(ctx)
	return terms(all), err
}

// typeOf reads the optional restart type in args.
func typeOf(args []any) (t RestartType, err error) {
	if len(args) < 2 {
		return Temporary, nil
	}
	name, _ := args[1].(wire.Atom)
	t, ok := RestartType(name).known()
	if name == "" || !ok {
		return "", bad("invalid_restart_type", args[1])
	}
	return t, nil
}

func (c *Controller) callStart(ctx context.Context, args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return refused("bad_application", args[0]), nil
	}
	if c.spec(name) == nil {
		return result(wrongState(unknown, name))
	}
	t, err := typeOf(args)
	if err == nil {
		err = c.Start(ctx, name, t)
	}
	return result(err)
}

func (c *Controller) callEnsureStarted(ctx context.Context, args []any) (any, error) {
	answer, err := c.callStart(ctx, args)
	if wire.Equal(answer, refused("already_started", args[0])) {
		return wire.AtomOK, nil
	}
	return answer, err
}

func (c *Controller) callEnsureAll(ctx context.Context, args []any) (any, error) {
	names, ok := args[0].(wire.List) // since OTP 26
	if !ok {
		names = wire.List{args[0]}
	}
	apps := make([]wire.Atom, len(names))
	for i, n := range names {
		if apps[i], ok = n.(wire.Atom); !ok {
			return nil, errBadArg
		}
	}
	started, err := c.ensureAll(ctx, apps, func(*Spec) (RestartType, error) { return typeOf(args) })
	if err != nil {
		return result(err)
	}
	return wire.Tuple{wire.AtomOK, termof.Atoms(started)}, nil
}

func (c *Controller) callStop(ctx context.Context, args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return refused("not_started", args[0]), nil
	}
	return result(c.Stop(ctx, name))
}

func (c *Controller) callLoad(_ context.Context, args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	switch {
	case !ok:
		return refused("bad_application", args[0]), nil
	case c.spec(name) == nil:
		return result(wrongState(unknown, name))
	}
	return refused("already_loaded", name), nil
}

func (c *Controller) callUnload(ctx context.Context, args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return refused("not_loaded", args[0]), nil
	}
	return result(c.Unload(ctx, name))
}

// key returns one of the keys of OTP's application:get_key as a term:
// description, id, vsn, modules, maxP, maxT, registered, included_applications,
// optional_applications, applications, env, mod, start_phases. It returns false for any other key, and if the application
// is not loaded.
func (c *Controller) key(name, key wire.Atom) (any, bool) {
	s := c.spec(name)
	if s == nil {
		return nil, false
	}
	for _, k := range c.keys(s) {
		if t := k.(wire.Tuple); t[0] == key {
			return t[1], true
		}
	}
	return nil, false
}

func (c *Controller) keys(s *Spec) wire.List {
	var mod any = wire.Tuple{s.Name, wire.List{}}
	if s.isLibrary() {
		mod = wire.List{}
	}
	key := func(name wire.Atom, v any) any { return wire.Tuple{name, v} }
	return wire.List{
		key("description", wire.Charlist(s.Description)), key("id", wire.List{}), key("vsn", wire.Charlist(s.Version)),
		key("modules", termof.Atoms(s.Modules)), key("maxP", wire.Atom("infinity")), key("maxT", wire.Atom("infinity")),
		key("registered", termof.Atoms(s.Registered)), key("included_applications", wire.List{}),
		key("optional_applications", termof.Atoms(s.Optional)), key("applications", termof.Atoms(s.Depends)),
		key("env", c.envTerm(s.Name)), key("mod", mod), key("start_phases", wire.AtomUndefined),
	}
}

func (c *Controller) callKey(_ context.Context, args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	key, _ := args[1].(wire.Atom)
	if v, ok := c.key(name, key); ok {
		return wire.Tuple{wire.AtomOK, v}, nil
	}
	return wire.AtomUndefined, nil
}

func (c *Controller) callAllKey(_ context.Context, args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	if s := c.spec(name); s != nil {
		return wire.Tuple{wire.AtomOK, c.keys(s)}, nil
	}
	return wire.AtomUndefined, nil
}

// envTerm returns [{Key, Value}], sorted by key.
func (c *Controller) envTerm(name any) wire.List {
	app, _ := name.(wire.Atom)
	env := c.AllEnv(app)
	l := make(wire.List, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		l = append(l, wire.Tuple{k, sysmsg.Term(env[k])})
	}
	return l
}

func (c *Controller) callEnv(_ context.Context, args []any) (any, error) {
	name, ok1 := args[0].(wire.Atom)
	key, ok2 := args[1].(wire.Atom)
	v, ok := c.Env(name, key)
	switch {
	case ok && ok1 && ok2 && len(args) == 2:
		return wire.Tuple{wire.AtomOK, sysmsg.Term(v)}, nil
	case ok && ok1 && ok2:
		return sysmsg.Term(v), nil
	case len(args) == 2:
		return wire.AtomUndefined, nil
	}
	return args[2], nil
}

// The last argument of set_env and unset_env has a timeout and a persistent flag. Both are ignored, because nothing here
// takes time or is reloaded.
func (c *Controller) callSetEnv(_ context.Context, args []any) (any, error) {
	name, ok1 := args[0].(wire.Atom)
	key, ok2 := args[1].(wire.Atom)
	if !ok1 || !ok2 {
		return nil, errBadArg
	}
	c.SetEnv(name, key, args[2])
	return wire.AtomOK, nil
}

func (c *Controller) callUnsetEnv(_ context.Context, args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	key, _ := args[1].(wire.Atom)
	c.UnsetEnv(name, key)
	return wire.AtomOK, nil
}

func (c *Controller) callRunning(ctx context.Context, args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	up, err := c.running(ctx, name)
	if up {
		return wire.AtomTrue, err
	}
	return wire.AtomFalse, err
}

// callMaster is the first call of OTP's observer to draw an application's tree.
func (c *Controller) callMaster(ctx context.Context, args []any) (any, error) {
	name, _ := args[0].(wire.Atom)
	pid, err := genserver.Call(ctx, c.n, c.pid, master{name: name})
	if pid.IsZero() {
		return wire.AtomUndefined, err
	}
	return pid, err
}

// callChild is the second one: {Top, Module}.
func (c *Controller) callChild(ctx context.Context, args []any) (any, error) {
	of, _ := args[0].(node.PID)
	pid, err := genserver.Call(ctx, c.n, c.pid, child{master: of})
	if pid.IsZero() {
		return wire.AtomError, err
	}
	return wire.Tuple{pid, wire.Atom("supervisor")}, err
}
