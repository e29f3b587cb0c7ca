package seqtrace

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// A Process is the process whose code runs: a [*node.Context] or a [*node.Process].
type Process interface {
	node.Caller
	Self() node.PID
}

// Label returns the label of the token that p has now. ok is false if it has none. A binary is a []byte, which must not be
// changed.
func Label(p Process) (label any, ok bool) { return own(p).Label() }

// SetLabel sets the label of p's token until p takes its next message. If p has no token, one begins. A label that goes to
// nodes of OTP must be a term, to other nodes a value that they can read.
func SetLabel(p Process, label any) { own(p).SetLabel(label, nil) }

// Clear removes p's token: what p sends has none until p takes a message with one. It is seq_trace:set_token([]).
func Clear(p Process) { own(p).ClearToken() }

func own(p Process) *process.Process { return p.Inside(process.Key{}).Acting().Own() }
