package event

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// request is a request to a manager. what has one of the types of client.go, also for requests
// from Erlang.
type request struct {
	node.From
	what   any
	body   any   // the request as it came
	erlang bool  // answer as gen_event does
	make   maker // of the handler to add
	owner  node.PID
}

// request reads a call: one of this package, or {Label, From, What} as Erlang's gen_event sends it, with the
// caller's PID as Label.
func (m *manager) request(msg any) (request, bool) {
	r := request{}
	q, call := m.c.Node().AsRequest(msg)
	if r.From, r.what, r.body = q.From, q.Body, q.Body; !call {
		t, ok := msg.(wire.Tuple)
		if !ok || len(t) != 3 {
			return r, false
		}
		label, isPID := t[0].(wire.PID)
		from, ok := m.c.Node().Inside(process.Key{}).ReadFrom(nil, t[1])
		if r.From = from; !ok || !isPID || label != r.From.Caller() {
			return r, false
		}
		r.what, r.body = t[2], t[2]
	}
	switch q := r.what.(type) {
	case addRequest:
		r.make = given(q.h)
		if q.owned {
			r.owner = r.From.Caller()
		}
	case swapRequest:
		r.make = given(q.h)
		if q.owned {
			r.owner = r.From.Caller()
		}
	case wire.Tuple, wire.Atom:
		r.erlang = true
		r.what = r.read(m, q)
	}
	return r, call || r.what != nil
}

// unknown is the error for a request that managers do not know.
func (r *request) unknown() error {
	return fmt.Errorf("%w of type %T: %w", errUnknown, r.body, node.ErrUnhandled)
}

// read reads a request of Erlang's gen_event, or returns nil.
func (r *request) read(m *manager, term any) any {
	switch term {
	case aWhich:
		return whichHandlersRequest{}
	case aModules, aStop:
		return term
	}
	t, _ := term.(wire.Tuple)
	if len(t) == 2 && t[0] == aSyncNotify {
		return syncNotifyRequest{t[1]}
	}
	if len(t) < 3 {
		return nil
	}
	id, ok := idOf(t[1])
	if !ok {
		return nil
	}
	switch {
	case len(t) == 3 && t[0] == aCall:
		return callRequest{id, t[2]}
	case len(t) == 3 && t[0] == aDelete:
		return deleteRequest{id, t[2]}
	case len(t) == 3 && t[0] == aAdd:
		r.make = m.made(id, t[2])
		return addRequest{id: id}
	case len(t) == 4 && t[0] == aAddSup:
		r.make = m.made(id, t[2])
		r.owner, ok = r.ownerOf(m, t[3])
		return only(ok, addRequest{id: id, owned: true})
	case len(t) == 5 && t[0] == aSwap, len(t) == 6 && t[0] == aSwapSup:
		next, ok := idOf(t[3])
		r.make = m.made(next, t[4])
		x := swapRequest{old: id, new: next, arg: t[2], owned: len(t) == 6}
		if x.owned && ok {
			r.owner, ok = r.ownerOf(m, t[5])
		}
		return only(ok, x)
	}
	return nil
}

// ownerOf reads the owner of a handler: the handler ends with it, and it is told of the handler's end.
func (r *request) ownerOf(m *manager, term any) (node.PID, bool) {
	pid, ok := term.(node.PID)
	return pid, ok && m.c.Node().Inside(process.Key{}).AskerOf(r.From).MayLink(pid)
}

func only(ok bool, v any) any {
	if !ok {
		return nil
	}
	return v
}

// answer handles a request.
func (m *manager) answer(r request) error {
	switch q := r.what.(type) {
	case syncNotifyRequest:
		m.notify(q.event)
		m.reply(r, wire.AtomOK)
	case callRequest:
		m.ask(r, q)
	case addRequest:
		if q.owned && r.owner.IsZero() {
			m.refuse(r, errNoOwner, nil)
			return nil
		}
		id, err := m.add(q.id, r.make, r.owner, nil)
		m.added(r, id, err)
	case deleteRequest:
		e := m.find(q.ID)
		if e == nil {
			m.refuse(r, ErrNoHandler, wire.Tuple{wire.AtomError, wire.Atom("module_not_found")})
			return nil
		}
		answer, err := m.terminate(e, End{Deleted, q.Arg}, node.Normal)
		if err != nil {
			m.refuse(r, err, answer)
		} else {
			m.reply(r, answer)
		}
	case swapRequest:
		m.exchange(r, q)
	case whichHandlersRequest:
		m.reply(r, m.ids(r.erlang))
	case wire.Atom:
		if q == aStop {
			defer m.reply(r, wire.AtomOK) // as in OTP, after all handlers have ended
			return m.ends(node.Normal)
		}
		if q == aModules {
			m.reply(r, m.modules())
			return nil
		}
		m.refuse(r, r.unknown(), nil)
	default:
		m.refuse(r, r.unknown(), nil)
	}
	return nil
}

// ask asks one handler.
func (m *manager) ask(r request, q callRequest) {
	e := m.find(q.ID)
	if e == nil {
		m.refuse(r, ErrNoHandler, wire.Tuple{wire.AtomError, wire.Atom("bad_module")})
		return
	}
	h, ok := e.h.(Caller)
	if !ok {
		m.refuse(r, ErrNoCalls, nil)
		return
	}
	var reply any
	var own error // for the caller only
	err := m.run(e, q.Request, func(c *Context) (err error) {
		reply, err = h.HandleCall(c, q.Request)
		if err != nil && !errors.Is(err, ErrRemove) && !calls.IsExit(err) {
			own, err = err, nil
		}
		return err
	})
	switch {
	case own != nil:
		m.refuse(r, own, nil)
	case err != nil:
		reason := node.ReasonOf(err)
		m.refuse(r, &node.ExitError{Reason: reason}, wire.Tuple{wire.AtomError, wire.Tuple{aExit, reason}})
	default:
		m.reply(r, reply)
	}
}

// exchange removes a handler, if it is there, and adds another.
func (m *manager) exchange(r request, q swapRequest) {
	if q.owned && r.owner.IsZero() {
		m.refuse(r, errNoOwner, nil)
		return
	}
	from := inheritance{legacy: wire.AtomError}
	if e := m.find(q.old); e != nil {
		if r.owner.IsZero() {
			r.owner = e.owner
		}
		from.found = true
		from.legacy, _ = m.terminate(e, End{Swapped, q.arg}, swapped(q.new, r.owner))
	}
	id, err := m.add(q.new, r.make, r.owner, &from)
	if err != nil && r.erlang {
		m.reply(r, wire.Tuple{wire.AtomError, notAdded(err)})
		return
	}
	m.added(r, id, err)
}

// added answers the request to add a handler.
func (m *manager) added(r request, id ID, err error) {
	switch {
	case err != nil:
		m.refuse(r, err, notAdded(err))
	case r.erlang:
		m.reply(r, wire.AtomOK)
	default:
		m.reply(r, id)
	}
}

// notAdded is gen_event's answer when a handler's init fails.
func notAdded(err error) any {
	switch e := err.(type) {
	case *undefError:
		return e.Term()
	case *node.ExitError:
		return wire.Tuple{aExit, e.Reason}
	}
	return wire.Tuple{wire.AtomError, values.ErrorTerm(err)}
}

func (m *manager) reply(r request, v any) {
	m.c.Reply(r.From, v)
	if m.sys.Debugging() {
		m.sys.Out(m.c, v, r.From, wire.AtomUndefined)
	}
}

// refuse answers with an error; term is gen_event's answer, nil: {error,
// Reason}.
func (m *manager) refuse(r request, err error, term any) {
	if r.erlang && term != nil {
		m.reply(r, term)
		return
	}
	r.Fail(err)
	if m.sys.Debugging() {
		m.sys.Out(m.c, wire.Tuple{wire.AtomError, values.ErrorTerm(err)}, r.From, wire.AtomUndefined)
	}
}

// ids is the answer to which_handlers.
func (m *manager) ids(erlang bool) any {
	ids, terms := make([]ID, 0, m.n), make(wire.List, 0, m.n)
	for e := range m.all() {
		ids, terms = append(ids, e.id), append(terms, e.id.term())
	}
	if erlang {
		return terms
	}
	return ids
}

// modules is the answer to get_modules: each module once, sorted.
func (m *manager) modules() wire.List {
	var names []wire.Atom
	for e := range m.all() {
		names = append(names, e.id.Module)
	}
	slices.Sort(names)
	l := wire.List{}
	for _, n := range slices.Compact(names) {
		l = append(l, n)
	}
	return l
}
