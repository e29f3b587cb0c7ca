package lifetime

import (
	"runtime"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

// Object is a reference that keeps an active object, the first of its group: an [active.Addr] with the Owner of
// the group's process. It is a value that can be copied and compared.
type Object[T any] struct {
	owner *Owner
	addr  active.Addr[T]
}

// Start is [active.Start] for an object that is collected when nobody can reach it: see [Own] for the errors. The
// object also lives while a call to it is under way, or one of its activations waits.
func Start[T any](from node.Caller, object T, o node.Options) (Object[T], error) {
	owner, err := Own(from, active.New(object), o)
	if err != nil {
		return Object[T]{}, err
	}
	return Object[T]{owner, active.Addr[T]{PID: owner.PID()}}, nil
}

// Owner returns the Owner of the group's process.
func (o Object[T]) Owner() *Owner { return o.owner }

// Addr returns the address of the object. It does not keep the object: it is as weak as a PID.
func (o Object[T]) Addr() active.Addr[T] { return o.addr }

// Go is [active.Go] for an Object. It keeps the object until the call is in its mailbox.
func Go[T, A, R any](from node.Caller, o Object[T], method func(T, *active.Context, A) (R, error), arg A) *node.Future[R] {
	defer runtime.KeepAlive(o.owner)
	return active.Go(from, o.addr, method, arg)
}
