// Package nodefault has what the analyzer nodefault finds, and beside it what is right.
package nodefault

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

type counter struct{ n int }

func (a *counter) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) { // want `a message that fits no case is dropped without a trace`
	case int:
		a.n += m
	case node.Request[int]:
		m.Reply(a.n)
	}
	return nil
}

type object struct{ n int }

func (o *object) Receive(c *active.Context, msg any) error {
	o.n++
	switch msg.(type) { // want `a message that fits no case is dropped`
	case node.Down:
		o.n--
	}
	o.n++
	return nil
}

var function = node.ActorFunc(func(c *node.Context, msg any) error {
	switch msg.(type) { // want `a message that fits no case is dropped`
	case int:
		return node.ErrStop
	}
	return nil
})

type logging struct{ n int }

func (a *logging) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		a.n += m
	default:
		c.Node().Log().Warn("unexpected message", "type", fmt.Sprintf("%T", msg))
	}
	return nil
}

type purpose struct{ n int }

func (a *purpose) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		a.n += m
	default: // all others are dropped on purpose
	}
	return nil
}

type keeping struct{ n int }

func (a *keeping) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		a.n += m
		return nil
	}
	return node.ErrUnhandled
}

type failing struct{ n int }

func (a *failing) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		a.n += m
		return nil
	}
	return fmt.Errorf("unexpected message %T", msg)
}

type passing struct{ next node.PID }

func (a *passing) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.PID:
		a.next = m
	}
	return c.Send(a.next, msg)
}

type seeing struct{ last any }

func (a *seeing) Receive(c *node.Context, msg any) error {
	a.last = msg
	switch m := msg.(type) {
	case node.PID:
		c.Link(m)
	}
	return nil
}

type everything struct{ last any }

func (a *everything) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.PID:
		c.Link(m)
	case any:
		a.last = m
	}
	return nil
}

// handle is no Receive: its caller may look at the message, too.
func handle(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.PID:
		c.Link(m)
	}
	return nil
}
