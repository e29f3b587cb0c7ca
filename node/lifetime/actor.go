package lifetime

import (
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// code is the behaviour of an Actor, and those that Push has put aside. It is owned like a behaviour.
type code struct {
	behaviour node.Actor
	stack     []any
}

// wrapper stands for the behaviour in an Actor's process. It reaches the behaviour only through the hold, which refers to
// the Owner only while there is something to do: so only its Owners refer to an idle Actor.
type wrapper struct{ hold *hold }

// initializer is a wrapper of a node.Initializer.
type initializer struct{ *wrapper }

// finish is the last message of a Terminator.
type finish struct{}

// Behaviour returns what the node treats as the behaviour of the process.
func (w *wrapper) Behaviour() node.Actor {
	if c := w.hold.reachCode(); c != nil {
		return c.behaviour
	}
	return w // collected
}

// Init is part of node.Initializer.
func (i initializer) Init(c *node.Context) (err error) {
	i.act(c, func(b node.Actor) { err = b.(node.Initializer).Init(c) })
	return err
}

// Receive is part of node.Actor.
func (w *wrapper) Receive(c *node.Context, msg any) (err error) {
	w.act(c, func(b node.Actor) {
		if msg != any(finish{}) {
			err = b.Receive(c, msg)
			return
		}
		if t, ok := b.(Terminator); ok {
			err = t.Terminate(c, Collected)
		}
		if err == nil {
			err = node.ExitWith(Collected)
		}
	})
	return err
}

// act calls do with the behaviour. c acts on that behaviour meanwhile.
func (w *wrapper) act(c *node.Context, do func(b node.Actor)) {
	h := w.hold
	q, _ := c.Inside(process.Key{}).Process()
	p := q
	owner := h.enter(p)
	defer runtime.KeepAlive(owner)
	code := h.reachCode()
	p.Cold.Stack, code.stack = code.stack, nil
	was := c.InsideTurn(process.Key{}).Slot(&code.behaviour)
	do(code.behaviour)
	c.InsideTurn(process.Key{}).Slot(was)
	code.stack, p.Cold.Stack = p.Cold.Stack, nil
	o, ok := code.behaviour.(observe.ActiveObject)
	h.settle(p, ok && o.Activations() != observe.Activations{})
}

// settle ends a turn. busy says that activations wait.
func (h *hold) settle(p *process.Process, busy bool) {
	p.Mu.Lock()
	kept := isKept(p)
	h.mu.Lock()
	h.kept, h.busy = kept, busy
	list := kept && h.list()
	h.mu.Unlock()
	p.Mu.Unlock()
	if list {
		sweeps.add(h)
	}
}
