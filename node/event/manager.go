package event

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Words of the protocol; see gen_event in OTP's stdlib.
const (
	aNotify     wire.Atom = "notify"
	aSyncNotify wire.Atom = "sync_notify"
	aCall       wire.Atom = "call"
	aAdd        wire.Atom = "add_handler"
	aAddSup     wire.Atom = "add_sup_handler"
	aDelete     wire.Atom = "delete_handler"
	aSwap       wire.Atom = "swap_handler"
	aSwapSup    wire.Atom = "swap_sup_handler"
	aWhich      wire.Atom = "which_handlers"
	aModules    wire.Atom = "get_modules"
	aStop       wire.Atom = "stop"
	aSwapped    wire.Atom = "swapped"
	aExit       wire.Atom = "EXIT"
)

// Config of a manager. The zero value works.
type Config struct {
	// Modules makes a handler from a module's name and arguments, for requests from
	// Erlang processes: a handler module's init. Default: such requests
	// fail. The manager's process reads it while it lives.
	Modules map[node.Atom]func(args any) (Handler, error)
}

// New makes a manager. Spawn it once: with node.SpawnWait, by a supervisor, or
// with Start.
func New(cfg Config) node.Actor { return &manager{cfg: cfg} }

// Start starts a manager without handlers: start of gen_event, or start_link with
// Options.Link. See [node.SpawnWait] for the errors.
func Start(ctx context.Context, from node.Caller, cfg Config, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, New(cfg))
}

// manager is a manager as an Actor.
type manager struct {
	handlers
	cfg   Config
	c     *node.Context
	seq   int     // counts handlers that were added without an ID
	call  Context // of the handler that runs
	sys   sysmsg.System
	child bool // started with a link to its parent, whose exit ends it
}

// entry is a handler in a manager.
type entry struct {
	id    ID
	h     Handler
	owner node.PID // zero: none

	all, same, owned tables.ListEntry[entry] // of handlers
}

// listens reports whether the handler is a Listener.
func (e *entry) listens() bool {
	_, ok := e.h.(Listener)
	return ok
}

// maker makes a handler to add.
type maker func() (Handler, error)

func given(h Handler) maker { return func() (Handler, error) { return h, nil } }

// made makes a handler from a module's name.
func (m *manager) made(id ID, args any) maker {
	return func() (Handler, error) {
		if make := m.cfg.Modules[id.Module]; make != nil {
			return make(args)
		}
		return nil, &undefError{id.Module, args}
	}
}

// undefError says that there is no such module.
type undefError struct {
	module wire.Atom
	args   any
}

func (e *undefError) Error() string { return fmt.Sprintf("%v: %s", errNoModule, e.module) }
func (e *undefError) Unwrap() error { return errNoModule }

// Term is the error that Erlang's init would fail with.
func (e *undefError) Term() any {
	return wire.Tuple{aExit, wire.Tuple{wire.Atom("undef"),
		wire.List{wire.Tuple{e.module, wire.Atom("init"), wire.List{e.args}, wire.List{}}}}}
}

// BehaviourName is part of node.BehaviourNamer.
func (m *manager) BehaviourName() string { return "event.Manager" }

// Init is part of node.Initializer.
func (m *manager) Init(c *node.Context) error {
	c.TrapExit(true)
	if p := c.Parent(); !p.IsZero() {
		m.child = c.Inside(process.Key{}).Linked(p)
	}
	return nil
}

// Receive is part of node.Actor.
func (m *manager) Receive(c *node.Context, msg any) (err error) {
	m.c = c
	ended := false
	defer func() {
		if !ended { // a handler called runtime.Goexit; a panic ends only the handler
			err = m.ends(node.Panicked(nil))
		}
	}()
	err = m.receive(msg)
	ended = true
	return err
}

func (m *manager) receive(msg any) error {
	if r, ok := sysmsg.Parse(m.c.Node(), msg); ok {
		m.sys.Alone = !m.child
		return m.sys.Handle(m.c, systemOf{m}, r)
	}
	exit, exited := msg.(node.Exited)
	if exited && (m.child && exit.From == m.c.Parent() || sysmsg.IsStop(exit)) {
		return m.ends(exit.Reason)
	}
	if m.sys.Debugging() {
		m.sys.In(m.c, msg)
	}
	switch v := msg.(type) {
	case notifyRequest:
		m.notify(v.event)
		return nil
	case detach:
		if e := m.find(v.id); e != nil && e.h == v.h {
			m.terminate(e, End{How: Removed}, node.Normal)
		}
		return nil
	case wire.Tuple:
		if len(v) == 2 && v[0] == aNotify {
			m.notify(v[1])
			return nil
		}
	}
	if r, ok := m.request(msg); ok {
		return m.answer(r)
	}
	if exited {
		for e := range m.of(exit.From) {
			m.terminate(e, End{OwnerGone, exit.Reason}, node.Shutdown)
		}
	}
	m.inform(msg, exited)
	return nil
}

// notify hands an event to all handlers.
func (m *manager) notify(event any) {
	for e := range m.all() {
		m.run(e, event, func(c *Context) error { return e.h.HandleEvent(c, event) })
	}
}

// inform passes any other message to the handlers that are a Listener.
func (m *manager) inform(msg any, exited bool) {
	if m.listen > 0 {
		for e := range m.all() {
			if l, ok := e.h.(Listener); ok {
				m.run(e, msg, func(c *Context) error { return l.HandleInfo(c, msg) })
			}
		}
		return
	}
	if log := m.c.Node().Log(); !exited && log.Enabled(context.Background(), slog.LevelWarn) {
		log.Warn("unexpected message", "manager", sysmsg.DisplayName(m.c), "message", sysmsg.Brief(m.c.Node(), msg))
	}
}

// run runs a method of a handler and acts on its result. It returns the error that
// removed the handler, or nil.
func (m *manager) run(e *entry, last any, f func(*Context) error) error {
	err := m.attempt(e.id, f)
	swap := m.call.swap
	m.call.swap = nil
	switch {
	case err == nil && swap != nil:
		m.replace(e, swap)
	case err == nil:
	case errors.Is(err, ErrRemove):
		m.terminate(e, End{How: Removed}, node.Normal)
	default:
		m.failed(e, last, err)
		return err
	}
	return nil
}

// attempt runs a handler's code and turns a panic into an error.
func (m *manager) attempt(id ID, f func(*Context) error) (err error) {
	m.call = Context{ActorContext: m.c, id: id}
	returned := false
	defer func() {
		if !returned {
			if cause := recover(); cause != nil {
				err = node.ExitWith(node.Panicked(cause))
			}
		}
	}()
	err = f(&m.call)
	returned = true
	return err
}

// failed removes a handler after its own error.
func (m *manager) failed(e *entry, last any, err error) {
	reason := node.ReasonOf(err)
	m.report(e, last, reason)
	var arg any = err
	if calls.IsExit(err) {
		arg = reason
	}
	m.terminate(e, End{Failed, arg}, reason)
}

// terminate removes a handler, ends it and returns what its Terminate returns. reason is for
// its owner.
func (m *manager) terminate(e *entry, end End, reason any) (answer any, err error) {
	m.handlers.remove(e)
	return m.finish(e, end, reason)
}

// finish is terminate for a handler that is not in the manager, or is about to be replaced.
func (m *manager) finish(e *entry, end End, reason any) (answer any, err error) {
	answer = wire.AtomOK
	if t, ok := e.h.(Terminator); ok {
		err = m.attempt(e.id, func(c *Context) error {
			answer = t.Terminate(c, end)
			return nil
		})
		if err != nil {
			answer = wire.Tuple{aExit, node.ReasonOf(err)}
			m.report(e, aStop, node.ReasonOf(err))
			err = &node.ExitError{Reason: node.ReasonOf(err)}
		}
	}
	if !e.owner.IsZero() && end.How != OwnerGone {
		m.c.SendOpt(node.SendOptions{NoWait: true}, e.owner, Exit{e.id, reason})
	}
	return answer, err
}

// report logs that a handler has failed.
func (m *manager) report(e *entry, last, reason any) {
	if log := m.c.Node().Log(); log.Enabled(context.Background(), slog.LevelError) {
		attrs := []any{"handler", e.id.text(), "manager", sysmsg.DisplayName(m.c), "process", m.c.Self().String(), "last_message",
			sysmsg.Brief(m.c.Node(), last), "state", sysmsg.BriefState(e.h), "reason", sysmsg.Words(reason)}
		if crash, ok := reason.(*node.Crash); ok && len(crash.Stack) > 0 {
			attrs = append(attrs, "stack", string(crash.Stack))
		}
		log.Error("event handler terminated", attrs...)
	}
}

// add adds a handler. from is what it inherits in a swap; nil if it is not part of
// a swap.
func (m *manager) add(id ID, make maker, owner node.PID, from *inheritance) (ID, error) {
	e, err := m.begin(id, make, owner, from)
	if err != nil {
		return ID{}, err
	}
	m.handlers.add(e)
	return e.id, nil
}

// inheritance is what a handler inherits from its predecessor.
type inheritance struct {
	legacy any
	found  bool
}

// begin makes a handler and runs its Init.
func (m *manager) begin(id ID, make maker, owner node.PID, from *inheritance) (*entry, error) {
	if id.Module == "" {
		m.seq++
		id = ID{subscription, m.seq}
	}
	e := &entry{id: id, owner: owner}
	err := m.attempt(id, func(c *Context) (err error) {
		if e.h, err = make(); err != nil {
			return err
		}
		if e.h == nil {
			return node.ErrArgument
		}
		if h, ok := e.h.(Heir); ok && from != nil {
			return h.Inherit(c, from.legacy, from.found)
		}
		if i, ok := e.h.(Initializer); ok {
			return i.Init(c)
		}
		return nil
	})
	if calls.IsExit(err) {
		err = &node.ExitError{Reason: node.ReasonOf(err)}
	}
	if err != nil {
		return nil, err
	}
	if !owner.IsZero() {
		m.c.Link(owner)
	}
	return e, nil
}

// replace does the swap that a handler asked for, at its position.
func (m *manager) replace(e *entry, s *swap) {
	legacy, _ := m.finish(e, End{Swapped, s.arg}, swapped(s.id, e.owner))
	next, err := m.begin(s.id, s.make, e.owner, &inheritance{legacy, true})
	if err != nil {
		m.handlers.remove(e)
		var reason any = &node.Crash{Reason: err}
		if exit, ok := err.(*node.ExitError); ok {
			reason = exit.Reason
		}
		m.report(&entry{id: s.id}, aSwapped, reason)
		if !e.owner.IsZero() {
			m.c.SendOpt(node.SendOptions{NoWait: true}, e.owner, Exit{s.id, reason})
		}
		return
	}
	m.handlers.replace(e, next)
}

// swapped is the exit reason of a handler that another replaces.
func swapped(id ID, owner node.PID) any {
	if owner.IsZero() {
		return wire.Tuple{aSwapped, id.term(), wire.AtomFalse}
	}
	return wire.Tuple{aSwapped, id.term(), owner}
}

// ends ends the manager, except on a kill. The owners of its handlers live on.
func (m *manager) ends(reason any) error {
	for e := range m.all() {
		if !e.owner.IsZero() && !(m.child && e.owner == m.c.Parent()) {
			defer m.c.Unlink(e.owner)
		}
	}
	for e := range m.all() {
		m.terminate(e, End{Stopped, reason}, node.Shutdown)
	}
	return node.ExitWith(reason)
}
