package active

import (
	"reflect"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Ref is an active object as those know it who call it. It can be copied, compared and put into a map.
type Ref[T any] struct {
	PID    node.PID // of the group; zero: it is known by its name
	Name   any      // nil; or a node.Atom, a name on the node of whoever calls, or a node.At, one on another
	Object uint64   // which one of the group; 0: the first
}

// RefTo is the first object of the group that has a PID, or a registered name. That it is a T is seen
// when it is called: a call to another object fails. It panics if to is an alias. A method names its own object by
// [Self]: c.Self() is the group.
func RefTo[T any](to node.Dest) Ref[T] {
	switch to := to.(type) {
	case node.PID:
		return Ref[T]{PID: to}
	case node.Atom, node.At:
		return Ref[T]{Name: to}
	}
	panic("active: RefTo: want a PID, a name, or a name on a node")
}

// Self is the object whose method runs, be it the first of its group or another. It panics if that is no T.
func Self[T any](c *Context) Ref[T] {
	c.check()
	if _, err := find[T](c.group, c.acts.Object); err != nil {
		panic(err)
	}
	return Ref[T]{PID: c.group.pid, Object: c.acts.Object}
}

// Dest is the group as every function knows it that takes a destination.
func (r Ref[T]) Dest() node.Dest {
	if !r.PID.IsZero() {
		return r.PID
	}
	to, _ := r.Name.(node.Dest)
	return to
}

// where returns the node that the group is on, "" for that of whoever calls.
func (r Ref[T]) where() node.Atom {
	if r.PID.IsZero() {
		at, _ := r.Name.(node.At)
		return at.Node
	}
	return r.PID.Node()
}

// Receiver is what an object is that takes other messages than calls of its methods: a node.Down,
// a node.Exited, what any process sends. An error that Receive returns, and a panic, ends the process. It may be
// suspended as any method. Of a group the first object gets them.
//
// Where the first object is none, a node.Exited ends the process as it would without TrapExit, a call
// fails with [node.ErrUnhandled], and any other message is logged.
type Receiver interface {
	Receive(c *Context, msg any) error
}

// New makes a group with a first object, to be spawned once: by a supervisor, or by [Start].
func New[T any](object T) node.Actor { return newGroup(object, reflect.TypeFor[T]()) }

// Start starts a group with a first object. The errors are those of SpawnOpt of from.
func Start[T any](from node.Caller, object T, o node.Options) (Ref[T], error) {
	pid, err := from.(interface {
		SpawnOpt(node.Options, node.Actor) (node.PID, error)
	}).SpawnOpt(o, New(object))
	return Ref[T]{PID: pid}, err
}

// In makes another object in the group of member: of the two, and all others there, one runs at a
// time, and they end together. The error is [node.ErrNotHere] if the group is on another node, and
// [node.ErrNoProcess] if it is gone.
func In[T, U any](from node.Caller, member Ref[T], object U) (Ref[U], error) {
	var none Ref[U]
	r := Ref[U]{Object: objects.Add(1)}
	if c, ok := from.(*Context); ok && member.PID == c.group.pid {
		r.PID = member.PID
		c.group.add(r.Object, object)
		return r, nil
	}
	if where := member.where(); where != "" && where != from.Inside(process.Key{}).Node().Name() {
		return none, node.ErrNotHere
	}
	var found bool
	in := from.Inside(process.Key{})
	if r.PID, found = in.Resolve(member.Dest()); !found || !in.Signal(r.PID, joins{r.Object, object}) {
		return none, node.ErrNoProcess
	}
	return r, nil
}

// objects counts those that In has made: the numbers differ in all groups.
var objects atomic.Uint64
