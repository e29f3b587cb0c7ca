package otp

import (
	"cmp"
	"strings"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// What a process is taken to need, in bytes: Go does not say whose memory is
// whose.
const (
	actorBytes   = 256
	processBytes = 4096 // with a goroutine and its stack
	messageBytes = 64
	wordBytes    = 8
)

// maxAncestors is how many ancestors of a process are told.
const maxAncestors = 32

// mfa is {Module, Function, Arity}.
func mfa(m, f wire.Atom, arity int) wire.Tuple { return wire.Tuple{m, f, arity} }

// behaviours are the packages whose processes answer system messages, with the
// behaviour of OTP that they are, and where that waits for messages.
var behaviours = map[string]struct {
	module wire.Atom
	loop   wire.Tuple
}{
	"node/genserver":  {"gen_server", mfa("gen_server", "loop", 7)},
	"node/statem":     {"gen_statem", mfa("gen_statem", "loop_receive", 3)},
	"node/event":      {"gen_event", mfa("gen_event", "fetch_msg", 6)},
	"internal/sysmsg": {"gen_server", mfa("sys", "suspend_loop_hib", 6)},
	"supervisor":      {"supervisor", mfa("gen_server", "loop", 7)},
}

const module = "github.com/actornode/actornode/"

// Program is what a process runs, in OTP's words.
type Program struct {
	Kind    wire.Atom  // gen_server, supervisor, …; "": none of OTP's behaviours
	Initial wire.Tuple // {Module, Function, Arity} it began with
	Current wire.Tuple
}

// ProgramOf finds out what a process runs.
func ProgramOf(i *node.Info) Program {
	name := strings.TrimPrefix(i.Behaviour, "*")
	path, own := strings.CutPrefix(i.Code, module)
	if b, ok := behaviours[path]; own && ok {
		p := Program{b.module, mfa(limited(name), "init", 1), b.loop}
		if i.State == node.StateRunning {
			p.Current = mfa(limited(name), "handle", 2)
		}
		return p
	}
	if name == "node.ActorFunc" || name == "node.ProcessFunc" { // path.of/pkg.function
		pkg, fn, _ := strings.Cut(i.Code[strings.LastIndexByte(i.Code, '/')+1:], ".")
		arity := 1
		if name == "node.ActorFunc" {
			arity = 2
		}
		f := mfa(limited(pkg), limited(fn), arity)
		return Program{Initial: f, Current: f}
	}
	m := limited(name)
	return Program{Initial: mfa(m, "init", 1), Current: mfa(m, "Receive", 2)}
}

// raw is what process_info calls initial_call: that of the behaviours is
// proc_lib's.
func (p Program) raw() wire.Tuple {
	if p.Kind != "" {
		return mfa("proc_lib", "init_p", 5)
	}
	return p.Initial
}

// module is the module of a process's code.
func (p Program) module() wire.Atom { return p.Initial[0].(wire.Atom) }

// see notes the module of a process that is shown, so that there is such a module
// when somebody asks for it.
func (t *tools) see(p Program) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[p.module()] = p.Kind
}

func statusOf(s node.State) wire.Atom {
	switch s {
	case node.StateScheduled:
		return "runnable"
	case node.StateRunning:
		return "running"
	case node.StateExiting, node.StateDead:
		return "exiting"
	}
	return "waiting"
}

// Bytes is what a process is taken to need.
func Bytes(i *node.Info) int {
	size := processBytes
	if i.Stage >= 0 {
		size = actorBytes
	}
	return size + messageBytes*i.Mailbox
}

func pids(l []wire.PID) wire.List {
	r := make(wire.List, len(l))
	for k, p := range l {
		r[k] = p
	}
	return r
}

// person is how a process is called among ancestors: by name if it has one.
func person(i *node.Info) any {
	if i.Name != "" {
		return i.Name
	}
	return i.PID
}

// Ancestors are the process that has started this one, the one that has started
// that, and so on: names or PIDs, 32 at most.
func Ancestors(n *node.Node, i node.Info) wire.List {
	l := wire.List{}
	for len(l) < maxAncestors && !i.Parent.IsZero() {
		i, _ = n.Info(i.Parent)
		l = append(l, person(&i))
	}
	return l
}

// dictionary is what proc_lib would have put there.
func (t *tools) dictionary(i *node.Info, p Program) wire.List {
	d := wire.List{}
	if p.Kind != "" || !i.Parent.IsZero() {
		d = append(d, pair("$initial_call", p.Initial), pair("$ancestors", Ancestors(t.n, *i)))
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
	"binary": wire.List{}, "catchlevel": 0, "last_calls": wire.False, "trace": 0, "sequential_trace_token": wire.List{},
	"magic_ref": wire.List{}, "message_queue_data": wire.Atom("off_heap"), "async_dist": wire.False,
	"garbage_collection": wire.List{pair("max_heap_size", maxHeap), pair("min_bin_vheap_size", 0), pair("min_heap_size", 0),
		pair("fullsweep_after", 0), pair("minor_gcs", 0)},
	"garbage_collection_info": wire.List{pair("old_heap_block_size", 0), pair("heap_block_size", 0), pair("mbuf_size", 0),
		pair("recent_size", 0), pair("stack_size", 0), pair("old_heap_size", 0), pair("heap_size", 0), pair("bin_vheap_size", 0),
		pair("bin_vheap_block_size", 0), pair("bin_old_vheap_size", 0), pair("bin_old_vheap_block_size", 0)},
}

var maxHeap = wire.NewMap(wire.Atom("error_logger"), wire.False, wire.Atom("kill"), wire.False, wire.Atom("size"), 0)

// item is one item of process_info; false: there is none of that name.
func (t *tools) item(i *node.Info, p Program, name any) (any, bool) {
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
		return p.raw(), true
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
		return Bytes(i) / wordBytes, true
	case "memory":
		return Bytes(i), true
	case "reductions":
		return int(i.Handled), true
	case "parent":
		if i.Parent.IsZero() {
			return wire.Undefined, true
		}
		return i.Parent, true
	case "label":
		if i.Label == "" {
			return wire.Undefined, true
		}
		return i.Label, true
	case "backtrace":
		return "Program counter: " + wire.Format(p.Current) + " (" + i.Code + ")\n", true
	}
	return nil, false
}

// dictionaryItem is the item {dictionary, Key} of OTP 26.
func (t *tools) dictionaryItem(i *node.Info, p Program, name any) (any, bool) {
	k, ok := name.(wire.Tuple)
	if !ok || len(k) != 2 || k[0] != wire.Atom("dictionary") {
		return nil, false
	}
	for _, e := range t.dictionary(i, p) {
		if e := e.(wire.Tuple); wire.Equal(e[0], k[1]) {
			return e[1], true
		}
	}
	return wire.Undefined, true
}

func boolAtom(b bool) wire.Atom {
	if b {
		return wire.True
	}
	return wire.False
}

// messages are those that wait, as terms.
func (t *tools) messages(pid wire.PID) wire.List {
	l := wire.List{}
	for _, m := range nodehook.Messages(t.n, pid, t.cfg.Messages) {
		l = append(l, sysmsg.Term(m))
	}
	return l
}

// info is process_info/2; what is nil for process_info/1.
func (t *tools) info(pid, what any) (any, error) {
	p, ok := pid.(wire.PID)
	if !ok || !t.n.Origin().Equal(p.Origin()) {
		return nil, errBadArg
	}
	i, err := t.n.Info(p)
	run := ProgramOf(&i)
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
	if names, many := wire.Elements(what); many {
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
		return wire.Undefined, nil
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
