package pg

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// The requests to a scope's process.
type (
	joining struct {
		genserver.Returns[struct{}]
		group any
		pids  []node.PID
	}
	leaving struct {
		genserver.Returns[struct{}]
		group any
		pids  []node.PID
	}
	leavingAll struct{ genserver.Returns[int] }
	watching   struct {
		genserver.Returns[watched]
		group any
		all   bool // groups
	}
	unwatching struct {
		genserver.Returns[bool]
		ref node.Ref
	}
	find struct{ genserver.Returns[*Scope] }
)

// watched is the answer to watching.
type watched struct {
	ref     node.Ref
	pids    []node.PID // of the group
	members []Members  // of all groups
}

// seekTime is the message that it is time to seek.
type seekTime struct{}

// scopeProcess is a machine as a gen_server.
type scopeProcess struct {
	scope *Scope
	*machine
	armed bool // a seekTime will come
}

var kind = genserver.Define(
	genserver.OnCall((*scopeProcess).joining),
	genserver.OnCall((*scopeProcess).leaving),
	genserver.OnCall((*scopeProcess).leavingAll),
	genserver.OnCall((*scopeProcess).watching),
	genserver.OnCall((*scopeProcess).unwatching),
	genserver.OnCall(func(p *scopeProcess, _ *genserver.Context, _ find) (*Scope, error) { return p.scope, nil }),
	genserver.OnAnyCall((*scopeProcess).monitorScope),
	genserver.OnAnyCall((*scopeProcess).request),
	genserver.OnCast((*scopeProcess).cast),
	genserver.OnInfo((*scopeProcess).message),
	genserver.OnInfo((*scopeProcess).exited),
	genserver.OnInfo((*scopeProcess).connected),
	genserver.OnInfo((*scopeProcess).seekNow),
)

// Init is part of genserver.Initializer.
func (p *scopeProcess) Init(c *genserver.Context) error {
	n, name := c.Node(), p.scope.cfg.Name
	if pid, ok := n.Whereis(name); !ok || pid != c.Self() {
		if err := n.Register(name, c.Self()); err != nil {
			return err
		}
	}
	p.machine = newMachine(c.Self(), name, &p.scope.limits)
	p.log = func(at node.Atom, what quotaKind) {
		n.Log().Warn("a request of a peer was refused: it has too many members or groups in this scope", "scope", string(name), "peer",
			string(at), "what", what.String())
	}
	p.scope.table.Store(p.table)
	context.AfterFunc(c.Context(), p.close) // also if it is killed
	p.ops = contextOps{c.ActorContext}
	c.MonitorNodes() // before Nodes, so that none is missed
	nodes := candidates(n)
	p.start(nodes)
	p.arm(c, len(nodes) > 0)
	return nil
}

// candidates are the nodes that are connected and may have the scope, in alphabetical order. A foreign one that has it sends
// a discover of its own.
func candidates(n *node.Node) (names []node.Atom) {
	for _, p := range n.Peers() {
		if p.Up && !p.Foreign {
			names = append(names, p.Name)
		}
	}
	return names
}

// Terminate is part of genserver.Terminator.
func (p *scopeProcess) Terminate(*genserver.Context, any) { p.close() }

// close makes readers see empty groups, unless another process has taken over.
func (p *scopeProcess) close() { p.scope.table.CompareAndSwap(p.table, new(table)) }

// State is part of sys.Stater: the numbers of groups and members.
func (p *scopeProcess) State() any {
	groups := 0
	for range p.table.groups() {
		groups++
	}
	return wire.NewMap(wire.Atom("scope"), p.name, wire.Atom("groups"), groups,
		wire.Atom("local"), len(p.local), wire.Atom("peers"), len(p.peers), wire.Atom("monitors"), len(p.watchers))
}

// arm schedules the next seek, if it is wanted and not scheduled already.
func (p *scopeProcess) arm(c *genserver.Context, wanted bool) {
	if !wanted || p.armed {
		return
	}
	if _, err := c.SendAfter(p.scope.cfg.Seek, c.Self(), seekTime{}); err == nil { // else the node is being stopped
		p.armed = true
	}
}

func (p *scopeProcess) seekNow(c *genserver.Context, _ seekTime) error {
	p.ops, p.armed = contextOps{c.ActorContext}, false
	p.arm(c, p.seek(candidates(c.Node())))
	return nil
}

func (p *scopeProcess) connected(c *genserver.Context, up node.NodeUp) error {
	p.ops = contextOps{c.ActorContext}
	if !up.Foreign {
		p.up(up.Node)
		p.arm(c, true)
	}
	return nil
}

func (p *scopeProcess) exited(c *genserver.Context, d node.Down) error {
	p.ops = contextOps{c.ActorContext}
	if p.down(d.Ref, d.PID, d.Node) { // it may come back, and OTP's would not tell us
		p.arm(c, p.seek(candidates(c.Node())))
	}
	return nil
}

func (p *scopeProcess) message(c *genserver.Context, t wire.Tuple) error {
	p.ops = contextOps{c.ActorContext}
	if !ofSender(c, t) || !p.handle(t) {
		p.unexpected(c, "unexpected message", t)
	}
	return nil
}

func (p *scopeProcess) cast(c *genserver.Context, t wire.Tuple) error {
	p.ops = contextOps{c.ActorContext}
	if !ofSender(c, t) || !p.handleCast(t) {
		p.unexpected(c, "unexpected cast", t)
		return nil
	}
	p.arm(c, true) // its discover should follow
	return nil
}

// ofSender reports whether a message names a process of the node that sent it: the answer goes to that process.
func ofSender(c *genserver.Context, t wire.Tuple) bool {
	if c.Peer() == "" || len(t) < 2 {
		return true
	}
	from, ok := t[1].(node.PID)
	return ok && from.Node() == c.Peer()
}

func (p *scopeProcess) unexpected(c *genserver.Context, what string, t wire.Tuple) {
	c.Node().Log().Warn(what, "server", string(p.scope.cfg.Name), "kind", "pg scope", "message", sysmsg.Brief(c.Node(), t))
}

func (p *scopeProcess) joining(c *genserver.Context, r joining) (struct{}, error) {
	if err := checkGroup(r.group); err != nil {
		return struct{}{}, err
	}
	if err := p.checkLocal(r.pids); err != nil {
		return struct{}{}, err
	}
	p.ops = contextOps{c.ActorContext}
	p.join(r.group, r.pids)
	return struct{}{}, nil
}

func (p *scopeProcess) leaving(c *genserver.Context, r leaving) (struct{}, error) {
	if err := p.checkLocal(r.pids); err != nil {
		return struct{}{}, err
	}
	p.ops = contextOps{c.ActorContext}
	if !p.leave(r.group, r.pids) {
		return struct{}{}, ErrNotJoined
	}
	return struct{}{}, nil
}

func (p *scopeProcess) leavingAll(c *genserver.Context, _ leavingAll) (n int, err error) {
	p.ops = contextOps{c.ActorContext}
	for g := range p.table.groups() {
		if g.locals.Load() > 0 {
			local := g.look().local
			p.leave(g.term, local)
			n += len(local)
		}
	}
	return n, nil
}

func (p *scopeProcess) watching(c *genserver.Context, r watching) (watched, error) {
	pid := c.From().Caller()
	if pid.IsZero() {
		return watched{}, errNoWatcher
	}
	p.ops = contextOps{c.ActorContext}
	if !p.mayWatch(pid, r.group, r.all) {
		return watched{}, errTooMany
	}
	if r.all {
		w := watched{ref: p.watch(pid, nil)}
		for g := range p.table.groups() {
			w.members = append(w.members, Members{g.term, g.look().all})
		}
		return w, nil
	}
	if err := checkGroup(r.group); err != nil {
		return watched{}, err
	}
	g := p.table.need(r.group)
	return watched{ref: p.watch(pid, g), pids: g.look().all}, nil
}

func (p *scopeProcess) unwatching(c *genserver.Context, r unwatching) (bool, error) {
	p.ops = contextOps{c.ActorContext}
	return p.unwatch(r.ref), nil
}

// checkLocal finds processes of other nodes, and of other lives of this one.
func (p *scopeProcess) checkLocal(pids []node.PID) error {
	for _, pid := range pids {
		if pid.Origin() != p.self.Origin() {
			return &foreign{pid}
		}
	}
	return nil
}

// foreign is ErrNotLocal with the process, as pg.erl names it.
type foreign struct{ pid node.PID }

func (f *foreign) Error() string        { return fmt.Sprintf("%v: %v", ErrNotLocal, f.pid) }
func (f *foreign) Is(target error) bool { return target == ErrNotLocal }

// Term is {nolocal, Pid}.
func (f *foreign) Term() any { return wire.Tuple{wire.Atom("nolocal"), f.pid} }

// monitorScope is the request of pg:monitor_scope.
func (p *scopeProcess) monitorScope(c *genserver.Context, a wire.Atom) (any, error) {
	if a != "monitor" {
		return nil, unknown(a)
	}
	w, err := p.watching(c, watching{all: true})
	if err != nil {
		return nil, err
	}
	groups := wire.MakeMap(len(w.members))
	for _, m := range w.members {
		groups.Put(m.Group, pidList(m.PIDs))
	}
	return wire.Tuple{w.ref, groups}, nil
}

// request is one of the other requests of pg.erl's functions, which other nodes
// can make too.
func (p *scopeProcess) request(c *genserver.Context, t wire.Tuple) (any, error) {
	if len(t) == 2 && t[0] == wire.Atom("monitor") {
		w, err := p.watching(c, watching{group: t[1]})
		if err != nil {
			return nil, err
		}
		return wire.Tuple{w.ref, pidList(w.pids)}, nil
	}
	if len(t) == 2 && t[0] == wire.Atom("demonitor") {
		ref, _ := t[1].(node.Ref)
		if was, _ := p.unwatching(c, unwatching{ref: ref}); !was {
			return wire.AtomFalse, nil
		}
		return wire.AtomOK, nil
	}
	if len(t) != 3 {
		return nil, unknown(t)
	}
	pids, ok := readPIDs(t[2])
	if !ok {
		return nil, unknown(t)
	}
	switch t[0] {
	case wire.Atom("join_local"):
		if !p.mayJoin(t[1], len(pids)) {
			return nil, errTooMany
		}
		if _, err := p.joining(c, joining{group: t[1], pids: pids}); err != nil {
			return nil, err
		}
		return wire.AtomOK, nil
	case wire.Atom("leave_local"):
		switch _, err := p.leaving(c, leaving{group: t[1], pids: pids}); err {
		case nil:
			return wire.AtomOK, nil
		case ErrNotJoined:
			return wire.Atom("not_joined"), nil
		default:
			return nil, err
		}
	}
	return nil, unknown(t)
}

func unknown(request any) error {
	return &genserver.UnhandledError{Server: "pg scope", Request: request}
}
