package active

import (
	"reflect"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Addr is the typed address of an active object, for [Go] and [Call]. It can be copied, compared and put into a map.
type Addr[T any] struct {
	PID    node.PID // of the group; zero: use Name
	Name   any      // nil; a node.Atom, a name on the caller's node; or a node.At, a name on another node
	Object uint64   // which object of the group; 0: the first
}

// AddrOf returns the address of the first object of the group with a PID or a registered name. Only a call checks whether
// it is a T: a call to an object of another type fails. AddrOf panics if to is an alias. A method gets the address of its
// own object by [Self]: c.Self() is the group.
func AddrOf[T any](to node.Dest) Addr[T] {
	switch to := to.(type) {
	case node.PID:
		return Addr[T]{PID: to}
	case node.Atom, node.At:
		return Addr[T]{Name: to}
	}
	panic("active: AddrOf: want a PID, a name, or a name on a node")
}

// Self returns the address of the object whose method runs, the first of its group or another. It panics if that is not
// a T.
func Self[T any](c *Context) Addr[T] {
	c.check()
	if _, err := find[T](c.group, c.acts.Object); err != nil {
		panic(err)
	}
	return Addr[T]{PID: c.group.pid, Object: c.acts.Object}
}

// Dest returns the group for functions that take any destination.
func (a Addr[T]) Dest() node.Dest {
	if !a.PID.IsZero() {
		return a.PID
	}
	to, _ := a.Name.(node.Dest)
	return to
}

// where returns the node of the group; "" for the caller's node.
func (a Addr[T]) where() node.Atom {
	if a.PID.IsZero() {
		at, _ := a.Name.(node.At)
		return at.Node
	}
	return a.PID.Node()
}

// Receiver is an object that takes messages other than calls of its methods: a node.Down,
// a node.Exited, what any process sends. If Receive returns an error or panics, the process ends. It may be
// suspended like any method. The first object of a group gets the messages.
//
// If the first object is not a Receiver, a node.Exited ends the process as it would without TrapExit, a call
// fails with [node.ErrUnhandled], and any other message is logged.
type Receiver interface {
	Receive(c *Context, msg any) error
}

// New makes a group with a first object. Spawn it once: by a supervisor, or with [Start].
func New[T any](object T) node.Actor { return newGroup(object, reflect.TypeFor[T]()) }

// Start starts a group with a first object. The errors are those of SpawnOpt of from.
func Start[T any](from node.Caller, object T, o node.Options) (Addr[T], error) {
	pid, err := from.(interface {
		SpawnOpt(node.Options, node.Actor) (node.PID, error)
	}).SpawnOpt(o, New(object))
	return Addr[T]{PID: pid}, err
}

// In adds an object to the group of member: one object of the group runs at a
// time, and all end together. The error is [node.ErrNotHere] if the group is on another node, and
// [node.ErrNoProcess] if it is gone.
func In[T, U any](from node.Caller, member Addr[T], object U) (Addr[U], error) {
	var none Addr[U]
	a := Addr[U]{Object: objects.Add(1)}
	if c, ok := from.(*Context); ok && member.PID == c.group.pid {
		a.PID = member.PID
		c.group.add(a.Object, object)
		return a, nil
	}
	if where := member.where(); where != "" && where != from.Inside(process.Key{}).Node().Name() {
		return none, node.ErrNotHere
	}
	var found bool
	in := from.Inside(process.Key{})
	if a.PID, found = in.Resolve(member.Dest()); !found || !in.Signal(a.PID, joins{a.Object, object}) {
		return none, node.ErrNoProcess
	}
	return a, nil
}

// objects counts the objects that In has made: no two groups use the same number.
var objects atomic.Uint64
