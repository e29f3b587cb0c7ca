package global

import (
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/wire"
)

// Name is the registered name of the name server.
const Name wire.Atom = "global_name_server"

// Host is the process of the name server, as used by the Driver.
type Host interface {
	// Send sends a message without waiting; if connect is set the node is connected, otherwise the message is sent only if it is
	// connected.
	Send(to wire.Dest, msg any, connect bool)
	// Monitor monitors a process of another node, or a name, with connect as for Send. Its exit is reported to Down.
	Monitor(to wire.Dest, connect bool) wire.Ref
	Demonitor(ref wire.Ref)
	// Watch makes the exit of a process of this node be reported as an Ended, at once if it has exited; if on is false, no
	// longer.
	Watch(pid wire.PID, on bool)
	Reply(from, v any)
	// Start runs do concurrently, and sends its result to the process as a message: on behalf of the node by, with its rights,
	// or of this one if by is "".
	Start(by wire.Atom, do func(w Worker) any)
	// Later sends the process a message after d.
	Later(d time.Duration, msg any)
}

// Worker is the argument of functions run by Host.Start: its methods may wait.
type Worker interface {
	Connect(node wire.Atom) bool
	Disconnect(node wire.Atom)
	// Apply calls a function that a node exports.
	Apply(node, module, function wire.Atom, args []any) (any, error)
}

// Messages of the driver, or its Host, to the process.
type (
	Ended     wire.PID // a watched process of this node has exited
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

// Requests of Go code to the name server. The answer to the first two is a bool, to Syncing true, to Leaving the nodes.
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
	Pausing       struct{ Times int } // the answer comes when a lock that was refused so often must be tried again
	Looking       struct{}            // the answer is a State
)

// State is what the name server knows of other nodes.
type State struct {
	Known, Synced []wire.Atom
	Unreached     []wire.Atom
	Locks         int
	Quiet         bool
}

// FromHelper is a message that was received by the locker or the registrar, which forward their messages.
type FromHelper struct {
	Via wire.Atom
	Msg any
}

// Driver is the process of the name server: it passes events to the Machine, and carries out its actions. Only the process
// calls its methods.
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

// NodeUp and NodeDown report the connections to visible nodes.
func (d *Driver) NodeUp(h Host, node wire.Atom) { d.m.NodeUp(node); d.act(h) }

// NodeDown is called after Down for everything that depended on the connection.
func (d *Driver) NodeDown(h Host, node wire.Atom) { d.m.NodeDown(node); d.act(h) }

// Down reports the exit of what Monitor monitors.
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

// Request handles a call, by a process of this node or another.
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

// State returns the answer to Looking.
func (d *Driver) State() State {
	return State{d.m.Known(), d.m.Synced(), d.m.Unreached(), d.m.Locks(), d.m.Quiet()}
}

// Cast handles a cast received over the connection of the node via, or from this one if via is "".
func (d *Driver) Cast(h Host, via wire.Atom, body any) { d.m.Cast(via, body); d.act(h) }

// Message handles any other message.
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

// answered handles {Ref, Value}, the answer to a request.
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
	return true // a late one is discarded
}

// act carries out the actions of the machine.
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
