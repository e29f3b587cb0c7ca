package pool

import (
	"errors"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// The requests to a pool, and other words of its protocol.
const (
	aResize  = wire.Atom("$pool_resize")
	aWorkers = wire.Atom("$pool_workers")
	aSystem  = wire.Atom("system")
	modules  = wire.Atom("pool")
)

// front is the process that others send to. It hands each message over to a worker.
type front struct {
	q       *queue
	sys     sysmsg.System
	workers map[node.PID]*worker // those that run
	sizer   node.PID
	early   []node.Request[any] // for the sizer, while it is being started
}

// sizing tells the front that the sizer runs.
type sizing struct{ pid node.PID }

// BehaviourName is part of node.BehaviourNamer.
func (f *front) BehaviourName() string { return "pool" }

// looks is how often, within a Deadline, the front looks for workers that are stuck.
const looks = 8

// Init is part of node.Initializer.
func (f *front) Init(c *node.Context) error {
	p := c.Inside(process.Key{}).Acting().Own()
	f.workers = make(map[node.PID]*worker)
	f.q.mu.Lock()
	f.q.front = p
	f.q.mu.Unlock()
	if d := f.q.o.Deadline; d > 0 {
		if _, err := c.SendInterval(max(d/looks, time.Millisecond), c.Self(), tick{}); err != nil {
			return err
		}
	}
	return nil
}

// self returns the PID of the front, zero if it does not run yet.
func (q *queue) self() node.PID {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.front == nil {
		return node.PID{}
	}
	return q.front.PID()
}

// Receive is part of node.Actor.
func (f *front) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case joined:
		c.Monitor(m.pid)
		f.workers[m.pid] = m.w
		return nil
	case sizing:
		c.Monitor(m.pid)
		f.sizer = m.pid
		for _, r := range f.early {
			f.resize(c, r)
		}
		f.early = nil
		return nil
	case node.Down:
		if m.PID == f.sizer {
			f.sizer = node.PID{}
		}
		if w := f.workers[m.PID]; w != nil {
			delete(f.workers, m.PID)
			w.ended()
		}
		return nil
	case tick:
		f.killStuck(c)
		return nil
	}
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return f.sys.Handle(c, system{f}, r)
	}
	if r, ok := c.Node().AsRequest(msg); ok {
		return f.handle(c, r)
	}
	c.Unknown(msg)
	return nil
}

// handle handles a request for the front itself.
func (f *front) handle(c *node.Context, r node.Request[any]) error {
	if r.Body == any(aWorkers) {
		_ = r.Reply(f.q.workers())
		return nil
	}
	if !c.Node().Inside(process.Key{}).AskerOf(r.From).Operates() {
		_ = r.Fail(supervisor.ErrNotAllowed)
		return nil
	}
	f.resize(c, r)
	return nil
}

// resize hands a request on to the sizer.
func (f *front) resize(c *node.Context, r node.Request[any]) {
	if f.sizer.IsZero() {
		f.early = append(f.early, r)
		return
	}
	if err := node.Forward(c, r, f.sizer); err != nil {
		_ = r.Fail(err)
	}
}

// workers lists the workers that run.
func (q *queue) workers() wire.List {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := wire.List{}
	for _, s := range q.slots {
		if w := s.worker; w != nil && w.p != nil && !w.closed {
			all = append(all, w.p.PID())
		}
	}
	return all
}

// killStuck kills the workers that have been busy with one message for the Deadline.
func (f *front) killStuck(c *node.Context) {
	q := f.q
	for pid, w := range f.workers {
		if since := w.since.Load(); since == 0 || q.now()-since < int64(q.o.Deadline) {
			continue
		}
		c.Node().Log().Error("a pool kills a worker that has been at one message for its Deadline",
			"pool", sysmsg.DisplayName(c), "worker", pid, "deadline", q.o.Deadline)
		c.Node().Inside(process.Key{}).Count(counter.Stuck, string(c.Registered()))
		c.Exit(pid, node.Kill)
	}
}

// system is the front's interface for system messages.
type system struct{ *front }

// Module is part of sysmsg.Server.
func (s system) Module() wire.Atom { return modules }

// State is part of sysmsg.Server.
func (s system) State() any {
	var m wire.Map
	m.Put(wire.Atom("waiting"), s.q.Len())
	m.Put(wire.Atom("workers"), s.q.workers())
	return m
}

// Replace is part of sysmsg.Server.
func (s system) Replace(any) error { return errors.New("pool: the state of a pool cannot be replaced") }

// Status is part of sysmsg.Server.
func (s system) Status() any { return wire.List{s.State()} }

// ChangeCode is part of sysmsg.Server.
func (s system) ChangeCode(wire.Atom, any, any) error { return nil }

// End is part of sysmsg.Server.
func (s system) End(_ *node.Context, reason any) error { return node.ExitWith(reason) }
