package otp

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// erlang are the functions of the module erlang, except its clocks.
func (t *tools) erlang() []function {
	n := t.n
	const m = "erlang"
	return []function{
		{m, "node", []int{0}, constant(n.Name())},
		{m, "node", []int{1}, plain(nodeOf)},
		{m, "nodes", []int{0}, plain(func([]any) (any, error) { return termof.Atoms(n.Nodes()), nil })},
		{m, "nodes", []int{1}, plain(func(args []any) (any, error) { return t.nodes(args[0]) })},
		{m, "nodes", []int{2}, plain(func(args []any) (any, error) { return t.nodesWith(args[0], args[1]) })},
		{m, "is_alive", []int{0}, plain(func([]any) (any, error) { return boolAtom(n.Addr() != nil), nil })},
		{m, "registered", []int{0}, plain(func([]any) (any, error) { return termof.Atoms(n.Registered()), nil })},
		{m, "processes", []int{0}, plain(func([]any) (any, error) {
			return pids(slices.Collect(n.Inside(process.Key{}).Processes())), nil
		})},
		{m, "whereis", []int{1}, plain(t.whereis)},
		{m, "is_process_alive", []int{1}, plain(t.isAlive)},
		{m, "process_info", []int{1}, plain(func(args []any) (any, error) { return t.all(args[0]) })},
		{m, "process_info", []int{2}, plain(func(args []any) (any, error) { return t.info(args[0], args[1]) })},
		{m, "group_leader", []int{0}, t.groupLeader},
		{m, "self", []int{0}, self},
		{m, "system_info", []int{1}, plain(func(args []any) (any, error) { return t.systemInfo(args[0]) })},
		{m, "system_flag", []int{2}, plain(systemFlag)},
		{m, "memory", []int{0}, plain(func([]any) (any, error) { return memory().list(), nil })},
		{m, "memory", []int{1}, plain(func(args []any) (any, error) { return memory().of(args[0]) })},
		{m, "statistics", []int{1}, plain(func(args []any) (any, error) { return t.statistics(args[0]) })},
		{m, "garbage_collect", []int{0}, plain(func([]any) (any, error) { return t.collect(), nil })},
		{m, "garbage_collect", []int{1, 2}, plain(t.collectFor)},
		{m, "function_exported", []int{3}, plain(t.functionExported)},
		{m, "module_loaded", []int{1}, plain(t.moduleLoaded)},
		{m, "loaded", []int{0}, plain(func([]any) (any, error) { return termof.Atoms(t.known()), nil })},
		{m, "ports", []int{0}, constant(wire.List{})},
		{m, "port_info", []int{1, 2}, plain(portInfo)},
		{m, "exit", []int{2}, t.exit},
	}
}

// clocks are the functions of erlang that tell the time.
func (t *tools) clocks() []function {
	const m = "erlang"
	tell := func(f func(time.Time) any) func(context.Context, []any) (any, error) {
		return func(context.Context, []any) (any, error) { return f(t.cfg.Now()), nil }
	}
	return []function{
		{m, "timestamp", []int{0}, tell(timestamp)},
		{m, "localtime", []int{0}, tell(func(now time.Time) any { return calendar(now.Local()) })},
		{m, "universaltime", []int{0}, tell(func(now time.Time) any { return calendar(now.UTC()) })},
		{m, "system_time", []int{0}, tell(func(now time.Time) any { return now.UnixNano() })},
		{m, "system_time", []int{1}, plain(func(args []any) (any, error) { return inUnit(t.cfg.Now().UnixNano(), args[0]) })},
		{m, "monotonic_time", []int{0}, tell(func(now time.Time) any { return int(now.Sub(t.born)) })},
		{m, "monotonic_time", []int{1}, plain(func(args []any) (any, error) {
			return inUnit(int64(t.cfg.Now().Sub(t.born)), args[0])
		})},
	}
}

// timestamp is {MegaSecs, Secs, MicroSecs}.
func timestamp(now time.Time) any {
	s := now.Unix()
	return wire.Tuple{int(s / 1e6), int(s % 1e6), now.Nanosecond() / 1000}
}

// calendar is {{Year, Month, Day}, {Hour, Minute, Second}}.
func calendar(t time.Time) any {
	return wire.Tuple{wire.Tuple{t.Year(), int(t.Month()), t.Day()}, wire.Tuple{t.Hour(), t.Minute(), t.Second()}}
}

// inUnit converts nanoseconds to another unit: a word, or parts of a second.
func inUnit(ns int64, unit any) (any, error) {
	words := map[any]int64{
		wire.Atom("second"): 1, wire.Atom("millisecond"): 1e3, wire.Atom("microsecond"): 1e6, wire.Atom("nanosecond"): 1e9,
		wire.Atom("native"): 1e9, wire.Atom("perf_counter"): 1e9,
	}
	parts, ok := wire.AsInt(unit)
	if a, word := unit.(wire.Atom); word {
		parts, ok = words[a]
	}
	if !ok || parts < 1 || parts > 1e9 {
		return nil, errBadArg
	}
	return ns/1e9*parts + ns%1e9*parts/1e9, nil
}

func nodeOf(args []any) (any, error) {
	switch id := args[0].(type) {
	case wire.PID:
		return id.Node(), nil
	case wire.Ref:
		return id.Node(), nil
	case wire.Port:
		return id.Node(), nil
	}
	return nil, errBadArg
}

// nodesWith is nodes/2: it returns each node with those of connection_id and node_type that the map asks for.
func (t *tools) nodesWith(kinds, asked any) (any, error) {
	m, ok := asked.(wire.Map)
	if !ok {
		return nil, errBadArg
	}
	names, err := t.namesOf(kinds)
	if err != nil {
		return nil, err
	}
	about := make(map[any]bool)
	for key, value := range m.All() {
		asks := value == wire.Atom("true")
		if key != wire.Atom("connection_id") && key != wire.Atom("node_type") || !asks && value != wire.Atom("false") {
			return nil, errBadArg
		}
		about[key] = asks
	}
	peers := make(map[wire.Atom]observe.Peer)
	for _, p := range t.n.Peers() {
		peers[p.Name] = p
	}
	all := wire.List{}
	for _, name := range names {
		p, info := peers[name], []any{}
		if about[wire.Atom("connection_id")] {
			id := any(wire.AtomUndefined)
			if p.Up {
				id = int(p.Since.UnixMicro())
			}
			info = append(info, wire.Atom("connection_id"), id)
		}
		if about[wire.Atom("node_type")] {
			info = append(info, wire.Atom("node_type"), t.typeOf(name, p))
		}
		all = append(all, wire.Tuple{name, wire.NewMap(info...)})
	}
	return all, nil
}

// typeOf returns the node type of another node, or of this one.
func (t *tools) typeOf(name wire.Atom, p observe.Peer) wire.Atom {
	switch {
	case name == t.n.Name():
		return "this"
	case !p.Up:
		return "known"
	case p.Hidden:
		return "hidden"
	}
	return "visible"
}

// nodesInfo is net_kernel:nodes_info.
func (t *tools) nodesInfo([]any) (any, error) {
	all := wire.List{}
	for _, p := range t.n.Peers() {
		if !p.Up {
			continue
		}
		kind := wire.Atom("normal")
		if p.Hidden {
			kind = "hidden"
		}
		all = append(all, wire.Tuple{p.Name, wire.List{
			wire.Tuple{wire.Atom("owner"), wire.AtomUndefined}, wire.Tuple{wire.Atom("state"), wire.Atom("up")},
			wire.Tuple{wire.Atom("address"), []byte(p.Addr)}, wire.Tuple{wire.Atom("type"), kind},
			wire.Tuple{wire.Atom("in"), int(p.FramesIn)}, wire.Tuple{wire.Atom("out"), int(p.FramesOut)},
		}})
	}
	return wire.Tuple{wire.AtomOK, all}, nil
}

// nodes is nodes/1, of one kind or a list of kinds.
func (t *tools) nodes(kinds any) (any, error) {
	names, err := t.namesOf(kinds)
	if err != nil {
		return nil, err
	}
	return termof.Atoms(names), nil
}

// namesOf returns the nodes of one kind or a list of kinds.
func (t *tools) namesOf(kinds any) ([]wire.Atom, error) {
	list, many := wire.AsList(kinds)
	if !many {
		list = []any{kinds}
	}
	visible, all := t.n.Nodes(), t.n.AllNodes()
	var names []wire.Atom
	for _, kind := range list {
		switch kind {
		case wire.Atom("this"):
			names = append(names, t.n.Name())
		case wire.Atom("visible"):
			names = append(names, visible...)
		case wire.Atom("hidden"):
			names = append(names, slices.DeleteFunc(slices.Clone(all), func(a wire.Atom) bool { return slices.Contains(visible, a) })...)
		case wire.Atom("connected"):
			names = append(names, all...)
		case wire.Atom("known"):
			names = append(append(names, t.n.Name()), all...)
		default:
			return nil, errBadArg
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (t *tools) whereis(args []any) (any, error) {
	name, ok := args[0].(wire.Atom)
	if !ok {
		return nil, errBadArg
	}
	if pid, ok := t.n.Whereis(name); ok {
		return pid, nil
	}
	return wire.AtomUndefined, nil
}

// local reads the PID of a process of this node, which may be dead.
func (t *tools) local(v any) (wire.PID, error) {
	pid, ok := v.(wire.PID)
	if !ok || !t.n.Inside(process.Key{}).Origin().Equal(pid.Origin()) {
		return wire.PID{}, errBadArg
	}
	return pid, nil
}

func (t *tools) isAlive(args []any) (any, error) {
	pid, err := t.local(args[0])
	return boolAtom(err == nil && t.n.IsAlive(pid)), err
}

// groupLeader returns the group leader of the process that was spawned for the call.
func (t *tools) groupLeader(ctx context.Context, _ []any) (any, error) {
	_, pid, _ := node.Calling(ctx)
	return t.n.Inside(process.Key{}).Leader(pid), nil
}

func self(ctx context.Context, _ []any) (any, error) {
	if _, pid, ok := node.Calling(ctx); ok {
		return pid, nil
	}
	return nil, errBadArg
}

func (t *tools) exit(ctx context.Context, args []any) (any, error) {
	pid, ok := args[0].(wire.PID)
	if !ok {
		return nil, errBadArg
	}
	if by := t.n.Inside(process.Key{}).AskerOf(ctx); by.Protected(pid) || !by.MayEnd(pid) {
		return nil, errProtected
	}
	t.n.Exit(pid, args[1])
	return wire.AtomTrue, nil
}

func portInfo(args []any) (any, error) {
	if _, ok := args[0].(wire.Port); !ok {
		return nil, errBadArg
	}
	return wire.AtomUndefined, nil
}

// systemFlag accepts what tools set before they measure. Measuring is always on.
func systemFlag(args []any) (any, error) {
	on, ok := wire.AsBool(args[1])
	if args[0] != wire.Atom("scheduler_wall_time") || !ok {
		return nil, errBadArg
	}
	return boolAtom(!on), nil
}

// collectPause is the minimum time between garbage collections that other nodes request: observer requests one per
// process.
const collectPause = time.Second

func (t *tools) collect() any {
	now := t.cfg.Now()
	t.mu.Lock()
	due := t.collected.IsZero() || now.Sub(t.collected) >= collectPause
	if due {
		t.collected = now
	}
	t.mu.Unlock()
	if due {
		runtime.GC()
	}
	return wire.AtomTrue
}

func (t *tools) collectFor(args []any) (any, error) {
	pid, err := t.local(args[0])
	if err != nil {
		return nil, err
	}
	if !t.n.IsAlive(pid) {
		return wire.AtomFalse, nil
	}
	return t.collect(), nil
}
