package erpc

import (
	"fmt"

	"github.com/actornode/actornode/wire"
)

// Function is a destination: a function on a node. A call to it is a call of the function; a message to it calls the function
// without reporting the outcome.
type Function struct {
	wire.At // only its node is used
	Module  wire.Atom
	Name    wire.Atom
	Args    []any
	// Now reports that a caller that does not wait for the result does not wait either while much is queued for the node.
	Now bool
}

// Behaviour is a destination: a behaviour on a node. A call to it starts a process there, and returns its PID.
type Behaviour struct {
	wire.At
	Module wire.Atom
	Name   wire.Atom
	Args   []any
}

// NewFunction returns a function on a node as a destination.
func NewFunction(node, module, name wire.Atom, args []any) Function {
	return Function{At: wire.At{Node: node}, Module: module, Name: name, Args: args}
}

// NewBehaviour returns a behaviour on a node as a destination.
func NewBehaviour(node, module, name wire.Atom, args []any) Behaviour {
	return Behaviour{At: wire.At{Node: node}, Module: module, Name: name, Args: args}
}

// DestText formats a destination for an error. Formatting a Dest directly would allocate it in each call.
func DestText(to wire.Dest) string {
	switch to := to.(type) {
	case wire.PID:
		return to.String()
	case wire.Atom:
		return string(to)
	case wire.Ref:
		return to.String()
	case wire.At:
		return to.String()
	case Function:
		return fmt.Sprintf("the function %s:%s/%d on %s", to.Module, to.Name, len(to.Args), to.Node)
	case Behaviour:
		return fmt.Sprintf("the start of %s:%s/%d on %s", to.Module, to.Name, len(to.Args), to.Node)
	}
	return "a function"
}
