package node

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// A request that is handed on: the caller makes it, the forwarder hands it on, and the worker gets it.
//
//  1. The caller gets one answer: the worker's answer, or the worker's end, whichever comes first.
//  2. When the caller has its answer, or no longer waits, nothing of the watch is left here.
//  3. A request that could not be handed on stays with the forwarder: it answers, or tries another worker.
//
// To a worker on another node the forwarder's node makes a call of its own: From.Caller is the forwarder there, and the
// answer comes back through this node.
//
// A caller on another node monitors the process that it called. If that is the forwarder, Forward takes the monitor
// over: it no longer reports the forwarder's end; the end of the worker fires it, as a Down with the forwarder's PID. So
// gen_server:call of OTP exits with the worker's reason, as if it had called the worker. If another process forwards
// the request, the Down comes as well, but the end of the process that was called still ends the call. A caller without
// a monitor that has the reference of its request, as callers by OTP's module gen have, gets a reply: {error, Reason}.

// workerWatch watches the worker until the request is answered. It is a call: to a worker on this node, which only the
// worker's exit settles; or to one on another node, which its answer settles, too.
//
//	armed      nobody has settled it
//	over       by the worker's end, or its answer from another node: that settles the request
//	forgotten  the request was answered in another way, or forwarded again
//
// The first to come decides, by the promise of the call, and then by the promise of the request.
type workerWatch struct {
	process.Call
	process.Watches
	asked  process.Ticket // the request
	ticket process.Ticket // of the call
}

// errForgotten settles a watch that is no longer needed.
var errForgotten = errors.New("node: the request is answered")

func watchWorker(a *process.Acting, asked process.Ticket) *workerWatch {
	w := &workerWatch{asked: asked}
	w.System, w.More = a.System, &w.Watches
	w.Watches.Add(a, w.over)
	return w
}

func (w *workerWatch) arm() process.Ticket {
	w.ticket = w.NewTicket()
	return w.ticket
}

// over is called when the watch is settled.
func (w *workerWatch) over(a *process.Acting) {
	v, err := w.Call.Result()
	if err == errForgotten {
		return
	}
	settleForwarded(a, w.asked, v, err)
}

// settleForwarded settles a request. If err is the end of the worker, the caller's node is told that.
func settleForwarded(a *process.Acting, asked process.Ticket, v any, err error) bool {
	if asked.Call.Far != nil {
		exit, ok := err.(*ExitError)
		if errors.Is(err, ErrNoName) {
			exit, ok = noProcess, true
		}
		if ok {
			err = &workerEnd{asked, exit}
		}
	}
	return asked.Settle(a, v, err)
}

// Forget is part of calls.Watch.
func (w *workerWatch) Forget() { w.forget() }

// forget reports whether the watch was armed.
func (w *workerWatch) forget() bool { return w.ticket.Settle(&w.System.Plain, nil, errForgotten) }

// started finishes forwarding: the watch is armed, and send sends the request.
func (w *workerWatch) started(a *process.Acting, send func() error) error {
	asked := w.asked
	if !asked.Call.Forward(asked.N, w) {
		w.Forget()
		return w.late()
	}
	if err := send(); err != nil {
		return w.unsent(a, err)
	}
	if asked.Call.Far != nil {
		w.takeOver(a.Process)
	}
	return nil
}

// late returns the error for forwarding a settled request: nil if the worker's end or answer settled it.
func (w *workerWatch) late() error {
	if w.ticket.Done() { // else somebody may be writing the result
		if _, err := w.Call.Result(); err != errForgotten {
			return nil
		}
	}
	return ErrReplied
}

// unsent returns the error of forwarding after send failed with err: nil if the worker has ended, and the caller is told.
func (w *workerWatch) unsent(a *process.Acting, err error) error {
	asked := w.asked
	switch {
	case asked.Call.Unforward(asked.N, w):
		if !w.forget() {
			return nil // over settles the request, or another has settled it
		}
	case asked.Call.Waiting(asked.N):
		return err // another has forwarded the request: that watch stays
	default:
		return w.late()
	}
	if reason, ended := ended(a); ended { // its exit has perhaps left the request to the watch
		settleForwarded(a, asked, nil, &ExitError{Reason: reason})
	}
	return err
}

// ended reports whether the process that acts has exited, and why.
func ended(a *process.Acting) (reason any, ok bool) {
	if a.Process == nil {
		return nil, false
	}
	return a.Process.Ended()
}

// farCaller returns the node of the caller, the caller, and the reference of its monitor if it calls by gen:call. ok is
// false if that node is not connected.
func farCaller(asked process.Ticket) (q *peers.Peer, pid wire.PID, ref wire.Ref, ok bool) {
	from := peers.FarCallerOf(asked.Call).From
	ref = from.Alias
	if !from.ToAlias {
		ref, _ = from.Term()[1].(wire.Ref)
	}
	q = nodeOf(asked.Call.System).peers.Connected(from.PID)
	return q, from.PID, ref, q != nil && !ref.IsZero()
}

// callerMonitor is a caller's monitor over the forwarder after takeOver: it is no longer among the
// forwarder's monitors.
type callerMonitor struct {
	*process.Monitor
	asked process.Ticket
}

// Forget is part of peers.Monitor: the caller has removed the monitor, or its node is lost. It no longer waits, or has
// its answer.
func (m *callerMonitor) Forget() {
	m.Monitor.End()
	m.asked.Call.Promise.Forget(m.asked.N)
}

// takeOver moves the caller's monitor from the forwarder to the worker. It takes over no other monitor: a
// peer that makes requests in the name of others could take theirs away.
func (w *workerWatch) takeOver(forwarder *process.Process) {
	q, from, ref, ok := farCaller(w.asked)
	if !ok {
		return
	}
	var taken *process.Monitor
	q.Exchange(ref, func(m peers.Monitor) peers.Monitor {
		if own, ok := m.(*process.Monitor); ok && forwarder != nil && own.Target == forwarder && own.By == from {
			taken = own
			return &callerMonitor{own, w.asked}
		}
		return m
	})
	if taken != nil {
		taken.Detach()
	}
}

// workerEnd is the end of the worker, for a caller on another node.
type workerEnd struct {
	asked process.Ticket
	*ExitError
}

// Tell is part of calls.End. takeOver may replace the monitor that Tell has found: then Tell looks
// again.
func (e *workerEnd) Tell() error {
	q, pid, ref, ok := farCaller(e.asked)
	if !ok {
		return e.ExitError
	}
	for {
		var there peers.Monitor
		q.Exchange(ref, func(m peers.Monitor) peers.Monitor {
			there = m
			return m
		})
		var m *process.Monitor
		switch there := there.(type) {
		case *process.Monitor:
			m = there
		case *callerMonitor:
			m = there.Monitor
		default:
			return e.ExitError
		}
		if m.By != pid {
			return e.ExitError
		}
		f := dist.Frame{Op: dist.OpDown, Name: m.Name, To: m.By, Ref: ref, Payload: q.System.Values.Outward(e.Reason)}
		if m.Target != nil {
			f.From = m.Target.PID()
		}
		if q.PutDown(there, f) {
			m.Forget()
			return nil
		}
	}
}
