package node

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node/discovery"

	"github.com/actornode/actornode/wire"
)

// How values of this package's types cross to other nodes. Package values has the rules.

func init() {
	byDefault = registered.codec()
	values.Enter(ErrNodeStopped, ErrExited, ErrNoProcess, ErrNoName, ErrNameTaken, ErrArgument, process.ErrNoDest,
		process.ErrBadTimeout, errNilBehaviour, ErrTooMany, ErrMailboxFull, ErrTimeout, ErrSelfCall, ErrCycle, ErrReplied,
		ErrReplyType, ErrIgnore, ErrThreadLocked, ErrNoConnection, ErrNotHere, ErrType, ErrDropped, ErrPending, ErrProtected,
		ErrUnhandled, discovery.ErrUnknownNode)
	values.Default = byDefault
	termof.Enter(func(r *values.Reply) any { return byDefault.Failed(r.Cause()) })
	termof.EnterReferences(references.Entry())
}

// byDefault is the codec of the nodes whose Distribution has no types of its own.
var byDefault *values.Codec

// codec returns the codec of nodes with these types.
func (t *Types) codec() *values.Codec { return &values.Codec{Types: &t.all, Public: public} }

var public = values.Public{
	Builtin: func(typ reflect.Type) bool {
		_, ok := builtin.Of(typ)
		return ok
	},
	Form: func(v any) any {
		switch v := v.(type) {
		case *Crash:
			return (*values.Crash)(v)
		case *ExitError:
			return (*values.Exit)(v)
		}
		return v
	},
	OfForm: func(v any) any {
		switch v := v.(type) {
		case *values.Crash:
			return (*Crash)(v)
		case *values.Exit:
			return (*ExitError)(v)
		}
		return v
	},
	RegisterForms: func(t *pack.Types, c pack.Conversion) error {
		return cmp.Or(pack.RegisterAs[Crash](t, "$crash", c), pack.RegisterAs[ExitError](t, "$exit", c))
	},
	Own:        calls.OwnReason[*ExitError],
	References: references,
}

// references are the types whose values stand for something on one node.
var references = &values.References{
	From: reflect.TypeFor[From](),
	FromTerm: func(from any) any {
		if f := from.(From); f.t.Call != nil {
			return f.term()
		}
		return nil
	},
	ReadFrom: func(host, term any) (any, bool) {
		p, ok := host.(*peers.Peer)
		if !ok {
			return nil, false
		}
		f, ok := nodeOf(p.System).readFrom(p.Sender(), term)
		return f, ok && f.asker().MayAnswer(farOf(f.t.Call).From)
	},
	Future: func(f any) (string, wire.Ref, error) { return giveFuture(f.(anyFuture)) },
	ReadFuture: func(host any, name string, ref wire.Ref) (any, bool) {
		p, ok := host.(*peers.Peer)
		if !ok {
			return nil, false
		}
		n := nodeOf(p.System)
		m, ok := n.types.named(name)
		if !ok {
			return nil, false
		}
		return m.future(n, ref), true
	},
}

// own are the types of this module that all nodes know: what processes get as messages and replies, and
// may send on.
var own = []Type{TypeOf[Result]("$result"), TypeOf[Down]("$down"), TypeOf[Exited]("$exited"), TypeOf[NodeUp]("$nodeup"),
	TypeOf[NodeDown]("$nodedown"), TypeOf[At]("$at")}

// enterOwn registers what all nodes know, and returns the codec.
func (t *Types) enterOwn() *values.Codec {
	c := t.codec()
	if err := cmp.Or(c.Register(), t.Register(own...)); err != nil {
		panic(err) // the types are ours
	}
	return c
}

// replyError is the error for a reply that is not an R. why says what does not fit.
func replyError[R any](v any, why error) error {
	var none R
	if t, ok := v.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.AtomError { // as servers of OTP report an error
		if err := termof.ReadError(t[1]); err != nil {
			return err
		}
		return &values.Refusal{Reason: t[1], Mistyped: ErrReplyType}
	}
	switch v.(type) {
	case wire.Tuple, wire.List, wire.ImproperList, wire.Map: // its parts may be what does not fit
		return fmt.Errorf("%w: got %T, want %T: %w", ErrReplyType, v, none, why)
	}
	return fmt.Errorf("%w: got %T, want %T", ErrReplyType, v, none)
}
