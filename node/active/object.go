package active

import (
	"reflect"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Addr is the typed address of an active object, for [Go] and [Call]. It can be copied, compared and put into a map.
type Addr[T any] struct {
	PID    node.PID // of the group; zero: it is known by its name
	Name   any      // nil; or a node.Atom, a name on the node of whoever calls, or a node.At, one on another
	Object uint64   // which one of the group; 0: the first
}

// AddrOf is the address of the first object of the group that has a PID, or a registered name. Whether it is a T is seen
// when it is called: a call to another object fails. AddrOf panics if to is an alias. A method names its own object by
// [Self]: c.Self() is the group.
func AddrOf[T any](to node.Dest) Addr[T] {
	switch to := to.(type) {
	case node.PID:
		return Addr[T]{PID: to}
	case node.Atom, node.At:
		return Addr[T]{Name: to}
	}
	panic("active: AddrOf: want a PID, a name, or a name on a node")
}

// Self is the address of the object whose method runs, be it the first of its group or another. It panics if that is no T.
func Self[T any](c *Context) Addr[T] {
	c.check()
	if _, err := find[T](c.group, c.acts.Object); err != nil {
		panic(err)
	}
	return Addr[T]{PID: c.group.pid, Object: c.acts.Object}
}

// Dest is the group for functions that take any destination.
func (a Addr[T]) Dest() node.Dest {
	if !a.PID.IsZero() {
		return a.PID
	}
	to, _ := a.Name.(node.Dest)
	return to
}

// where returns the node that the group is on, "" for that of whoever calls.
func (a Addr[T]) where() node.Atom {
	if a.PID.IsZero() {
		at, _ := a.Name.(node.At)
		return at.Node
	}
	return a.PID.Node()
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
func Start[T any](from node.Caller, object T, o node.Options) (Addr[T], error) {
	pid, err := from.(interface {
		SpawnOpt(node.Options, node.Actor) (node.PID, error)
	}).SpawnOpt(o, New(object))
	return Addr[T]{PID: pid}, err
}

// In makes another object in the group of member: of the two, and all others there, one runs at a
// time, and they end together. The error is [node.ErrNotHere] if the group is on another node, and
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

// objects counts those that In has made: the numbers differ in all groups.
var objects atomic.Uint64
