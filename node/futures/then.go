package futures

import (
	"fmt"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/internal/process"
	"github.com/actornode/actornode/node/observe"
)

// Then has do called in the Actor whose handler runs, in a turn of its own, when f is completed: with its
// value, or with the error that it fails with. Until then the Actor handles other messages. What do returns
// counts as what a handler returns: an error ends the process. do may ask again, and call Then again. A
// process that is no Actor uses [node.Await], and a method of an active object active.Await: Then panics there.
func Then[R any](c *node.Context, f *node.Future[R], do func(c *node.Context, v R, err error) error) {
	p, behaviour := nodehook.Process(c)
	if _, ok := behaviour.(observe.ActiveObject); ok {
		panic("futures: Then is for Actors: a method of an active object awaits a future by active.Await")
	}
	h, ok := behaviour.(*continuing)
	if !ok {
		h = &continuing{process: p.(*process.Process)}
		h.begin(c)
	}
	h.left++
	f.SendTo(c.Self(), &continuation{func(c *node.Context) error {
		v, err := f.Poll(0)
		return do(c, v, err)
	}})
}

// continuation is the tag of the result that it is for.
type continuation struct{ do func(c *node.Context) error }

// continuing is the behaviour of an Actor as long as something is to be called. What the Actor handles other
// messages with is its own, which Become, Push and Unbecome change meanwhile.
type continuing struct {
	process *process.Process
	place   *node.Actor // where the behaviour of the Actor is, which is this one
	own     node.Actor  // who looks at the process reads it, as any behaviour: under process.Mu
	left    int
}

// begin puts h before the present behaviour. c acts on what is the Actor's own from now on.
func (h *continuing) begin(c *node.Context) {
	h.place = nodehook.Slot(c, &h.own).(*node.Actor)
	h.own = *h.place
	h.put(h)
}

// end takes h away again.
func (h *continuing) end(c *node.Context) {
	nodehook.Slot(c, h.place)
	h.put(h.own)
}

// put makes b the behaviour of the process.
func (h *continuing) put(b node.Actor) {
	h.process.Mu.Lock()
	defer h.process.Mu.Unlock()
	*h.place = b
}

// Receive is part of node.Actor.
func (h *continuing) Receive(c *node.Context, msg any) error {
	nodehook.Slot(c, &h.own)
	if r, ok := msg.(node.Result); ok {
		if next, ok := r.Tag.(*continuation); ok {
			if h.left--; h.left == 0 {
				h.end(c)
			}
			return next.do(c)
		}
	}
	return h.own.Receive(c, msg)
}

// Own is part of what report.Code asks for.
func (h *continuing) Own() any { return h.own }

// BehaviourName is part of node.BehaviourNamer.
func (h *continuing) BehaviourName() string {
	if b, ok := h.own.(node.BehaviourNamer); ok {
		return b.BehaviourName()
	}
	return fmt.Sprintf("%T", h.own)
}
