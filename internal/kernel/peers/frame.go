package peers

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// FrameTo returns the frame of a message, which is still to be filled in, and the node
// that it is for.
func FrameTo(sys *process.System, to wire.Dest) (f dist.Frame, where wire.Atom) {
	f.Op = dist.OpSend
	switch to := to.(type) {
	case wire.PID:
		f.To, where = to, to.Node()
	case wire.Atom:
		f.Name, where = to, sys.Name
	case wire.At:
		f.Name, where = to.Name, to.Node
	case wire.Ref:
		f.Ref, where = to, to.Node()
	}
	return f, where
}
