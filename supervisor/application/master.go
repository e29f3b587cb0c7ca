package application

import (
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// startSettled is a master's message to the controller when its start has ended.
type startSettled struct {
	run *instance `isolation:"share"`
	top node.PID
	err error
}

// halt tells a master to stop its application and to exit with reason.
type halt struct{ reason any }

// serve is the body of a master:
//
//	starting --Start returned--> running --halt, exit of the controller--> stopping --exit of top--> ended
//	    |                           '----exit of top----------------------------------------------> ended
//	    '------Start failed-----------------------------------------------------------------------> ended
func (r *instance) serve(p *node.Process, controller node.PID) error {
	p.TrapExit(true)
	top, err := r.spec.start(p.Context(), p)
	if err == nil && top.IsZero() {
		err = fmt.Errorf("application: Start of %s returned neither a process nor an error", wire.Format(r.spec.Name))
	}
	if err != nil {
		return p.Send(controller, startSettled{run: r, err: err})
	}
	p.Link(top)
	ref := p.Monitor(top)
	if err := p.Send(controller, startSettled{run: r, top: top}); err != nil {
		return err
	}
	var why any // the reason of top's exit signal, or nil
	for {
		switch m := p.Receive().(type) {
		case halt:
			return r.stop(p, top, ref, m.reason)
		case node.Exited:
			if m.From == top && why == nil {
				why = m.Reason
			}
			if m.From == controller || m.From.IsZero() { // that of Node.Stop has no sender
				return r.stop(p, top, ref, m.Reason)
			}
		case node.Down:
			if m.Ref == ref {
				r.hook(p, "PrepStop", r.spec.PrepStop)
				r.hook(p, "Stop", r.spec.Stop)
				if m.Reason == node.NoProc { // it had ended before the monitor was made, but Start has linked it
					if why == nil {
						why = p.ReceiveMatch(func(m any) bool { e, ok := m.(node.Exited); return ok && e.From == top }).(node.Exited).Reason
					}
					return node.ExitWith(why)
				}
				return node.ExitWith(m.Reason)
			}
		}
	}
}

// stop stops the application and ends the master with reason.
func (r *instance) stop(p *node.Process, top node.PID, ref node.Ref, reason any) error {
	r.hook(p, "PrepStop", r.spec.PrepStop)
	p.Exit(top, node.Shutdown)
	p.ReceiveMatch(func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref })
	r.hook(p, "Stop", r.spec.Stop)
	return node.ExitWith(reason)
}

// hook calls a function of the application. A panic is reported, and the stop continues, as in OTP.
func (r *instance) hook(p *node.Process, name string, f func()) {
	if f == nil {
		return
	}
	returned := false
	defer func() {
		if !returned && p.Context().Err() == nil {
			p.Node().Log().Error("application: a hook panicked", "application", r.spec.Name, "hook", name, slog.Any("panic", recover()))
		}
	}()
	f()
	returned = true
}
