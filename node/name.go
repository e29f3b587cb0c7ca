package node

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/wire"
)

// names is the table of registered names.
type names struct {
	mu   sync.RWMutex
	m    map[Atom]*proc
	kept map[Atom]*service // names of services, which nobody else may have; nil: none

	owners map[Atom]*quota.Owner // peers that have had names registered; nil: none
}

// reserve keeps a name for a service; "" needs none. False: it is another's.
func (t *names) reserve(name Atom, k *service) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == "" {
		return true
	}
	if t.kept[name] != nil {
		return false
	}
	if t.kept == nil {
		t.kept = make(map[Atom]*service)
	}
	t.kept[name] = k
	return true
}

func (t *names) unreserve(name Atom) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.kept, name)
}

func (t *names) get(name Atom) *proc {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[name]
}

// remove takes name away if it is p's.
func (t *names) remove(name Atom, p *proc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m[name] != p {
		return false
	}
	delete(t.m, name)
	t.disown(name)
	return true
}

// disown gives back a name that a peer has had registered, if it is one. The caller holds
// t.mu.
func (t *names) disown(name Atom) {
	if o := t.owners[name]; o != nil {
		delete(t.owners, name)
		o.GiveName()
	}
}

// give registers p under name, for a peer that has asked for it; "": none.
func (t *names) give(name Atom, p *proc, peer Atom) error {
	err := t.enter(name, p, peer)
	if e, ok := err.(*heldError); ok {
		p.node.logHeld(e)
	}
	return err
}

// enter is give without the log. It locks p.mu within t.mu, and that of quota.Owners within both;
// nothing locks them the other way round.
func (t *names) enter(name Atom, p *proc, peer Atom) error {
	if name == "" || name == wire.Undefined || utf8.RuneCountInString(string(name)) > wire.MaxAtomRunes {
		return fmt.Errorf("%w: %q: want 1 to %d characters, and any name but undefined", ErrBadName, name, wire.MaxAtomRunes)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.m[name]; q != nil && !q.gone() { // who is dying has no claim any more
		return fmt.Errorf("%w: %s is the name of %v", ErrNameTaken, name, q.pid())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() {
		return fmt.Errorf("%w: %v", ErrNoProcess, p.pid())
	}
	k := p.chill()
	if s := t.kept[name]; s != nil && s.proc.Load() != p {
		return fmt.Errorf("%w: %s is reserved for a service", ErrNameTaken, name)
	}
	if k.name != "" {
		return fmt.Errorf("%w: %v is already registered as %s", ErrNameTaken, p.pid(), k.name)
	}
	t.disown(name)
	if peer != "" {
		o := p.node.dist.quota.Owners.TakeName(peer)
		if o == nil {
			return p.node.tooManyHeld(peer, quota.Names)
		}
		if t.owners == nil {
			t.owners = make(map[Atom]*quota.Owner)
		}
		t.owners[name] = o
	}
	k.name = name
	t.m[name] = p
	p.node.traces().Event(trace.Register, p.pid(), PID{}, name, nil)
	return nil
}

// Register gives a process a name. A process has one name at most, and loses it
// when it exits. Errors: [ErrNodeStopped], [ErrBadName], [ErrNameTaken] (the name is taken, or the
// process has one), [ErrNoProcess].
func (n *Node) Register(name Atom, pid PID) error { return n.registerFor("", name, pid) }

// registerFor is Register for a request of the node peer: the name counts among those that
// it may have had registered, [ClusterLimits].Names, until the name goes; "" and this node
// itself are not counted. Errors
// beside those of Register: [ErrTooMany].
func (n *Node) registerFor(peer, name Atom, pid PID) error {
	if n.stopped.Load() {
		return ErrNodeStopped
	}
	p := n.lookup(pid)
	if p == nil {
		return fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	if !n.countsFor(peer) {
		peer = ""
	}
	return n.names.give(name, p, peer)
}

// Unregister takes a name away. Errors: [ErrNoName]; [ErrProtected] for that of a
// protected process, such as a service, which keeps its name.
func (n *Node) Unregister(name Atom) error {
	if p := n.names.get(name); p != nil {
		if p.protected {
			return fmt.Errorf("%w: %s stays registered", ErrProtected, name)
		}
		p.mu.Lock()
		mine := p.cold.name == name
		if mine {
			p.cold.name = ""
		}
		p.mu.Unlock()
		if mine && n.names.remove(name, p) {
			n.traces().Event(trace.Unregister, p.pid(), PID{}, name, nil)
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrNoName, name)
}

// Whereis returns the PID that is registered under name; false if there is none.
func (n *Node) Whereis(name Atom) (PID, bool) {
	if p := n.names.get(name); p != nil {
		return p.pid(), true
	}
	return PID{}, false
}

// Registered returns the registered names in alphabetical order.
func (n *Node) Registered() []Atom {
	n.names.mu.RLock()
	defer n.names.mu.RUnlock()
	all := make([]Atom, 0, len(n.names.m))
	for name := range n.names.m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// named finds the process for a message to a name.
func (n *Node) named(name Atom, msg any) (*proc, error) {
	if p := n.names.get(name); p != nil {
		return p, nil
	}
	if n.stopped.Load() {
		n.deadLetter(deadletter.Letter{Cause: deadletter.NodeStopped, Name: name, Message: msg})
		return nil, ErrNodeStopped
	}
	n.deadLetter(deadletter.Letter{Cause: deadletter.NoProcess, Name: name, Message: msg})
	return nil, fmt.Errorf("%w: %s", ErrNoName, name)
}
