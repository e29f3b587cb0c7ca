package admin

import (
	"cmp"
	"slices"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// treeBuilder makes a Forest by asking supervisors for their children. seen guards against supervisors that list each
// other; left is how many more branches are allowed.
type treeBuilder struct {
	q    *request
	f    Forest
	seen map[node.PID]bool
	left int
}

// tree makes the Forest: applications first, in the order of their start, then supervisors outside of them.
func (q *request) tree() (any, error) {
	var ask struct{ Limit int }
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	g := &treeBuilder{q: q, f: Forest{Trees: []Branch{}}, seen: make(map[node.PID]bool), left: q.s.limit(ask.Limit)}
	for _, a := range q.applications() {
		if g.takeBranch() {
			g.f.Trees = append(g.f.Trees, g.application(a))
		}
	}
	others, all := q.supervisors()
	for _, s := range others {
		// A supervisor whose parent is shown, but not as its parent's child, was cut with the other children.
		if !g.seen[s.pid] && !g.seen[s.parent] && g.takeBranch() {
			g.f.Trees = append(g.f.Trees, g.process(Branch{Kind: "supervisor", PID: s.pid}))
		}
	}
	g.f.Loose = max(all-len(g.seen)-g.f.Cut, 0)
	return toTerm(g.f)
}

// takeBranch uses up one branch, and returns false if none is left.
func (g *treeBuilder) takeBranch() bool {
	if g.left <= 0 {
		g.f.Cut++
		return false
	}
	g.left--
	return true
}

// applications requests {Name, Description, Version} of the running applications.
func (q *request) applications() []any {
	ctx, cancel := q.timeoutContext()
	defer cancel()
	v, err := rpc.Apply(ctx, q.n, "application", "which_applications", nil)
	l, ok := wire.AsList(v)
	if err != nil || !ok {
		return nil // there is no controller
	}
	slices.Reverse(l) // the last one started comes first
	return l
}

func (g *treeBuilder) application(about any) Branch {
	b := Branch{Kind: "application", State: "running"}
	t, ok := about.(wire.Tuple)
	if !ok || len(t) != 3 {
		b.Note = "the answer was not understood"
		return b
	}
	name, _ := t[0].(wire.Atom)
	b.ID = string(name)
	b.Version, _ = wire.AsText(t[2])
	ctx, cancel := g.q.timeoutContext()
	defer cancel()
	v, err := rpc.Apply(ctx, g.q.n, "application_controller", "get_master", []any{name})
	master, ok := v.(wire.PID)
	if err != nil || !ok {
		b.Note = "a library application: it has no processes"
		return b
	}
	g.look(&b, master)
	b.State = "running" // the state of its top process does not matter
	v, _ = rpc.Apply(ctx, g.q.n, "application_master", "get_child", []any{master})
	if c, ok := v.(wire.Tuple); ok && len(c) == 2 {
		if top, ok := c[0].(wire.PID); ok && g.takeBranch() {
			b.Children = append(b.Children, g.process(Branch{Kind: "supervisor", PID: top}))
		}
	}
	return b
}

// root is a possible root of a tree.
type root struct {
	pid, parent node.PID
	name        node.Atom
	under       int // 1 if the parent is a supervisor
}

// supervisors lists the supervisors, first those not started by another supervisor, by name, and counts all processes. PIDs
// are reused, so they do not give the order of the starts.
func (q *request) supervisors() (roots []root, all int) {
	known := make(map[node.PID]bool)
	for i := range q.n.Infos() {
		if all++; procview.ProgramOf(&i).Kind == "supervisor" {
			roots = append(roots, root{pid: i.PID, parent: i.Parent, name: i.Name})
			known[i.PID] = true
		}
	}
	for i, r := range roots {
		if known[r.parent] {
			roots[i].under = 1
		}
	}
	slices.SortFunc(roots, func(a, b root) int {
		return cmp.Or(cmp.Compare(a.under, b.under), cmp.Compare(a.name, b.name), wire.Compare(a.pid, b.pid))
	})
	return roots, all
}

// look fills in the details of a process.
func (g *treeBuilder) look(b *Branch, pid node.PID) (kind wire.Atom) {
	g.seen[pid] = true
	b.PID = pid
	i, err := g.q.n.Info(pid)
	if err != nil {
		b.State = "stopped"
		return ""
	}
	b.Name, b.Behaviour, b.State, b.Mailbox = i.Name, i.Behaviour, node.Atom(i.State), i.Mailbox
	if b.ID == "" {
		b.ID = string(i.Name)
	}
	return procview.ProgramOf(&i).Kind
}

// process fills in a branch and its children.
func (g *treeBuilder) process(b Branch) Branch {
	again := g.seen[b.PID]
	kind := g.look(&b, b.PID)
	switch {
	case again:
		b.Note = "shown elsewhere in this tree"
	case b.Kind == "supervisor" && kind == "supervisor":
		g.below(&b)
	}
	return b
}

// below requests the children of a supervisor, or only their number if they are too many to show.
func (g *treeBuilder) below(b *Branch) {
	v, err := g.ask(b.PID, "count_children")
	var children []supervisor.ChildInfo
	if err == nil {
		b.Count = specs(v)
	}
	if err == nil && b.Count <= g.left {
		children, err = g.children(b.PID)
	}
	switch {
	case err != nil:
		g.f.Missing++
		b.Note = "its children are unknown: " + err.Error()
		return
	case b.Count > g.left:
		g.f.Cut += b.Count
		b.Note = "too many children to show"
		return
	}
	slices.Reverse(children) // the last one started comes first
	for _, c := range children {
		if g.takeBranch() {
			b.Children = append(b.Children, g.child(c))
		}
	}
}

// supervisorCode is the package of supervisors, which tell how often their children were restarted. Others are asked as in OTP.
const supervisorCode = "github.com/actornode/actornode/supervisor"

// children requests the children of a supervisor.
func (g *treeBuilder) children(sup node.PID) ([]supervisor.ChildInfo, error) {
	if i, err := g.q.n.Info(sup); err == nil && i.Code == supervisorCode {
		ctx, cancel := g.q.timeoutContext()
		defer cancel()
		return supervisor.WhichChildren(ctx, g.q.n, sup)
	}
	v, err := g.ask(sup, "which_children")
	terms, _ := wire.AsList(v)
	var l []supervisor.ChildInfo
	for _, t := range terms {
		if c, ok := t.(wire.Tuple); ok && len(c) == 4 { // {Id, Pid | restarting | undefined, Type, Modules}
			i := supervisor.ChildInfo{ID: c[0], Restarting: c[1] == wire.Atom("restarting"), Type: supervisor.Worker}
			if i.PID, _ = c[1].(wire.PID); c[2] == wire.Atom("supervisor") {
				i.Type = supervisor.Supervisor
			}
			l = append(l, i)
		}
	}
	return l, err
}

// child makes the branch of a child.
func (g *treeBuilder) child(c supervisor.ChildInfo) Branch {
	b := Branch{Kind: "worker", State: "stopped", Restarts: c.Restarts}
	if id, ok := wire.AsText(c.ID); !ok && c.ID != nil {
		b.ID = brief(c.ID)
	} else if c.ID != nil && c.ID != wire.AtomUndefined { // a dynamic child has no ID
		b.ID = id
	}
	if c.Type == supervisor.Supervisor {
		b.Kind = "supervisor"
	}
	switch {
	case !c.PID.IsZero():
		b.PID = c.PID
		return g.process(b)
	case c.Restarting:
		b.State = "restarting"
	}
	return b
}

// restarts returns how often the supervisor of a process has restarted it, or 0 if it has none that knows.
func (q *request) restarts(i *observe.Process) int {
	up, err := q.n.Info(i.Parent)
	if err != nil || up.Code != supervisorCode || len(up.Links) > q.s.cfg.Limit {
		return 0 // too many children, which are linked, to list
	}
	children, _ := (&treeBuilder{q: q}).children(i.Parent)
	for _, c := range children {
		if c.PID == i.PID {
			return c.Restarts
		}
	}
	return 0
}

func (g *treeBuilder) ask(pid node.PID, what wire.Atom) (any, error) {
	ctx, cancel := g.q.timeoutContext()
	defer cancel()
	return otp.Call(ctx, g.q.n, pid, what)
}

// specs returns the number of children from [{specs, N}, {active, N}, {supervisors, N}, {workers, N}]; for a
// simple_one_for_one supervisor, that of the workers.
func specs(counts any) (most int) {
	l, _ := wire.AsList(counts)
	for _, c := range l {
		if c, ok := c.(wire.Tuple); ok && len(c) == 2 {
			if n, ok := wire.AsInt(c[1]); ok {
				most = max(most, int(n))
			}
		}
	}
	return most
}
