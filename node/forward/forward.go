package forward

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Request hands a request on to a process, a name or an alias, and watches that process for the caller: see the package
// comment. A Request[any], as AsRequest of a Node returns it, is handed on as the Request of the type that its body has. What
// only has the From makes it: node.Request[any]{Body: b, From: from}.
//
// A worker that is gone, or ends meanwhile, is no error here: the caller is told. Errors: [node.ErrReplied] if the request has
// been answered, or its caller waits no more; and those of Send, [node.ErrMailboxFull] for example. After one of Send the
// request is still the forwarder's.
func Request[T any](from node.Caller, r node.Request[T], to node.Dest) error {
	msg := any(r)
	if a, ok := msg.(node.Request[any]); ok {
		msg = from.Inside(process.Key{}).Typed(a.Body, a.From)
	}
	return hand(from, r.From.Inside(process.Key{}).Ticket(), r.Body, msg, to)
}

// sender is each node.Caller.
type sender interface {
	Send(to node.Dest, msg any) error
}

// hand forwards a request: body to another node, msg to a process of this one.
func hand(from node.Caller, asked process.Ticket, body, msg any, to node.Dest) error {
	a := from.Inside(process.Key{}).Acting()
	if a.Gone() {
		return node.ErrExited
	}
	if !asked.Pending() {
		return node.ErrReplied
	}
	sys := a.System
	var pid node.PID
	var at node.At
	target := (*process.Process)(nil)
	switch d := to.(type) {
	case node.PID:
		pid, target = d, sys.Lookup(d)
	case node.Atom:
		var err error
		if target, msg, err = sys.Named(d, msg); err != nil {
			return err
		}
	case node.Ref:
		if far, ok := sys.Elsewhere(d); ok {
			at = far
		} else if target, msg = sys.Aliased(d, msg); target == nil {
			return settled(settle(a, asked, nil, noProcess))
		}
	case node.At:
		if d.Node == sys.Name {
			return hand(from, asked, body, msg, d.Name)
		}
		at = d
	default:
		return node.ErrNoDest
	}
	w := watchFor(a, asked)
	switch {
	case target != nil:
		if w.Target = target; !w.arm().Call.List() {
			return gone(a, asked, target.PID(), msg)
		}
		return w.started(a, func() error { return from.(sender).Send(target.PID(), msg) })
	case at.Node != "" || !sys.Origin.Minted(pid):
		if !from.Inside(process.Key{}).CallFar(w.arm(), pid, at, body) {
			if at.Node != "" {
				return settled(settle(a, asked, nil, &node.ExitError{Reason: node.NoConnection}))
			}
			return gone(a, asked, pid, msg)
		}
		return w.started(a, func() error { return nil })
	}
	return gone(a, asked, pid, msg)
}

// noProcess is what the caller gets if the worker is gone.
var noProcess = &node.ExitError{Reason: node.NoProc}

// gone answers a request whose worker is gone. The request is a dead letter.
func gone(a *process.Acting, asked process.Ticket, pid node.PID, msg any) error {
	ok := settle(a, asked, nil, noProcess)
	if err := a.System.Undeliverable(pid, msg); err != nil {
		return err
	}
	return settled(ok)
}

func settled(ok bool) error {
	if ok {
		return nil
	}
	return node.ErrReplied
}
