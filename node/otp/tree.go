package otp

import (
	"context"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// forest is the tree of an application while it is being built.
//
// Invariants: every process of seen but the first is the second of exactly one of links; more has the links outside the
// tree.
type forest struct {
	t      *tools
	leader wire.PID
	avoid  []wire.PID // processes that belong to no application
	queue  []wire.PID
	seen   map[wire.PID]bool
	order  []wire.PID
	links  [][2]wire.PID
	more   [][2]wire.PID
}

// maxTree bounds a tree: a larger one could not be drawn.
const maxTree = 100_000

// tree returns {Root, [{Pid, Text}], [{Parent, Child}], [{A, B}]}: the processes of an application and their links,
// first those that form a tree, then the others. mode is link for all links, or sup for what supervisors report.
func (t *tools) tree(ctx context.Context, name, mode any) any {
	root, ok := t.master(ctx, name)
	if !ok {
		return wire.Tuple{wire.List{}, wire.List{}, wire.List{}, wire.List{}}
	}
	f := &forest{t: t, seen: make(map[wire.PID]bool), queue: []wire.PID{root}, leader: t.n.Inside(process.Key{}).Leader(root)}
	for _, a := range []wire.Atom{"application_controller", monitorName, "net_kernel"} {
		if pid, ok := t.n.Whereis(a); ok {
			f.avoid = append(f.avoid, pid)
		}
	}
	for len(f.queue) > 0 && len(f.order) < maxTree && ctx.Err() == nil {
		pid := f.queue[0]
		f.queue = f.queue[1:]
		if f.seen[pid] {
			continue
		}
		f.seen[pid] = true
		f.order = append(f.order, pid)
		if mode == wire.Atom("sup") {
			f.children(ctx, pid, pid == root)
		} else {
			f.linked(pid)
		}
	}
	procs := wire.List{}
	for _, pid := range f.order {
		procs = append(procs, wire.Tuple{pid, t.text(pid)})
	}
	return wire.Tuple{t.text(root), procs, t.pairs(f.links), t.pairs(f.more)}
}

// linked adds the processes linked to a process.
func (f *forest) linked(pid wire.PID) {
	i, err := f.t.n.Info(pid)
	if err != nil {
		return
	}
	for _, to := range i.Links {
		switch {
		case f.seen[to], slices.Contains(f.avoid, to):
		case to.Node() != f.t.n.Name():
			f.more = append(f.more, [2]wire.PID{pid, to})
			f.queue = append(f.queue, to)
		default:
			f.near(pid, to)
		}
	}
}

// near decides about a link to a process of this node: it belongs to the tree if one process has started the other. If
// that is not known, the group leader decides.
func (f *forest) near(pid, to wire.PID) {
	i, err := f.t.n.Info(to)
	switch {
	case err != nil:
	case i.Parent == pid:
		f.add(pid, to)
	case !i.Parent.IsZero(), i.Leader == f.leader && slices.Contains(f.queue, to):
		f.more = append(f.more, [2]wire.PID{pid, to})
	case i.Leader == f.leader:
		f.add(pid, to)
	}
}

func (f *forest) add(pid, to wire.PID) {
	f.links = append(f.links, [2]wire.PID{pid, to})
	f.queue = append(f.queue, to)
}

// children adds the child of a master, or the children of a supervisor.
func (f *forest) children(ctx context.Context, pid wire.PID, master bool) {
	if master {
		v, _ := rpc.Apply(ctx, f.t.n, "application_master", "get_child", []any{pid})
		if c, ok := v.(wire.Tuple); ok && len(c) == 2 {
			if top, ok := c[0].(wire.PID); ok {
				f.add(pid, top)
			}
		}
		return
	}
	i, err := f.t.n.Info(pid)
	if err != nil || procview.ProgramOf(&i).Kind != "supervisor" {
		return
	}
	v, err := f.t.ask(ctx, pid, genCall, wire.Atom("which_children"))
	all, ok := wire.AsList(v)
	if err != nil || !ok {
		return
	}
	for _, c := range all {
		if c, ok := c.(wire.Tuple); ok && len(c) == 4 {
			if child, ok := c[1].(wire.PID); ok {
				f.add(pid, child)
			}
		}
	}
}

// text returns how a tree shows a process: its name, or the PID as its own node writes it.
func (t *tools) text(pid wire.PID) wire.Charlist {
	id := fmt.Sprintf("<0.%d.%d>", uint32(pid.Number()), pid.Number()>>32)
	if pid.Node() != t.n.Name() {
		return wire.Charlist(id + " " + string(pid.Node()))
	}
	if i, err := t.n.Info(pid); err == nil && i.Name != "" {
		return wire.Charlist(i.Name)
	}
	return wire.Charlist(id)
}

func (t *tools) pairs(links [][2]wire.PID) wire.List {
	l := wire.List{}
	for _, p := range links {
		l = append(l, wire.Tuple{t.text(p[0]), t.text(p[1])})
	}
	return l
}
