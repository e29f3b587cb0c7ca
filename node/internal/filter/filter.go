// Package filter has what looks at the messages of an Actor before its behaviour does, for a while: what packages
// futures and match need of an Actor that they did not write.
//
//	f, err := filter.Of(c)                             of the Actor whose handler runs
//	f.Add(part)                                        from now on part is asked about each message
//	part, ok := filter.PartOf[*continuations](f)         that has been added
//
// A [Filter] is the behaviour of the process, as long as it has parts. The Actor's own behaviour stands behind it, and
// Become, Push and Unbecome change that one. A [Part] takes messages that it knows, or lets them pass.
//
// # Invariants
//
//  1. A process has at most one Filter.
//  2. When no part is left, the Actor's own behaviour is the behaviour of the process again.
//
// A Filter belongs to whoever runs the process; who looks at the process reads the behaviours under its lock. The
// package has no goroutine.
package filter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// Part is one thing that a filter does.
type Part interface {
	// Receive is asked about a message before the behaviour. taken: the behaviour does not get it, and err counts as
	// what that returns.
	Receive(c *node.Context, msg any) (taken bool, err error)
	// Received is called after the behaviour, or another part, has had a message, with what came of it.
	Received(c *node.Context, err error)
	// Needed reports whether the part is to stay; it is asked after each message.
	Needed() bool
}

// Filter is the behaviour of an Actor as long as it has parts.
type Filter struct {
	process *process.Process
	place   *node.Actor // where the behaviour of the process is, which is this one
	own     node.Actor  // the Actor's own; who looks at the process reads it, as any behaviour: under process.Mu
	parts   []Part
}

// ErrActiveObject is for a method of an active object: what it handles messages with is no behaviour of the user's.
var ErrActiveObject = errors.New("the process is an active object")

// Existing returns the filter of the Actor whose handler runs; nil: it has none.
func Existing(c *node.Context) *Filter {
	_, behaviour := c.Inside(process.Key{}).Process()
	f, _ := behaviour.(*Filter)
	return f
}

// Of returns the filter of the Actor whose handler runs, and makes it first if need be; then a part is to be added. The
// error is [ErrActiveObject].
func Of(c *node.Context) (*Filter, error) {
	p, behaviour := c.Inside(process.Key{}).Process()
	switch b := behaviour.(type) {
	case observe.ActiveObject:
		return nil, ErrActiveObject
	case *Filter:
		return b, nil
	}
	f := &Filter{process: p}
	f.place = c.InsideTurn(process.Key{}).Slot(&f.own)
	f.own = *f.place
	f.put(f)
	return f, nil
}

// Add adds a part, which is asked after those that there are.
func (f *Filter) Add(p Part) { f.parts = append(f.parts, p) }

// Process returns the process of the Actor.
func (f *Filter) Process() *process.Process { return f.process }

// PartOf returns the part of type P; f may be nil.
func PartOf[P Part](f *Filter) (p P, ok bool) {
	if f == nil {
		return p, false
	}
	for _, part := range f.parts {
		if p, ok = part.(P); ok {
			return p, true
		}
	}
	return p, false
}

// put makes b the behaviour of the process.
func (f *Filter) put(b node.Actor) {
	f.process.Mu.Lock()
	defer f.process.Mu.Unlock()
	*f.place = b
}

// Becomer is a part that is told when the Actor has got another behaviour.
type Becomer interface{ Became() }

// Became is for package node: b has become the behaviour of the Actor.
func (f *Filter) Became(k process.Key, c *node.Context, b node.Actor) {
	for _, p := range f.parts {
		if t, ok := p.(Becomer); ok {
			t.Became()
		}
	}
	if t, ok := b.(interface {
		Became(process.Key, *node.Context, node.Actor)
	}); ok {
		t.Became(k, c, b)
	}
}

// Receive is part of node.Actor.
func (f *Filter) Receive(c *node.Context, msg any) error {
	c.InsideTurn(process.Key{}).Slot(&f.own)
	err := f.receive(c, msg)
	for _, p := range f.parts {
		if !p.Needed() {
			f.remove(c)
			break
		}
	}
	return err
}

func (f *Filter) receive(c *node.Context, msg any) error {
	for _, p := range f.parts {
		if taken, err := p.Receive(c, msg); taken {
			f.received(c, err, p)
			return err
		}
	}
	err := f.own.Receive(c, msg)
	f.received(c, err, nil)
	return err
}

// received tells all parts but by that a message has been handled.
func (f *Filter) received(c *node.Context, err error, by Part) {
	for _, p := range f.parts {
		if p != by {
			p.Received(c, err)
		}
	}
}

// remove takes away the parts that are not needed, and the filter with the last one.
func (f *Filter) remove(c *node.Context) {
	f.parts = slices.DeleteFunc(f.parts, func(p Part) bool { return !p.Needed() })
	if len(f.parts) == 0 {
		c.InsideTurn(process.Key{}).Slot(f.place)
		f.put(f.own)
	}
}

// Deliver hands the behaviour a message that is not in the mailbox, for a part.
func (f *Filter) Deliver(c *node.Context, msg any) error { return f.own.Receive(c, msg) }

// Own is part of what watch.CodeOf asks for.
func (f *Filter) Own() any { return f.own }

// BehaviourName is part of node.BehaviourNamer.
func (f *Filter) BehaviourName() string {
	if b, ok := f.own.(node.BehaviourNamer); ok {
		return b.BehaviourName()
	}
	return fmt.Sprintf("%T", f.own)
}
