package forward

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// watch watches the worker until the request is answered. It is a call: to a worker on this node, which only the
// worker's exit settles; or to one on another node, which its answer settles, too.
//
//	armed      nobody has settled it
//	over       by the worker's end, or its answer from another node: that settles the request
//	forgotten  the request was answered in another way, or forwarded again
//
// The first to come decides, by the promise of the call, and then by the promise of the request.
type watch struct {
	process.Call
	process.Watches
	asked  process.Ticket // the request
	ticket process.Ticket // of the call
}

// errForgotten settles a watch that is no longer needed.
var errForgotten = errors.New("forward: the request is answered")

func watchFor(a *process.Acting, asked process.Ticket) *watch {
	w := &watch{asked: asked}
	w.System, w.More = a.System, &w.Watches
	w.Watches.Add(a, w.over)
	return w
}

func (w *watch) arm() process.Ticket {
	w.ticket = w.NewTicket()
	return w.ticket
}

// over is called when the watch is settled.
func (w *watch) over(a *process.Acting) {
	v, err := w.Call.Result()
	if err == errForgotten {
		return
	}
	settle(a, w.asked, v, err)
}

// settle settles a request. If err is the end of the worker, the caller's node is told that.
func settle(a *process.Acting, asked process.Ticket, v any, err error) bool {
	if asked.Call.Far != nil {
		exit, ok := err.(*node.ExitError)
		if errors.Is(err, node.ErrNoName) {
			exit, ok = noProcess, true
		}
		if ok {
			err = &end{asked, exit}
		}
	}
	return asked.Settle(a, v, err)
}

// Forget is part of calls.Watch.
func (w *watch) Forget() { w.forget() }

// forget reports whether the watch was armed.
func (w *watch) forget() bool { return w.ticket.Settle(&w.System.Plain, nil, errForgotten) }

// started finishes forwarding: the watch is armed, and send sends the request.
func (w *watch) started(a *process.Acting, send func() error) error {
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
func (w *watch) late() error {
	if w.ticket.Done() { // else somebody may be writing the result
		if _, err := w.Call.Result(); err != errForgotten {
			return nil
		}
	}
	return node.ErrReplied
}

// unsent returns the error of forwarding after send failed with err: nil if the worker has ended, and the caller is told.
func (w *watch) unsent(a *process.Acting, err error) error {
	asked := w.asked
	switch {
	case asked.Call.Unforward(asked.N, w):
		if !w.forget() {
			return nil // over settles the request
		}
	case asked.Call.Waiting(asked.N):
		return err // another has forwarded the request: that watch stays
	default:
		return w.late()
	}
	if reason, ended := ended(a); ended { // its exit has perhaps left the request to the watch
		settle(a, asked, nil, &node.ExitError{Reason: reason})
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

// callerOf returns the node of the caller, the caller, and the reference of its monitor if it calls by gen:call. ok is
// false if that node is not connected.
func callerOf(asked process.Ticket) (q *peers.Peer, pid wire.PID, ref wire.Ref, ok bool) {
	from := peers.FarCallerOf(asked.Call).From
	ref = from.Alias
	if !from.ToAlias {
		ref, _ = from.Term()[1].(wire.Ref)
	}
	q, _ = asked.Call.System.Host.Remotes.Now(from.PID).(*peers.Peer)
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
func (m *callerMonitor) Forget() { m.asked.Call.Promise.Forget(m.asked.N) }

// takeOver moves the caller's monitor from the forwarder to the worker. It takes over no other monitor: a
// peer that makes requests in the name of others could take theirs away.
func (w *watch) takeOver(forwarder *process.Process) {
	q, from, ref, ok := callerOf(w.asked)
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
		taken.Forget()
	}
}

// end is the end of the worker, for a caller on another node.
type end struct {
	asked process.Ticket
	*node.ExitError
}

// Tell is part of calls.End. takeOver may replace the monitor that Tell has found: then Tell looks
// again.
func (e *end) Tell() error {
	q, pid, ref, ok := callerOf(e.asked)
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
