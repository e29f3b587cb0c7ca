package kernel

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/wire"
)

// Kind is a kind of requests to rex.
type Kind uint8

const (
	Nothing  Kind = iota // what rex does not know, and does not answer
	Features             // FeaturesReply goes to From
	Calls                // Call is to be run, and Answer of its value goes to From
	Casts                // Call is to be run
	Forwards             // Message goes to Name; Forwarded says what goes to From
)

// Request is what is asked of rex.
type Request struct {
	Kind    Kind
	From    wire.PID
	Call    Call
	Name    wire.Atom // "": Target, which is no name
	Message any

	target any
	always bool // sbcast is answered always, send only where nobody has the name
}

// Call is {call, Module, Function, Args, Leader}, with whatever atom first.
type Call struct {
	Module, Function wire.Atom
	Args             []any
	Leader           wire.PID // zero: none
	Bad              bool     // it is no call: BadArg
}

// BadArg is the answer to a Call that is none, and Refused to one that the node does not run.
var (
	BadArg  any = erpc.BadRPC(wire.Atom("badarg"))
	Refused any = erpc.BadRPC(limits.SystemLimit)
)

// call reads a Call whose first element is one of names.
func call(term any, names ...wire.Atom) (c Call, ok bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 5 {
		return c, false
	}
	for _, name := range names {
		if t[0] == name {
			var ok1, ok2, ok3 bool
			c.Module, ok1 = t[1].(wire.Atom)
			c.Function, ok2 = t[2].(wire.Atom)
			c.Args, ok3 = wire.Elements(t[3])
			c.Leader, _ = t[4].(wire.PID)
			c.Bad = !ok1 || !ok2 || !ok3
			return c, true
		}
	}
	return c, false
}

// ReadCall reads the body of a gen_server call to rex; false: rex does not support it.
func ReadCall(body any) (Call, bool) { return call(body, "call", "block_call") }

// Read reads any other message to rex.
func Read(msg any) (r Request) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return r
	}
	if t[0] == wire.Atom("$gen_cast") {
		if r.Call, ok = call(t[1], "cast"); ok {
			r.Kind = Casts
		}
		return r
	}
	if r.From, ok = t[0].(wire.PID); !ok {
		return r
	}
	if t[1] == wire.Atom("features_request") {
		r.Kind = Features
	} else if r.Call, ok = call(t[1], "call"); ok {
		r.Kind = Calls
	} else if cast, ok := t[1].(wire.Tuple); ok && len(cast) == 3 {
		r.forward(cast)
	}
	return r
}

func (r *Request) forward(cast wire.Tuple) {
	named := false
	r.target = cast[1]
	r.Name, named = cast[1].(wire.Atom)
	switch {
	case !named || cast[0] == wire.Atom("sbcast"):
		r.Kind, r.Message, r.always = Forwards, cast[2], true
	case cast[0] == wire.Atom("send"):
		r.Kind, r.Message = Forwards, wire.Tuple{r.From, cast[2]}
	}
}

// Forwarded is the answer of node to a request that is a Forwards; false: it is up to whoever has
// the name to answer. noName: nobody has it.
func (r Request) Forwarded(node wire.Atom, noName bool) (answer wire.Tuple, ok bool) {
	if !noName {
		return wire.Tuple{wire.Atom("rex"), node, node}, r.always
	}
	return wire.Tuple{wire.Atom("rex"), node, wire.Tuple{wire.Atom("nonexisting_name"), r.target}}, true
}

// Answer is the answer to a Calls.
func Answer(v any) wire.Tuple { return wire.Tuple{wire.Atom("rex"), v} }

// FeaturesReply is the answer of node to a Features.
func FeaturesReply(node wire.Atom) wire.Tuple {
	return wire.Tuple{wire.Atom("features_reply"), node, wire.List{wire.Atom("erpc")}}
}

// Ask is the answer of a node's net_kernel to a call; false: it does not support it.
func Ask(body any, node wire.Atom) (answer any, ok bool) {
	switch body {
	case wire.Atom("nodename"):
		return node, true
	case wire.Atom("longnames"): // a host with a dot is what makes a name long
		_, host, _ := strings.Cut(string(node), "@")
		return strings.Contains(host, "."), true
	}
	t, ok := body.(wire.Tuple)
	return wire.Atom("yes"), ok && len(t) == 2 && t[0] == wire.Atom("is_auth")
}

// RefuseIO is the answer of net_kernel to a request of the I/O protocol, and where it goes; false:
// the message is none. Such requests come where there is no process user, and nobody must wait for
// ever.
func RefuseIO(msg any) (to wire.PID, answer wire.Tuple, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 4 || t[0] != wire.Atom("io_request") {
		return wire.PID{}, nil, false
	}
	to, ok = t[1].(wire.PID)
	return to, wire.Tuple{wire.Atom("io_reply"), t[2], wire.Tuple{wire.Error, wire.Atom("enotsup")}}, ok
}

// Unsupported is the error for a call that a process does not know.
func Unsupported(process string, body any) error {
	return fmt.Errorf("%s does not support %s", process, calls.ReasonText(body))
}
