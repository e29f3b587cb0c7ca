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
	t := sys.Target(to)
	if t.Node == "" {
		var err error
		if msg, err = sys.Take(&t, msg); err == node.ErrNoProcess {
			return settled(settle(a, asked, nil, noProcess))
		} else if err != nil {
			return err
		}
	}
	w := watchFor(a, asked)
	if t.Node == "" {
		if w.Target = t.Process; !w.arm().Call.List() {
			return gone(a, asked, t.PID, msg)
		}
		return w.started(a, func() error { return from.(sender).Send(t.PID, msg) })
	}
	if !from.Inside(process.Key{}).CallFar(w.arm(), t, body) {
		if t.ByName() {
			return settled(settle(a, asked, nil, &node.ExitError{Reason: node.NoConnection}))
		}
		return gone(a, asked, t.PID, msg)
	}
	return w.started(a, func() error { return nil })
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
