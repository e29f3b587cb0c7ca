package otp

import (
	"cmp"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// wordBytes is the size of a word.
const wordBytes = 8

// initP is the function that processes of OTP's behaviours start with.
var initP = wire.Tuple{wire.Atom("proc_lib"), wire.Atom("init_p"), 5}

// rawCall returns the initial_call of process_info: for behaviours, that of proc_lib.
func rawCall(p procview.Program) wire.Tuple {
	if p.Kind != "" {
		return initP
	}
	return p.Initial
}

// moduleOf is the module of a process's code.
func moduleOf(p procview.Program) wire.Atom { return p.Initial[0].(wire.Atom) }

// see records the module of a process that is shown, so that the module exists when somebody asks for it.
func (t *tools) see(p procview.Program) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[moduleOf(p)] = p.Kind
}

func statusOf(s observe.State) wire.Atom {
	switch s {
	case observe.Scheduled:
		return "runnable"
	case observe.Running:
		return "running"
	case observe.Exiting, observe.Dead:
		return "exiting"
	}
	return "waiting"
}

func pids(l []wire.PID) wire.List {
	r := make(wire.List, len(l))
	for k, p := range l {
		r[k] = p
	}
	return r
}

// dictionary returns what proc_lib would have put into the process dictionary.
func (t *tools) dictionary(i *observe.Process, p procview.Program) wire.List {
	d := wire.List{}
	if p.Kind != "" || !i.Parent.IsZero() {
		d = append(d, pair("$initial_call", p.Initial), pair("$ancestors", procview.Ancestors(t.n, *i)))
	}
	if i.Label != "" {
		d = append(d, pair("$process_label", i.Label))
	}
	return d
}

// summary are the items of process_info/1, in its order.
var summary = []wire.Atom{"registered_name", "current_function", "initial_call", "status", "message_queue_len", "links",
	"dictionary", "trap_exit", "error_handler", "priority", "group_leader", "total_heap_size", "heap_size", "stack_size",
	"reductions", "garbage_collection", "suspending"}

// constants are items that say nothing about a process of Go.
var constants = map[wire.Atom]any{
	"error_handler": wire.Atom("error_handler"), "priority": wire.Atom("normal"), "suspending": wire.List{},
	"stack_size": 0, "min_heap_size": 0, "min_bin_vheap_size": 0, "fullsweep_after": 0, "max_heap_size": maxHeap,
	"binary": wire.List{}, "catchlevel": 0, "last_calls": wire.AtomFalse, "trace": 0, "sequential_trace_token": wire.List{},
	"magic_ref": wire.List{}, "message_queue_data": wire.Atom("off_heap"), "async_dist": wire.AtomFalse,
	"garbage_collection": wire.List{pair("max_heap_size", maxHeap), pair("min_bin_vheap_size", 0), pair("min_heap_size", 0),
		pair("fullsweep_after", 0), pair("minor_gcs", 0)},
	"garbage_collection_info": wire.List{pair("old_heap_block_size", 0), pair("heap_block_size", 0), pair("mbuf_size", 0),
		pair("recent_size", 0), pair("stack_size", 0), pair("old_heap_size", 0), pair("heap_size", 0), pair("bin_vheap_size", 0),
		pair("bin_vheap_block_size", 0), pair("bin_old_vheap_size", 0), pair("bin_old_vheap_block_size", 0)},
}

var maxHeap = wire.NewMap(wire.Atom("error_logger"), wire.AtomFalse, wire.Atom("kill"), wire.AtomFalse, wire.Atom("size"), 0)

// item is one item of process_info; false: there is none of that name.
func (t *tools) item(i *observe.Process, p procview.Program, name any) (any, bool) {
	a, ok := name.(wire.Atom)
	if !ok {
		return t.dictionaryItem(i, p, name)
	}
	if v, ok := constants[a]; ok {
		return v, true
	}
	switch a {
	case "registered_name":
		if i.Name == "" {
			return wire.List{}, true
		}
		return i.Name, true
	case "current_function":
		return p.Current, true
	case "current_location":
		return append(append(wire.Tuple{}, p.Current...), wire.List{}), true
	case "current_stacktrace":
		return wire.List{append(append(wire.Tuple{}, p.Current...), wire.List{})}, true
	case "initial_call":
		return rawCall(p), true
	case "status":
		return statusOf(i.State), true
	case "message_queue_len":
		return i.Mailbox, true
	case "messages":
		return t.messages(i.PID), true
	case "links":
		return pids(i.Links), true
	case "monitors":
		l := wire.List{}
		for _, q := range i.Monitors {
			l = append(l, pair("process", q))
		}
		for _, at := range i.Named {
			l = append(l, pair("process", wire.Tuple{at.Name, at.Node}))
		}
		return l, true
	case "monitored_by":
		return pids(i.Watchers), true
	case "dictionary":
		return t.dictionary(i, p), true
	case "trap_exit":
		return wire.Atom(boolAtom(i.TrapExit)), true
	case "group_leader":
		return cmp.Or(i.Leader, i.PID), true
	case "total_heap_size", "heap_size":
		return procview.Bytes(i) / wordBytes, true
	case "memory":
		return procview.Bytes(i), true
	case "reductions":
		return int(i.Handled), true
	case "parent":
		if i.Parent.IsZero() {
			return wire.AtomUndefined, true
		}
		return i.Parent, true
	case "label":
		if i.Label == "" {
			return wire.AtomUndefined, true
		}
		return i.Label, true
	case "backtrace":
		return "Program counter: " + wire.Format(p.Current) + " (" + i.Code + ")\n", true
	}
	return nil, false
}

// dictionaryItem is the item {dictionary, Key} of OTP 26.
func (t *tools) dictionaryItem(i *observe.Process, p procview.Program, name any) (any, bool) {
	k, ok := name.(wire.Tuple)
	if !ok || len(k) != 2 || k[0] != wire.Atom("dictionary") {
		return nil, false
	}
	for _, e := range t.dictionary(i, p) {
		if e := e.(wire.Tuple); wire.Equal(e[0], k[1]) {
			return e[1], true
		}
	}
	return wire.AtomUndefined, true
}

func boolAtom(b bool) wire.Atom {
	if b {
		return wire.AtomTrue
	}
	return wire.AtomFalse
}

// messages returns the waiting messages as terms.
func (t *tools) messages(pid wire.PID) wire.List {
	l := wire.List{}
	for _, m := range t.n.Inside(process.Key{}).Messages(pid, t.cfg.Messages) {
		l = append(l, sysmsg.Term(m))
	}
	return l
}

// info is process_info/2; what is nil for process_info/1.
func (t *tools) info(pid, what any) (any, error) {
	p, ok := pid.(wire.PID)
	if !ok || !t.n.Inside(process.Key{}).Origin().Equal(p.Origin()) {
		return nil, errBadArg
	}
	i, err := t.n.Info(p)
	run := procview.ProgramOf(&i)
	if err == nil {
		t.see(run)
	}
	pairs := func(names []any) (wire.List, bool) {
		l := wire.List{}
		for _, name := range names {
			v, ok := t.item(&i, run, name)
			if !ok {
				return nil, false
			}
			l = append(l, wire.Tuple{name, v})
		}
		return l, true
	}
	var answer any
	if names, many := wire.AsList(what); many {
		answer, ok = pairs(names)
	} else {
		var l wire.List
		if l, ok = pairs([]any{what}); ok {
			answer = l[0]
		}
		if ok && what == wire.Atom("registered_name") && i.Name == "" {
			answer = wire.List{}
		}
	}
	switch {
	case !ok:
		return nil, errBadArg
	case err != nil:
		return wire.AtomUndefined, nil
	}
	return answer, nil
}

// all is process_info/1.
func (t *tools) all(pid any) (any, error) {
	names := wire.List{}
	for _, a := range summary {
		names = append(names, a)
	}
	answer, err := t.info(pid, names)
	if l, ok := answer.(wire.List); ok && wire.Equal(l[0].(wire.Tuple)[1], wire.List{}) {
		return l[1:], err // no registered_name
	}
	return answer, err
}
