package genserver

import (
	"context"

	"github.com/actornode/actornode/node"
)

// To is embedded in a request type to say which servers take it, those whose state is an S, and
// what type the reply has: [Returns] for one kind of servers. The compiler then refuses the request
// for any other [Ref]. It takes no memory, unless it is the last field.
type To[S, R any] struct{ Returns[R] }

func (To[S, R]) embedTo(S) {} // as embedReturns

// taken is a request type with an embedded [To].
type taken[S, R any] interface {
	Asks[R]
	embedTo(S)
}

// Ref is a server whose state is an S, as those know it who call it by [Ask], [AskAsync] and [Tell]:
// these take the requests only that say they are for such servers. It is a value like a PID: it can
// be copied, compared and put into a map, and sent to other nodes, in a message, too, if it is
// registered as any type is ([node.TypeOf]). That there is such a server nobody checks but
// [Kind.StartRef]: a server that gets a request which is not for it answers with an [UnhandledError].
type Ref[S any] struct {
	PID  node.PID // zero: the server is known by its name
	Name node.At  // without a node it is a name on the node of whoever calls
}

// RefTo is the server with a PID, or with a registered name. It panics if to is an alias, which is
// not for servers.
func RefTo[S any](to node.Dest) Ref[S] {
	switch to := to.(type) {
	case node.PID:
		return Ref[S]{PID: to}
	case node.Atom:
		return Ref[S]{Name: node.At{Name: to}}
	case node.At:
		return Ref[S]{Name: to}
	}
	panic("genserver: RefTo: want a PID, a name, or a name on a node")
}

// Dest is the server as every function knows it that takes a destination.
func (r Ref[S]) Dest() node.Dest {
	switch {
	case !r.PID.IsZero():
		return r.PID
	case r.Name.Node == "":
		return r.Name.Name
	}
	return r.Name
}

// StartRef is Start for callers who want the compiler to check what they send.
func (k *Kind[S]) StartRef(ctx context.Context, from node.Caller, state S, o node.Options) (Ref[S], error) {
	pid, err := k.Start(ctx, from, state, o)
	return Ref[S]{PID: pid}, err
}

// Ask is [Call] where the compiler checks that the server takes the request.
func Ask[S any, Q taken[S, R], R any](ctx context.Context, from node.Caller, to Ref[S], req Q) (R, error) {
	return node.Call[R](ctx, from, to.Dest(), req)
}

// AskAsync is [Async] in the same way.
func AskAsync[S any, Q taken[S, R], R any](from node.Caller, to Ref[S], req Q) *node.Future[R] {
	return node.Async[R](from, to.Dest(), req)
}

// Tell is [Cast] in the same way. What the message says of a reply does not matter.
func Tell[S any, Q taken[S, R], R any](from node.Caller, to Ref[S], msg Q) error {
	return Cast(from, to.Dest(), msg)
}
