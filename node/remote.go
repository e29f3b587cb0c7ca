package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/actornode/actornode/wire"
)

// At is a registered name on some node: Erlang's {Name, Node}.
type At struct{ Name, Node Atom }

// String prints a as Erlang does.
func (a At) String() string { return wire.Format(a.Term()) }

// Term is {Name, Node}.
func (a At) Term() any { return wire.Tuple{a.Name, a.Node} }

// NodeDown says that the connection to a node has been lost, to a process that
// has asked for it by MonitorNode: Erlang's {nodedown, Node}, with the cause.
type NodeDown struct {
	Node   Atom
	Reason string // for people
}

// Term is {nodedown, Node}.
func (d NodeDown) Term() any { return wire.Tuple{wire.Atom("nodedown"), d.Node} }

// Labelled is a request whose message is not '$gen_call' on the wire.
type Labelled interface{ Label() (label Atom, body any) }

// peer returns the node with the given name, as connected or being connected;
// nil if it cannot be: this node is not distributed, or is that node.
func (n *Node) peer(name Atom) *peer {
	if n.dist == nil || name == n.cfg.Name || name == "" {
		return nil
	}
	return n.dist.reach(name)
}

// want is peer for a caller that waits for the node: it does not queue behind those
// that are wanted by messages alone.
func (n *Node) want(name Atom) *peer {
	if n.dist == nil || name == n.cfg.Name || name == "" {
		return nil
	}
	return n.dist.want(name, true)
}

// reach is peer for the node of a PID.
func (n *Node) reach(pid PID) *peer {
	if n.dist == nil || n.origin.Minted(pid) {
		return nil
	}
	origin := pid.Origin()
	slot := &n.dist.recent[origin.NodeID().Creation%recentPeers]
	if r := slot.Load(); r != nil && r.origin.Equal(origin) && r.p.box.state().Direct() { // so it is connected
		return r.p
	}
	p := n.peer(pid.Node())
	if p != nil && p.box.state().Direct() {
		r := &recent{origin, p}
		if slot.Store(r); p.isOver() { // forgetRecent has perhaps not seen it
			slot.CompareAndSwap(r, nil)
		}
	}
	return p
}

// recent is a peer that has been reached, by the origin of its PIDs.
type recent struct {
	origin wire.Origin
	p      *peer
}

// recentPeers is how many of them are remembered, at most.
const recentPeers = 16

// forgetRecent takes a peer that is over out of those that are remembered: it would keep
// its link, with the buffers of both directions, until another peer has its place.
func (d *dist) forgetRecent(p *peer) {
	for i := range d.recent {
		if r := d.recent[i].Load(); r != nil && r.p == p {
			d.recent[i].CompareAndSwap(r, nil)
		}
	}
}

// connected is reach without a wish to connect.
func (n *Node) connected(pid PID) *peer {
	if n.dist == nil || n.origin.Minted(pid) {
		return nil
	}
	return n.dist.get(pid.Node())
}

// sendFar is for a message of who, nil: of a plain goroutine, to a PID that is
// nobody's here. c is the context of the actor that sends.
func (n *Node) sendFar(who *proc, c *Context, to PID, msg, token any) error {
	if p := n.reach(to); p != nil {
		if token == nil {
			p.message(who, c, to, msg)
		} else {
			p.send(who, c, wire.Frame{Op: wire.OpSend, From: n.sender(who), To: to, Payload: msg, Token: token})
		}
		return nil
	}
	return n.undeliverable(to, msg)
}

// sendAt is for a message to a name.
func (n *Node) sendAt(who *proc, c *Context, at At, msg any) error {
	if who != nil && who.gone() {
		return ErrExited
	}
	if p := n.peer(at.Node); p != nil {
		p.send(who, c, wire.Frame{Op: wire.OpSend, From: n.sender(who), Name: at.Name, Payload: msg, Token: who.token()})
		return nil
	}
	n.dead.add(DeadLetter{Cause: CauseNotConnected, Name: at.Name, Message: msg})
	return fmt.Errorf("%w: %v", ErrNotHere, at)
}

// SendAt sends to whoever is registered under a name on a node. That there is
// nobody is an error, [ErrNoName], on this node only.
func (n *Node) SendAt(at At, msg any) error {
	if at.Node == n.cfg.Name {
		return n.SendName(at.Name, msg)
	}
	return n.sendAt(nil, nil, at, msg)
}

// SendAt sends to whoever is registered under a name on a node; see
// [Node.SendAt].
func (c *Context) SendAt(at At, msg any) error {
	if at.Node == c.node.cfg.Name {
		return c.SendName(at.Name, msg)
	}
	return c.node.sendAt(c.p, c, at, msg)
}

// SendAt sends to whoever is registered under a name on a node; see
// [Node.SendAt].
func (s *Process) SendAt(at At, msg any) error {
	if at.Node == s.p.node.cfg.Name {
		return s.SendName(at.Name, msg)
	}
	return s.p.node.sendAt(&s.p, s.context(), at, msg)
}

// MonitorAt monitors whoever is registered under a name on a node.
func (c *Context) MonitorAt(at At) Ref { return c.p.monitorAt(c, at) }

// MonitorAt monitors whoever is registered under a name on a node.
func (s *Process) MonitorAt(at At) Ref { return s.p.monitorAt(s.context(), at) }

// MonitorNode asks for one [NodeDown] when the connection to a node is lost. If
// there is none, it is made; if it cannot be, the NodeDown comes at once.
func (c *Context) MonitorNode(name Atom) { c.p.monitorNode(c, name) }

// MonitorNode asks for one [NodeDown] when the connection to a node is lost. If
// there is none, it is made; if it cannot be, the NodeDown comes at once.
func (s *Process) MonitorNode(name Atom) { s.p.monitorNode(s.context(), name) }

func (p *proc) monitorNode(c *Context, name Atom) {
	why := "this node runs without distribution"
	if q := p.node.peer(name); q != nil {
		m := &monitor{ref: p.ref(c), watcher: p, far: q, node: true}
		if m.add(c) {
			return
		}
		why = q.why.Error() // over
	}
	p.signal(c, NodeDown{Node: name, Reason: why})
}

// sender is who a message to another node comes from; nil: a plain goroutine.
func (n *Node) sender(who *proc) PID {
	if who != nil {
		return who.pid()
	}
	return n.self()
}

// self is the process that stands for a plain goroutine towards other nodes.
func (n *Node) self() PID {
	if n.dist == nil {
		return PID{}
	}
	if pid := n.dist.kernel.Load(); pid != nil {
		return *pid
	}
	return PID{}
}

// callFar sends a request to another node. False: the destination is not on one
// that can be reached.
func (n *Node) callFar(me calling, t ticket, to PID, at At, req any) bool {
	p := n.reach(to)
	if at.Node != "" {
		p = n.want(at.Node)
	}
	if p == nil {
		return false
	}
	label, body := genCall, req
	if l, ok := req.(Labelled); ok {
		label, body = l.Label()
	}
	if tr := n.traces(); tr != nil {
		tr.away(me.p, to, At{at.Name, p.name}, Request[any]{body, From{t: t}})
	}
	if !me.more && p.deferForCall() {
		defer p.box.flushDeferred()
	}
	p.call(me.c, t, me.p, to, at.Name, label, body)
	if me.more {
		p.pace(me.p, me.c)
	}
	return true
}

// Nodes returns the names of the nodes that are connected, in alphabetical order;
// with hidden, of those too that are not to be seen.
func (n *Node) Nodes(hidden bool) []Atom {
	all := []Atom{}
	if n.dist != nil {
		for _, p := range n.dist.all() {
			p.mu.Lock()
			if p.link != nil && !p.over && (hidden || !p.link.Peer().Hidden) {
				all = append(all, p.name)
			}
			p.mu.Unlock()
		}
	}
	slices.Sort(all)
	return all
}

// Connect makes a connection to a node, if there is none, and waits for it.
func (n *Node) Connect(ctx context.Context, name Atom) error {
	p := n.want(name)
	if p == nil {
		if name == n.cfg.Name {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrNotHere, name)
	}
	select {
	case <-p.ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return fmt.Errorf("node: cannot connect to %s: %w", name, p.why)
	}
	return nil
}

// Disconnect ends the connection to a node. It reports whether there was one.
func (n *Node) Disconnect(name Atom) bool {
	if n.dist == nil {
		return false
	}
	p := n.dist.get(name)
	if p == nil {
		return false
	}
	p.end(fmt.Errorf("disconnected by this node"))
	return true
}

// Ping reports whether a node is there and connected, as net_adm:ping does; if
// not, the error says why.
func (n *Node) Ping(ctx context.Context, name Atom) error {
	if name == n.cfg.Name {
		return nil
	}
	if err := n.Connect(ctx, name); err != nil {
		return err
	}
	_, err := Call[any](ctx, n, At{"net_kernel", name}, any(wire.Tuple{wire.Atom("is_auth"), n.cfg.Name}))
	return err
}

// SpawnAt asks a node for a process: what that node offers as module:function,
// with arguments. Errors: [*SpawnError], [ErrNoConnection], the cause of ctx's end.
func SpawnAt(ctx context.Context, from Caller, at Atom, module, function Atom, args ...any) (PID, error) {
	me := from.caller()
	n := me.node
	s := &wire.Spawn{Module: module, Function: function, Args: args, Leader: me.leader()}
	if at == n.cfg.Name {
		return n.spawnHere(s)
	}
	p := n.want(at)
	if p == nil {
		return PID{}, &ExitError{NoConnection}
	}
	pr := me.promise()
	pr.target = nil
	t := pr.arm()
	p.askSoon(me.c, t, wire.Frame{Op: wire.OpSpawn, Ref: n.newRef(), From: n.sender(me.p), Spawn: s, Token: me.p.token()})
	pid, err := me.await(ctx, t)
	if err != nil {
		return PID{}, err
	}
	return pid.(PID), nil
}

// spawnHere is for a spawn that this node asks of itself.
func (n *Node) spawnHere(s *wire.Spawn) (PID, error) {
	b, err := n.wanted(nil, s)
	if err != nil {
		return PID{}, &SpawnError{ErrorTerm(err)}
	}
	return n.SpawnOpt(Options{Leader: s.Leader}, b)
}
