package erpc

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/wire"
)

// RexKind is a kind of requests to rex.
type RexKind uint8

const (
	RexNothing  RexKind = iota // unknown to rex, and not answered
	RexFeatures                // FeaturesReply goes to From
	RexCalls                   // Call must be run, and RexAnswer of its value goes to From
	RexCasts                   // Call must be run
	RexForwards                // Message goes to Name; Forwarded returns what goes to From
)

// RexRequest is a request to rex.
type RexRequest struct {
	Kind    RexKind
	From    wire.PID
	Call    RexCall
	Name    wire.Atom // "" if the destination is no name
	Message any

	target any
	always bool // sbcast is always answered, send only if no process has the name
}

// RexCall is {call, Module, Function, Args, Leader}, with any atom first.
type RexCall struct {
	Module, Function wire.Atom
	Args             []any
	Leader           wire.PID // zero for none
	Bad              bool     // it is invalid: BadArg
}

// BadArg is the answer to an invalid RexCall, and Refused to one that the node does not run.
var (
	BadArg  any = BadRPC(wire.Atom("badarg"))
	Refused any = BadRPC(limits.SystemLimit)
)

// readRexCall parses a RexCall whose first element is one of names.
func readRexCall(term any, names ...wire.Atom) (c RexCall, ok bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 5 {
		return c, false
	}
	for _, name := range names {
		if t[0] == name {
			var ok1, ok2, ok3 bool
			c.Module, ok1 = t[1].(wire.Atom)
			c.Function, ok2 = t[2].(wire.Atom)
			c.Args, ok3 = wire.AsList(t[3])
			c.Leader, _ = t[4].(wire.PID)
			c.Bad = !ok1 || !ok2 || !ok3
			return c, true
		}
	}
	return c, false
}

// ReadRexCall parses the body of a gen_server call to rex. It returns false if rex does not support it.
func ReadRexCall(body any) (RexCall, bool) { return readRexCall(body, "call", "block_call") }

// ReadRex parses any other message to rex.
func ReadRex(msg any) (r RexRequest) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return r
	}
	if t[0] == wire.Atom("$gen_cast") {
		if r.Call, ok = readRexCall(t[1], "cast"); ok {
			r.Kind = RexCasts
		}
		return r
	}
	if r.From, ok = t[0].(wire.PID); !ok {
		return r
	}
	if t[1] == wire.Atom("features_request") {
		r.Kind = RexFeatures
	} else if r.Call, ok = readRexCall(t[1], "call"); ok {
		r.Kind = RexCalls
	} else if cast, ok := t[1].(wire.Tuple); ok && len(cast) == 3 {
		r.forward(cast)
	}
	return r
}

func (r *RexRequest) forward(cast wire.Tuple) {
	named := false
	r.target = cast[1]
	r.Name, named = cast[1].(wire.Atom)
	switch {
	case !named || cast[0] == wire.Atom("sbcast"):
		r.Kind, r.Message, r.always = RexForwards, cast[2], true
	case cast[0] == wire.Atom("send"):
		r.Kind, r.Message = RexForwards, wire.Tuple{r.From, cast[2]}
	}
}

// Forwarded returns the answer of node to a RexForwards request, and false if the process with the name must answer. noName
// reports that there is none.
func (r RexRequest) Forwarded(node wire.Atom, noName bool) (answer wire.Tuple, ok bool) {
	if !noName {
		return wire.Tuple{wire.Atom("rex"), node, node}, r.always
	}
	return wire.Tuple{wire.Atom("rex"), node, wire.Tuple{wire.Atom("nonexisting_name"), r.target}}, true
}

// RexAnswer returns the answer to RexCalls.
func RexAnswer(v any) wire.Tuple { return wire.Tuple{wire.Atom("rex"), v} }

// FeaturesReply returns the answer of node to RexFeatures.
func FeaturesReply(node wire.Atom) wire.Tuple {
	return wire.Tuple{wire.Atom("features_reply"), node, wire.List{wire.Atom("erpc")}}
}

// AnswerNetKernel returns the answer of a node's net_kernel to a call, and false if it does not support it.
func AnswerNetKernel(body any, node wire.Atom) (answer any, ok bool) {
	switch body {
	case wire.Atom("nodename"):
		return node, true
	case wire.Atom("longnames"): // a dot in the host makes a name long
		_, host, _ := strings.Cut(string(node), "@")
		return strings.Contains(host, "."), true
	}
	t, ok := body.(wire.Tuple)
	return wire.Atom("yes"), ok && len(t) == 2 && t[0] == wire.Atom("is_auth")
}

// RefuseIO returns the answer of net_kernel to a request of the I/O protocol, and its destination, and false for others.
// Such requests come if there is no process user, and their senders must not wait for ever.
func RefuseIO(msg any) (to wire.PID, answer wire.Tuple, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 4 || t[0] != wire.Atom("io_request") {
		return wire.PID{}, nil, false
	}
	to, ok = t[1].(wire.PID)
	return to, wire.Tuple{wire.Atom("io_reply"), t[2], wire.Tuple{wire.AtomError, wire.Atom("enotsup")}}, ok
}

// Unsupported returns the error for a call that a process does not know.
func Unsupported(process string, body any) error {
	return fmt.Errorf("%s does not support %s", process, calls.ReasonText(body))
}
