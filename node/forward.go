package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
)

// Forward hands a request on to a process, the worker, and watches it for the caller: if the worker exits before it
// answers, the caller's call fails at once. Without Forward, a request that is sent on as a message leaves the caller
// waiting in that case, as in OTP. Nothing changes for the caller, nor for the worker: it gets a request like any other.
//
//	func (f *front) Receive(c *node.Context, msg any) error {
//		if r, ok := msg.(node.Request[Job]); ok {
//			return node.Forward(c, r, f.next())
//		}
//		return nil
//	}
//
// What the caller gets:
//
//	the worker exits                    an [*ExitError] with its reason
//	the worker was gone                 an [*ExitError], noproc: errors.Is it [ErrNoProcess]
//	the connection to it is lost        an [*ExitError], noconnection
//	nobody has the name, on its node    [ErrNoName]; a caller on another node gets noproc
//
// A Request[any], as AsRequest of a Node returns it, is handed on as a Request of its body's type. If you have only the
// From, make one: Request[any]{Body: b, From: from}.
//
// It is no error if the worker is gone, or ends meanwhile: the caller is told. Errors: [ErrReplied] if the request has
// been answered, or its caller no longer waits; and those of Send, such as [ErrMailboxFull]. After an error of Send the
// request is still the forwarder's to answer. The end of the forwarder does not end a call that it has handed on.
//
// A worker on another node answers through this one: if the connection to this node is lost, the caller sees the loss
// of the node that it called. A worker of this node that had the request before, and handed it on, can still answer it.
// With [Config].DetectCycles the caller counts as waiting for the forwarder.
func Forward[T any](from Caller, r Request[T], to Dest) error {
	msg := any(r)
	if a, ok := msg.(Request[any]); ok {
		msg = nodeOf(actingOf(from).System).types.maker(a.Body).request(a.Body, a.From)
	}
	if err := actingOf(from).MaySend(to, r.Body, true); err != nil {
		return err
	}
	return forward(from, r.From.t, r.Body, msg, to)
}

// forward forwards a request that has been checked: as body to another node, as msg to a process of this one.
func forward(from Caller, asked process.Ticket, body, msg any, to Dest) error {
	a := actingOf(from)
	if a.Gone() {
		return ErrExited
	}
	if !asked.Pending() {
		return ErrReplied
	}
	sys := a.System
	t := sys.Target(to)
	if t.Node == "" {
		var err error
		if msg, err = sys.Take(&t, msg); err == ErrNoProcess {
			return forwarded(settleForwarded(a, asked, nil, noProcess))
		} else if err != nil {
			return err
		}
	}
	w := watchWorker(a, asked)
	if t.Node == "" {
		if w.Target = t.Process; !w.arm().Call.List() {
			return workerGone(a, asked, t.PID, msg)
		}
		return w.started(a, func() error { return a.SendTo(t.Process, msg) })
	}
	if !nodeOf(sys).peers.Call(a, true, w.arm(), t, body, a.Process.Token()) {
		if t.ByName() {
			return forwarded(settleForwarded(a, asked, nil, &ExitError{Reason: NoConnection}))
		}
		return workerGone(a, asked, t.PID, msg)
	}
	return w.started(a, func() error { return nil })
}

// noProcess is what the caller gets if the worker is gone.
var noProcess = &ExitError{Reason: NoProc}

// workerGone answers a request whose worker is gone. The request is a dead letter.
func workerGone(a *process.Acting, asked process.Ticket, pid PID, msg any) error {
	ok := settleForwarded(a, asked, nil, noProcess)
	if err := a.System.Undeliverable(pid, msg); err != nil {
		return err
	}
	return forwarded(ok)
}

// forwarded returns the error of Forward: ok says that the request had no answer yet.
func forwarded(ok bool) error {
	if ok {
		return nil
	}
	return ErrReplied
}
