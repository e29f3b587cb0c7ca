package migrate

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
)

// arrival is the behaviour of the process that becomes the moving process, or hands it to the forwarder that it left on
// this node before.
type arrival struct {
	kinds   *kindTable
	prepare *prepare
	from    node.From // of prepare
	peer    node.Atom // the node that asked
	service node.PID
	inner   Mover
	back    node.PID // the forwarder here; zero: there is none
	source  node.Ref // monitor over the source
	forward node.Ref // monitor over the forwarder
	handed  bool     // to the forwarder, which decides
}

// BehaviourName is part of node.BehaviourNamer.
func (a *arrival) BehaviourName() string {
	return fmt.Sprintf("migrate.arrival of %v", a.prepare.Source)
}

// Init is part of node.Initializer.
func (a *arrival) Init(c *node.Context) error {
	a.kinds.at(c, "arrival asked")
	a.source = c.Monitor(a.prepare.Source)
	if !a.from.Pending() { // the monitor may have been made over the next connection, where no one asks for the process
		return node.ErrStop
	}
	if !a.back.IsZero() {
		a.forward = c.Monitor(a.back)
		if give(c, a.back, &takingBack{arrival: a, self: c.Self()}) {
			return nil
		}
		c.DemonitorFlush(a.forward)
		a.back = node.PID{}
	}
	err := attempt(func() error { return a.inner.MoveIn(c, a.prepare.State) })
	if err != nil {
		_ = a.from.Fail(fmt.Errorf("%w: %s: %w", ErrFailed, c.Node().Name(), err))
		return node.ErrStop
	}
	c.Reply(a.from, prepared{Arrival: c.Self()})
	return nil
}

// Receive is part of node.Actor. A node.ErrStop ends an arrival that has not started.
func (a *arrival) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Down:
		if m.Ref == a.source && !a.handed || m.Ref == a.forward {
			return node.ErrStop
		}
	case resumed:
		return node.ErrStop
	case abort:
		if m.ID == a.prepare.ID && !a.handed {
			return node.ErrStop
		}
	case accepted:
		if m.err != nil {
			_ = a.from.Fail(m.err)
			return node.ErrStop
		}
		c.Reply(a.from, prepared{c.Self(), a.back})
		return nil
	case commit:
		if m.ID == a.prepare.ID {
			return a.commit(c, m.Messages)
		}
	}
	return node.ErrUnhandled
}

// commit starts the process: from then on it is on this node.
func (a *arrival) commit(c *node.Context, n int) error {
	a.kinds.at(c, "arrival commits")
	msgs := waiting(c)
	if err := a.mayStart(c, msgs, n); err != nil {
		_ = c.Send(a.prepare.Source, failed{a.prepare.ID, err.Error()})
		return node.ErrStop
	}
	c.DemonitorFlush(a.source)
	a.kinds.at(c, "arrival starts")
	if !a.back.IsZero() {
		a.handed = true
		give(c, a.back, resuming{a, c.Self(), msgs}) // if the forwarder has ended, so has the process
		return nil
	}
	a.become(c, c.Self())
	return nil
}

// become makes the process that runs the handler the moved one. arrival is the process that got the source's messages.
func (a *arrival) become(c *node.Context, arrival node.PID) {
	_ = c.Send(a.service, arrived{a.prepare.ID, c.Self(), arrival, a.prepare.Source, a.holders(c.Self())})
	a.settle(c)
	c.Become(a.inner)
	_ = c.Send(a.prepare.Source, started{a.prepare.ID, c.Self()}) // if this is lost, the source asks
}

// mayStart checks that n messages have come, and registers the name of the process.
func (a *arrival) mayStart(c *node.Context, msgs []any, n int) error {
	if len(msgs) != n {
		return fmt.Errorf("%d messages have come of %d", len(msgs), n)
	}
	if a.prepare.Name == "" || !a.back.IsZero() {
		return nil
	}
	return c.Node().Inside(process.Key{}).RegisterFor(a.peer, a.prepare.Name, c.Self())
}

// holders returns the forwarders that the process depends on. now is its PID.
func (a *arrival) holders(now node.PID) (all []node.PID) {
	for _, f := range a.prepare.Trail {
		if f != now {
			all = append(all, f)
		}
	}
	return all
}

// settle gives the process that runs the handler what the moving process had.
//
//actornode:blocks the lock of a process is held for a moment
func (a *arrival) settle(c *node.Context) {
	p := own(c)
	n := c.Node()
	r := &process.Moved{Parent: a.prepare.Parent, Identity: a.prepare.Identity, Trail: a.prepare.Trail,
		Links: make(map[wire.PID]wire.PID), Monitors: make(map[wire.Ref]wire.PID),
		Tell: func(holder, link wire.PID, monitor wire.Ref) {
			_ = n.Send(at(holder.Node()), drop{holder, link, monitor, a.prepare.Identity}) // the link is lost with the connection
		}}
	c.TrapExit(a.prepare.Trap)
	p.Mu.Lock()
	defer p.Mu.Unlock()
	for _, l := range a.prepare.Links {
		if l.Holder != p.PID() && !p.HasLinkLocked(l.To) && l.To != p.PID() {
			p.AddLinkLocked(l.To)
			r.Links[l.To] = l.Holder
		}
	}
	for _, m := range a.prepare.Monitors {
		if m.Holder != p.PID() {
			r.Monitors[m.Ref] = m.Holder
		}
	}
	p.ColdPart().Moved = r
}

// takingBack orders a forwarder to be the process again, if the move succeeds.
type takingBack struct {
	*arrival
	self node.PID // of the arrival
}

// Receive is part of node.Actor.
func (o *takingBack) Receive(c *node.Context, _ any) error {
	_, b := c.Inside(process.Key{}).Process()
	f, ok := b.(*forwarder)
	var err error
	switch {
	case !ok || f.identity != o.prepare.Identity:
		err = fmt.Errorf("%w: %v on %s is no forwarder of the process", ErrFailed, c.Self(), c.Node().Name())
	case !f.held.IsZero():
		err = ErrMoving
	default:
		err = attempt(func() error { return o.inner.MoveIn(c, o.prepare.State) })
	}
	if err == nil {
		f.move = o.prepare.ID
		f.held = c.Monitor(o.self)                                        // if it ends for any reason, the forwarder continues
		_ = c.Send(at(f.to.Node()), mark{o.prepare.ID, f.to, f.identity}) // the monitor f.over notices a lost connection
	}
	return c.Send(o.self, accepted{err})
}

// resuming orders a forwarder to become the process.
type resuming struct {
	*arrival
	self node.PID // of the arrival
	msgs []any
}

// Receive is part of node.Actor.
func (o resuming) Receive(c *node.Context, _ any) error {
	_, b := c.Inside(process.Key{}).Process()
	f, ok := b.(*forwarder)
	if !ok || f.held.IsZero() || f.move != o.prepare.ID {
		return nil // the arrival was killed, and the source was told that it did not start
	}
	c.DemonitorFlush(f.over)
	c.DemonitorFlush(f.held)
	p := own(c)
	p.Runner().Owning(acting(c), func() { p.Queue.Prepend(o.msgs) })
	o.become(c, o.self)
	return c.Send(o.self, resumed{})
}

// asking orders an arrival, or a forwarder, to say whether its process has started. If
// it has not, it never will.
type asking struct {
	from  node.From
	id    wire.Ref
	watch node.Ref // the service's monitor
}

// Receive is part of node.Actor.
func (o asking) Receive(c *node.Context, _ any) error {
	defer func() { _ = c.Send(service, ended{o.watch}) }()
	switch _, b := c.Inside(process.Key{}).Process(); b := b.(type) {
	case *arrival:
		c.Reply(o.from, node.PID{})
		if b.prepare.ID == o.id {
			return node.ErrStop
		}
	case *forwarder:
		c.Reply(o.from, node.PID{})
		if b.move == o.id && !b.held.IsZero() {
			c.DemonitorFlush(b.held)
			b.release(c)
		}
	default:
		c.Reply(o.from, c.Self())
	}
	return nil
}

// acting returns the process that acts while its handler runs.
func acting(c *node.Context) *process.Acting { return c.Inside(process.Key{}).Acting() }
