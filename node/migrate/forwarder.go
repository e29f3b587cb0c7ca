package migrate

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// forwarder is the behaviour of a process that has moved to another node: see doc.go.
type forwarder struct {
	to       node.PID
	identity wire.Ref
	over     node.Ref          // monitor over to
	monitors map[node.Ref]bool // that the process has left here
	skip     int               // messages at the head of the queue that the process has got
	move     wire.Ref          // the move that took, or takes, the process back here
	lost     any               // the exit reason of to, while held is set
	held     node.Ref          // monitor over the arrival that takes the process back here; zero: none
}

// BehaviourName is part of node.BehaviourNamer.
func (f *forwarder) BehaviourName() string { return fmt.Sprintf("forwarder to %v", f.to) }

// begin makes the process that m has moved a forwarder.
//
//actornode:blocks the lock of a process is held for a moment
func (f *forwarder) begin(c *node.Context, m *mover) {
	p := own(c)
	f.monitors = make(map[node.Ref]bool)
	for _, w := range m.prepare.Monitors {
		if w.Holder == c.Self() {
			f.monitors[w.Ref] = true
		}
	}
	p.Mu.Lock()
	r := recordOf(p)
	if r != nil {
		for to := range r.Links {
			p.RemoveLinkLocked(to)
		}
	}
	p.Cold.Moved = &process.Moved{Parent: m.prepare.Parent, Next: f.to, Identity: f.identity}
	p.Mu.Unlock()
	c.TrapExit(true)
	if f.to != m.arrival || m.at() == doubtful { // the monitor over the arrival has fired
		c.DemonitorFlush(f.over)
		f.over = c.Monitor(f.to)
	}
}

// Receive is part of node.Actor.
func (f *forwarder) Receive(c *node.Context, msg any) error {
	if f.skip > 0 {
		f.skip--
		return nil
	}
	if d, ok := msg.(node.Down); ok {
		switch d.Ref {
		case f.over:
			if f.lost = d.Reason; f.held.IsZero() { // else the arrival may have been told to commit
				f.end(c, d.Reason)
			}
			return nil
		case f.held:
			f.release(c)
			return nil
		}
	}
	if _, signal := msg.(node.Exited); !f.held.IsZero() && !signal {
		return node.ErrUnhandled
	}
	switch m := msg.(type) {
	case again:
		return nil // for the mover
	case node.Result:
		if _, ok := m.Tag.(outcomeTag); ok {
			return nil
		}
	case node.Down:
		if f.monitors[m.Ref] {
			delete(f.monitors, m.Ref)
			_ = c.Send(at(f.to.Node()), down{f.to, m, f.identity}) // the monitor f.over notices a lost connection
			return nil
		}
	case node.Exited:
		if sysmsg.IsStop(m) {
			f.end(c, node.NoConnection)
			return nil
		}
		_ = c.Send(at(f.to.Node()), exited{f.to, m.From, m.Reason, f.identity})
		return nil
	}
	sendOn(c, f.to, msg)
	return nil
}

// release makes the forwarder forward again, as the process does not come back.
func (f *forwarder) release(c *node.Context) {
	if f.held = (node.Ref{}); f.lost != nil {
		f.end(c, f.lost)
		return
	}
	c.Become(f) // so that it gets the messages that it left in the mailbox
}

// end ends the forwarder with the reason of the process. This is not a crash of the forwarder.
func (f *forwarder) end(c *node.Context, reason any) {
	p := own(c)
	p.Exit(&p.System.Plain, reason)
}

// marking is the order that the service makes of a mark.
type marking struct{ id, identity wire.Ref }

// Receive is part of node.Actor.
func (o marking) Receive(c *node.Context, _ any) error {
	switch _, b := c.Inside(process.Key{}).Process(); b := b.(type) {
	case *mover:
		if b.prepare.Identity == o.identity {
			b.mark(c, o.id)
		}
	case *forwarder:
		if b.identity == o.identity {
			_ = c.Send(at(b.to.Node()), mark{o.id, b.to, o.identity}) // the monitor b.over notices a lost connection
		}
	}
	return nil
}
