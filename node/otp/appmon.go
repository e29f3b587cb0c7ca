package otp

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

const monitorName wire.Atom = "appmon_info"

// applications are the functions of appmon_info.
func (t *tools) applications() []function {
	return []function{
		{monitorName, "start_link", []int{3}, t.startMonitor},
		{monitorName, "start_link2", []int{3}, t.startMonitor},
	}
}

// startMonitor is start_link2(Starter, Client, Options). start_link(Node, Client, Options), called on this node, does
// the same without a starter.
func (t *tools) startMonitor(ctx context.Context, args []any) (any, error) {
	starter, _ := args[0].(wire.PID)
	client, ok := args[1].(wire.PID)
	opts, ok2 := wire.AsList(args[2])
	by := t.n.Inside(process.Key{}).AskerOf(ctx)
	if !ok || !ok2 || !by.MayLink(client) {
		return nil, errBadArg
	}
	m := &monitor{t: t, starter: starter, client: client, stay: option(opts, "stay_resident", wire.AtomFalse) == wire.AtomTrue}
	pid, err := t.n.SpawnOpt(node.Options{Name: monitorName, ShowPeer: true}, node.ProcessFunc(m.run))
	if errors.Is(err, node.ErrNameTaken) {
		var known bool
		if pid, known = t.n.Whereis(monitorName); !known {
			return nil, exitIn(node.NoProc, "gen_server", "call", args)
		}
		_, err = t.ask(ctx, pid, genCall, wire.Tuple{wire.Atom("register_client"), client})
	}
	if err != nil {
		return nil, err
	}
	return wire.Tuple{wire.AtomOK, pid}, nil
}

// option finds {Name, Value} in a list.
func option(opts []any, name wire.Atom, or any) any {
	for _, o := range opts {
		if o, ok := o.(wire.Tuple); ok && len(o) == 2 && o[0] == name {
			return o[1]
		}
	}
	return or
}

// monitor is the process appmon_info: it repeats its clients' queries, and sends them each result that differs from the
// last.
type monitor struct {
	t       *tools
	starter wire.PID
	client  wire.PID // the first
	stay    bool     // run without clients

	clients map[wire.PID]bool
	work    map[string]*task
	seq     int
	load    sample
}

// task is one result that a client asks for.
type task struct {
	from  wire.PID
	kind  wire.Atom
	about any
	opts  wire.List
	old   any
	known bool // old is a result
	seq   int  // of the current timer
}

// maxInfo bounds the text about a process, in bytes: it includes the messages waiting in the mailbox.
const maxInfo = 64 << 10

// doIt says that a task is due.
type doIt struct {
	key string
	seq int
}

func key(from wire.PID, kind wire.Atom, about any) string {
	return wire.Formatter{Plain: true}.Format(wire.Tuple{from, kind, about})
}

func (m *monitor) run(p *node.Process) error {
	m.clients = map[wire.PID]bool{m.client: true}
	m.work = make(map[string]*task)
	p.TrapExit(true)
	p.Link(m.client)
	for {
		switch msg := p.Receive().(type) {
		case node.Exited:
			if done, err := m.gone(msg); done {
				return err
			}
		case doIt:
			if w := m.work[msg.key]; w != nil && w.seq == msg.seq {
				m.do(p, w)
			}
		default:
			if body, ok := node.AsCast(msg); ok {
				m.cast(p, p.Node().Inside(process.Key{}).AskerOf(msg), body)
				continue
			}
			m.answer(p, msg)
		}
	}
}

// answer replies ok to every call; {register_client, Pid} adds a client.
func (m *monitor) answer(p *node.Process, msg any) {
	r, ok := p.Node().AsRequest(msg)
	if !ok {
		return
	}
	if b, ok := r.Body.(wire.Tuple); ok && len(b) == 2 && b[0] == wire.Atom("register_client") {
		if client, ok := b[1].(wire.PID); ok && !m.clients[client] && p.Node().Inside(process.Key{}).AskerOf(r.From).MayLink(client) {
			m.clients[client] = true
			p.Link(client)
		}
	}
	r.Reply(wire.AtomOK)
}

// gone handles the exit of a client, or of the process that started this one. done: this one must exit, too.
func (m *monitor) gone(e node.Exited) (done bool, err error) {
	if e.From == m.starter || e.From.IsZero() {
		return true, node.ExitWith(e.Reason)
	}
	for k, w := range m.work {
		if w.from == e.From {
			delete(m.work, k)
		}
	}
	delete(m.clients, e.From)
	return len(m.clients) == 0 && !m.stay, nil
}

// cast handles {From, Kind, About, OnOff, Options}.
func (m *monitor) cast(p *node.Process, by peers.Account, body any) {
	c, ok := body.(wire.Tuple)
	if !ok || len(c) != 5 {
		return
	}
	from, ok1 := c[0].(wire.PID)
	kind, ok2 := c[1].(wire.Atom)
	opts, ok3 := wire.AsList(c[4])
	if !ok1 || !ok2 || !ok3 || !by.MayReach(from) {
		return
	}
	k := key(from, kind, c[2])
	old := m.work[k]
	delete(m.work, k)
	if c[3] != wire.AtomTrue {
		return
	}
	w := &task{from: from, kind: kind, about: c[2], opts: opts}
	if old != nil { // new options first
		w.opts = append(append(wire.List{}, opts...), old.opts...)[:min(len(opts)+len(old.opts), maxOptions)]
	}
	m.work[k] = w
	m.do(p, w)
}

// maxOptions bounds how many options a task collects; there are five.
const maxOptions = 32

const defaultRepeat = 2000 // ms

// do runs a task, and schedules its next run.
func (m *monitor) do(p *node.Process, w *task) {
	result := m.result(p.Context(), w)
	if !w.known || !wire.Equal(result, w.old) {
		p.SendOpt(node.SendOptions{NoWait: true}, w.from, wire.Tuple{wire.Atom("delivery"), p.Self(), w.kind, w.about, result})
	}
	w.old, w.known = result, true
	k := key(w.from, w.kind, w.about)
	ms, ok := wire.AsInt(option(w.opts, "timeout", defaultRepeat))
	if !ok || ms < 0 || ms > maxInterval { // at_most_once
		delete(m.work, k)
		return
	}
	m.seq++
	w.seq = m.seq
	p.SendAfter(time.Duration(max(ms, 1))*time.Millisecond, p.Self(), doIt{k, w.seq})
}

func (m *monitor) result(ctx context.Context, w *task) any {
	switch w.kind {
	case "app_ctrl":
		return m.t.runningApplications(ctx)
	case "app":
		return m.t.tree(ctx, w.about, option(w.opts, "info_type", wire.Atom("link")))
	case "load":
		return m.calcLoad(w)
	case "pinfo":
		info := wire.Charlist("")
		if pid, ok := w.about.(wire.PID); ok {
			if all, err := m.t.all(pid); err == nil {
				info = wire.Charlist("Node: " + wire.Format(m.t.n.Name()) + ", Process: " + wire.Format(pid) + "\n" +
					wire.Formatter{Max: maxInfo}.Format(all) + "\n\n")
			}
		}
		return info
	}
	return w.about
}

// runningApplications returns [{Master, Name, {Name, Description, Version}}] of the running applications.
func (t *tools) runningApplications(ctx context.Context) any {
	v, err := rpc.Apply(ctx, t.n, "application", "which_applications", nil)
	all, _ := wire.AsList(v)
	l := wire.List{}
	for _, a := range all {
		a, ok := a.(wire.Tuple)
		if !ok || err != nil || len(a) == 0 {
			continue
		}
		if master, ok := t.master(ctx, a[0]); ok {
			l = append(l, wire.Tuple{master, a[0], a})
		}
	}
	return l
}

// master finds the process at the top of an application.
func (t *tools) master(ctx context.Context, name any) (wire.PID, bool) {
	v, err := rpc.Apply(ctx, t.n, "application_controller", "get_master", []any{name})
	pid, ok := v.(wire.PID)
	return pid, ok && err == nil
}

// sample is a measurement to compute the load from.
type sample struct {
	at  time.Time
	cpu time.Duration
}

// loadRange is the greatest load.
const loadRange = 16

// calcLoad returns {Old, New}, from 0 to 16.
func (m *monitor) calcLoad(w *task) any {
	cpu, _ := usage()
	now := m.t.cfg.Now()
	last := m.load
	m.load = sample{now, cpu}
	if last.at.IsZero() {
		last.at = m.t.born
	}
	busy := float64(queue()) / 6
	if option(w.opts, "load_method", wire.Atom("time")) == wire.Atom("time") {
		if d := now.Sub(last.at); d > 0 {
			busy += float64(cpu-last.cpu) / float64(d)
		}
	}
	if option(w.opts, "load_scale", wire.Atom("prog")) == wire.Atom("prog") {
		busy = math.Sqrt(busy / 0.9)
	}
	l := int(min(loadRange*busy, loadRange))
	old := 0
	if o, ok := w.old.(wire.Tuple); ok {
		old = o[1].(int)
	}
	return wire.Tuple{old, l}
}
