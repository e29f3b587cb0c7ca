package process

import (
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/wire"
)

// A SendCheck is called with what a sends: a message, or the body of a request. Its error is that of the send. Who is not
// checked pays nothing: a process that is has a bit in its status, which its sends look at anyway.
type SendCheck func(a *Acting, to wire.Dest, msg any, call bool) error

// Check makes the sends of p, which does not run yet, go through f.
func (p *Process) Check(f SendCheck) {
	p.ColdPart().Sends = f
	p.Status.Check()
}

// Checked reports whether what a sends is checked.
func (a *Acting) Checked() bool {
	if a.Process == nil {
		return a.System.Sends != nil
	}
	return a.Process.Status.IsChecked()
}

// MaySend checks a message, or with call the body of a request, before it is sent: once for each message.
func (a *Acting) MaySend(to wire.Dest, msg any, call bool) error {
	switch {
	case !a.Checked():
		return nil
	case a.Process == nil:
		return a.System.Sends(a, erpc.CopyDest(to), msg, call)
	}
	return a.Process.Cold.Sends(a, erpc.CopyDest(to), msg, call)
}
