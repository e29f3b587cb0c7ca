package global

import (
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/wire"
)

// Name is what the name server is registered as.
const Name wire.Atom = "global_name_server"

// Host is the process of the name server, as the Driver uses it.
type Host interface {
	// Send sends a message that nothing holds up; with connect the node is connected, else it is
	// sent to one that is.
	Send(to wire.Dest, msg any, connect bool)
	// Monitor watches a process of another node, or a name, as Send reaches it. The end is told to Down.
	Monitor(to wire.Dest, connect bool) wire.Ref
	Demonitor(ref wire.Ref)
	// Watch has the end of a process of this node told as an Ended, at once if it has ended; on false: no longer.
	Watch(pid wire.PID, on bool)
	Reply(from, v any)
	// Start does what takes a while beside the process, which gets what do returns as a message: on account of a node, whose rights
	// it has; "": of this one.
	Start(by wire.Atom, do func(w Worker) any)
	// Later has the process get a message.
	Later(d time.Duration, msg any)
}

// Worker is what Host.Start gives: it may wait.
type Worker interface {
	Connect(node wire.Atom) bool
	Disconnect(node wire.Atom)
	// Apply calls a function that a node exports.
	Apply(node, module, function wire.Atom, args []any) (any, error)
}

// What the driver, or its Host, sends to the process.
type (
	Ended     wire.PID // a process of this node has ended that is watched
	timeout   uint64
	connected struct {
		node wire.Atom
		ok   bool
	}
	resolved struct {
		id uint64
		v  any
		ok bool
	}
)

// Requests of Go code to the name server. The answer to the first two is a bool, to Syncing true, to Leaving the
// nodes.
type (
	Registering struct {
		Name   any
		PID    wire.PID
		Method any
		Again  bool
	}
	Unregistering struct{ Name any }
	Syncing       struct{ Nodes []wire.Atom }
	Leaving       struct{}
	Pausing       struct{ Times int } // the answer comes when a lock that was refused so many times is to be tried again
	Looking       struct{}            // the answer is a State
)

// State is what the name server knows of other nodes.
type State struct {
	Known, Synced []wire.Atom
	Unreached     []wire.Atom
	Locks         int
	Quiet         bool
}

// FromHelper is a message that has come to the locker or the registrar, which hand on what they get.
type FromHelper struct {
	Via wire.Atom
	Msg any
}

// Driver is the process of the name server: it gives the Machine what happens, and does what it
// wants. The process calls all its methods.
type Driver struct {
	m     *Machine
	log   *slog.Logger
	asked map[wire.Ref]uint64
	pids  map[wire.PID]wire.Ref // monitors of processes of other nodes
}

// NewDriver returns the driver of a name server that has just started.
func NewDriver(cfg Config, log *slog.Logger) *Driver {
	return &Driver{m: New(cfg), log: log, asked: map[wire.Ref]uint64{}, pids: map[wire.PID]wire.Ref{}}
}

// NodeUp and NodeDown are told what becomes of connections to visible nodes.
func (d *Driver) NodeUp(h Host, node wire.Atom) { d.m.NodeUp(node); d.act(h) }

// NodeDown comes after Down of all that hung on the connection.
func (d *Driver) NodeDown(h Host, node wire.Atom) { d.m.NodeDown(node); d.act(h) }

// Down is the end of what Monitor watches.
func (d *Driver) Down(h Host, ref wire.Ref, pid wire.PID) {
	if id, ok := d.asked[ref]; ok {
		delete(d.asked, ref)
		d.m.Answered(id, nil, false)
	} else if d.pids[pid] == ref {
		delete(d.pids, pid)
		d.m.Gone(pid)
	}
	d.act(h)
}

// Request is a call, by a process of this node or another.
func (d *Driver) Request(h Host, from any, by wire.PID, body any) {
	done := func(ok bool) { d.m.do(Action{Kind: Reply, From: from, Msg: ok}) }
	switch r := body.(type) {
	case Registering:
		d.m.Register(r.Name, r.PID, r.Method, r.Again, done)
	case Unregistering:
		d.m.Unregister(r.Name, func() { done(true) })
	case Syncing:
		d.m.Sync(r.Nodes, func() { done(true) })
	case Pausing:
		d.m.after(d.m.pause(min(max(r.Times, 0), 100)), func() { done(true) })
	case Leaving:
		h.Reply(from, d.m.DisconnectAll())
	case Looking:
		h.Reply(from, d.State())
	default:
		d.m.Call(from, by, body)
	}
	d.act(h)
}

// State is what Looking is answered with.
func (d *Driver) State() State {
	return State{d.m.Known(), d.m.Synced(), d.m.Unreached(), d.m.Locks(), d.m.Quiet()}
}

// Cast is a cast that has come over the connection of a node; "": from this one.
func (d *Driver) Cast(h Host, via wire.Atom, body any) { d.m.Cast(via, body); d.act(h) }

// Message is any other message.
func (d *Driver) Message(h Host, via wire.Atom, msg any) {
	switch msg := msg.(type) {
	case Ended:
		d.m.Gone(wire.PID(msg))
	case timeout:
		d.m.Timeout(uint64(msg))
	case connected:
		d.m.Connected(msg.node, msg.ok)
	case resolved:
		d.m.Answered(msg.id, msg.v, msg.ok)
	case FromHelper:
		if !d.answered(h, msg.Msg) {
			d.m.Info(msg.Via, msg.Msg)
		}
	case nil:
	default:
		if !d.answered(h, msg) {
			d.m.Info(via, msg)
		}
	}
	d.act(h)
}

// answered takes {Ref, Value}, the answer to a question.
func (d *Driver) answered(h Host, msg any) bool {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return false
	}
	ref, ok := t[0].(wire.Ref)
	if !ok {
		return false
	}
	if id, asked := d.asked[ref]; asked {
		delete(d.asked, ref)
		h.Demonitor(ref)
		d.m.Answered(id, t[1], true)
	}
	return true // a late one finds nobody
}

// act does what the machine wants.
func (d *Driver) act(h Host) {
	for actions := d.m.Take(); len(actions) > 0; actions = d.m.Take() {
		for _, a := range actions {
			d.do(h, a)
		}
	}
}

func (d *Driver) watch(h Host, pid wire.PID, on bool) {
	switch ref, ok := d.pids[pid]; {
	case pid.Node() == d.m.cfg.Self:
		h.Watch(pid, on)
	case on:
		d.pids[pid] = h.Monitor(pid, true)
	case ok:
		delete(d.pids, pid)
		h.Demonitor(ref)
	}
}

func (d *Driver) do(h Host, a Action) {
	switch a.Kind {
	case Send:
		h.Send(wire.At{Name: Name, Node: a.Node}, a.Msg, false)
	case SendTo:
		h.Send(a.PID, a.Msg, false)
	case Reply:
		h.Reply(a.From, a.Msg)
	case Ask, AskThere:
		to := wire.At{Name: Name, Node: a.Node}
		ref := h.Monitor(to, a.Kind == Ask)
		d.asked[ref] = a.ID
		h.Send(to, calls.MakeCall(wire.Tuple{a.PID, ref}, a.Msg), a.Kind == Ask)
	case Watch, Unwatch: // a process of this node by a mark, another one by a monitor
		d.watch(h, a.PID, a.Kind == Watch)
	case Connect:
		h.Start("", func(w Worker) any { return connected{a.Node, w.Connect(a.Node)} })
	case Disconnect:
		h.Start("", func(w Worker) any { w.Disconnect(a.Node); return nil })
	case Resolve:
		c := a.Msg.(Clash)
		h.Start(c.By, func(w Worker) any {
			v, err := w.Apply(a.Node, "global", "resolve_it", []any{c.Method, c.Name, c.His, c.Ours})
			return resolved{a.ID, v, err == nil}
		})
	case After:
		h.Later(a.Delay, timeout(a.ID))
	case Warn:
		d.log.Warn(a.Msg.(string), "peer", string(a.Node))
	case Inform:
		d.log.Info(a.Msg.(string), "peer", string(a.Node))
	}
}
