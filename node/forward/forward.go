package forward

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Request hands a request on to a process, a name or an alias, and watches that process for the caller: see the package
// comment. A Request[any], as AsRequest of a Node returns it, is handed on as a Request of its body's type. If you
// have only the From, make one: node.Request[any]{Body: b, From: from}.
//
// It is no error if the worker is gone, or ends meanwhile: the caller is told. Errors: [node.ErrReplied] if the request has
// been answered, or its caller no longer waits; and those of Send, such as [node.ErrMailboxFull]. After an error of Send
// the forwarder still has the request.
func Request[T any](from node.Caller, r node.Request[T], to node.Dest) error {
	msg := any(r)
	if a, ok := msg.(node.Request[any]); ok {
		msg = from.Inside(process.Key{}).Typed(a.Body, a.From)
	}
	return hand(from, r.From.Inside(process.Key{}).Ticket(), r.Body, msg, to)
}

// sender is what every node.Caller implements.
type sender interface {
	Send(to node.Dest, msg any) error
}

// hand forwards a request: as body to another node, as msg to a process of this one.
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
