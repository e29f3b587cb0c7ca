package genserver

import (
	"context"

	"github.com/actornode/actornode/node"
)

// To, embedded in a request type, says that servers whose state is an S take it, and that the reply is an R:
// it is [Returns] for one kind of server. The compiler then refuses the request for any other [Addr]. It takes
// no memory, unless it is the last field.
type To[S, R any] struct{ Returns[R] }

func (To[S, R]) embedTo(S) {} // as embedReturns

// takenBy is a request type with an embedded [To].
type takenBy[S, R any] interface {
	Returning[R]
	embedTo(S)
}

// Addr is the address of a server whose state is an S, for [CallTo], [AsyncTo] and [CastTo]: they take
// only requests that say they are for such servers. It is a value like a PID: it can be copied, compared
// and put into a map. It can be sent to other nodes if it is registered like any other type ([node.TypeOf]).
// AddrOf does not check that there is such a server: a server answers a request of another kind with an
// [UnhandledError].
type Addr[S any] struct {
	PID  node.PID // zero: use Name
	Name node.At  // without a node: a name on the caller's node
}

// AddrOf returns the address of the server with a PID or a registered name. It panics if to is an alias: an alias cannot
// address a server.
func AddrOf[S any](to node.Dest) Addr[S] {
	switch to := to.(type) {
	case node.PID:
		return Addr[S]{PID: to}
	case node.Atom:
		return Addr[S]{Name: node.At{Name: to}}
	case node.At:
		return Addr[S]{Name: to}
	}
	panic("genserver: AddrOf: want a PID, a name, or a name on a node")
}

// Dest returns the address for functions that take any destination.
func (a Addr[S]) Dest() node.Dest {
	switch {
	case !a.PID.IsZero():
		return a.PID
	case a.Name.Node == "":
		return a.Name.Name
	}
	return a.Name
}

// StartAddr is [Kind.Start] for callers that want the compiler to check what they send.
func (k *Kind[S]) StartAddr(ctx context.Context, from node.Caller, state S, o node.Options) (Addr[S], error) {
	pid, err := k.Start(ctx, from, state, o)
	return Addr[S]{PID: pid}, err
}

// CallTo is [Call] to an [Addr]: the compiler checks that the request is for such a server.
func CallTo[S any, Q takenBy[S, R], R any](ctx context.Context, from node.Caller, to Addr[S], req Q) (R, error) {
	return node.Call[R](ctx, from, to.Dest(), req)
}

// AsyncTo is [Async] to an [Addr], checked in the same way.
func AsyncTo[S any, Q takenBy[S, R], R any](from node.Caller, to Addr[S], req Q) *node.Future[R] {
	return node.Async[R](from, to.Dest(), req)
}

// CastTo is [Cast] to an [Addr], checked in the same way. The reply type R does not matter.
func CastTo[S any, Q takenBy[S, R], R any](from node.Caller, to Addr[S], msg Q) error {
	return Cast(from, to.Dest(), msg)
}
