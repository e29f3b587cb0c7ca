package genserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// Labels of the messages by which Erlang's gen behaviours talk.
const (
	genCall wire.Atom = "$gen_call"
	genCast wire.Atom = "$gen_cast"
)

// What a server's state may implement beside its handlers.
type (
	// Initializer is told before the first message. An error says that the server
	// cannot start; [node.Ignore], that it need not.
	Initializer interface{ Init(c *Context) error }

	// Terminator is told before the server ends by itself: by an error or a panic
	// of a method, Context.Stop, a system message, or the exit of the parent if
	// the server traps exits. Another exit signal ends it without.
	Terminator interface {
		Terminate(c *Context, reason any)
	}

	// Stater shows the state to others, as a term: sys:get_state. Default: a binary
	// with the fields' values.
	Stater interface{ State() any }

	// Restater puts another state, a term, in place of the present: sys:replace_state.
	Restater interface{ SetState(term any) error }

	// CodeChanger is told of a new version while the server is suspended.
	CodeChanger interface {
		CodeChange(module node.Atom, old, extra any) error
	}
)

// Timeout is the message that comes when nothing else has come within the time
// that was given to [Context.Timeout].
type Timeout struct{}

// Later, returned from a handler of calls, says that the reply comes later, by
// the From that Context.From returned.
var Later = errors.New("genserver: the reply comes later")

// UnhandledError is the answer to a request that the server has no method for.
type UnhandledError struct {
	Server  string // Go type of the server's state
	Request any
}

func (e *UnhandledError) Error() string {
	return fmt.Sprintf("genserver: %s handles no call of type %T", e.Server, e.Request)
}

// Term is the error as Erlang's callers get it: {error, {unhandled_request, Request}}.
func (e *UnhandledError) Term() any {
	return wire.Tuple{wire.Atom("unhandled_request"), sys.Term(e.Request)}
}

// Context is what a server's methods act through. It is valid until the method
// returns.
type Context struct {
	*node.Context
	from node.From // of the call that is being handled
	rare *rare     // nil: nothing of it is needed
}

// rare is what most servers never need.
type rare struct {
	stop    bool
	reason  any                  // of stop
	next    func(*Context) error // to run before the next message
	idle    time.Duration        // the wait for the next message; 0: for ever
	timer   *node.Timer
	pulse   uint64 // of the timer that counts
	inInit  bool
	sys     sys.System
	stopped bool // Terminate has been called
}

func (c *Context) rarely() *rare {
	if c.rare == nil {
		c.rare = new(rare)
	}
	return c.rare
}

// From returns where the reply to the present call goes. Keep it, return [Later],
// and answer when there is an answer, from anywhere.
func (c *Context) From() node.From { return c.from }

// Stop ends the server after the present method: with what the method returns
// as the reply, if it handles a call.
func (c *Context) Stop(reason any) {
	r := c.rarely()
	r.stop, r.reason = true, reason
}

// Continue runs f right after the present method and its reply, before any other
// message: gen_server's {continue, _}.
func (c *Context) Continue(f func(*Context) error) { c.rarely().next = f }

// Timeout makes a [Timeout] message of the next d in which no other message
// comes. It holds until the next message, whatever that is.
func (c *Context) Timeout(d time.Duration) { c.rarely().idle = max(d, 1) }

// Hibernate does nothing: a server that waits has no stack to give back.
func (c *Context) Hibernate() {}

// server is a server as an Actor.
type server[S any] struct {
	Context
	kind  *Kind[S]
	state S
}

// BehaviourName is part of what node.Info shows.
func (s *server[S]) BehaviourName() string { return reflect.TypeFor[S]().String() }

// pulse comes when a time is over: at a Timeout, or, after Init, at once for a
// Continue.
type pulse struct{ n uint64 }

// Init is part of node.Initializer.
func (s *server[S]) Init(c *node.Context) error {
	s.Context.Context = c
	i, ok := any(s.state).(Initializer)
	if !ok {
		return nil
	}
	if err := i.Init(&s.Context); err != nil {
		return err
	}
	r := s.rare
	switch {
	case r == nil:
	case r.stop:
		return node.ExitWith(r.reason)
	case r.next != nil: // to run when Init is known to have returned
		r.inInit = true
		return c.Send(c.Self(), pulse{})
	default:
		return s.wait()
	}
	return nil
}

// Receive is part of node.Actor.
func (s *server[S]) Receive(c *node.Context, msg any) (err error) {
	s.Context.Context = c
	ended := false
	defer func() {
		if !ended {
			err = s.broke(msg, recover())
		}
	}()
	over := false
	if s.rare != nil {
		msg, over, err = s.before(msg)
	}
	if !over {
		h := s.kind.lookup(msg)
		if h != nil && h.what != info && s.rare == nil {
			err = h.run(s, msg)
		} else {
			err = s.handle(c, h, msg)
		}
	}
	if err != nil || s.rare != nil {
		err = s.after(msg, err)
	}
	ended = true
	return err
}

// handle is Receive's part for what is not the usual.
func (s *server[S]) handle(c *node.Context, h *Handler[S], msg any) error {
	if r, ok := sys.Parse(c.Node(), msg); ok {
		return s.rarely().sys.Handle(c, systemOf[S]{s}, r)
	}
	if d := s.debugging(); d != nil {
		d.In(c, shown(msg))
		if h == nil || h.what != call {
			defer func() { d.NoReply(c, s.stateTerm()) }()
		}
	}
	if h != nil && h.what != info {
		return h.run(s, msg)
	}
	switch m := msg.(type) {
	case node.Exited:
		if m.From == c.Parent() {
			return node.ExitWith(m.Reason)
		}
	case interface{ untyped() any }:
		return s.cast(m.untyped())
	case wire.Tuple:
		if len(m) == 2 && m[0] == genCast {
			return s.cast(m[1])
		}
	}
	if r, ok := c.Node().AsRequest(msg); ok {
		return s.call(r)
	}
	if h == nil && s.kind.anyInfo.run != nil {
		h = &s.kind.anyInfo
	}
	if h != nil {
		return h.run(s, msg)
	}
	c.Node().Log().Warn("unexpected message", "server", s.name(), "message", msg)
	return nil
}

// call handles a call whose body has no type of its own.
func (s *server[S]) call(r node.Request[any]) error {
	if h := byBody(s.kind.calls, s.kind.anyCall, r.Body); h != nil {
		return h.open(s, r.From, r.Body)
	}
	r.Fail(&UnhandledError{s.BehaviourName(), r.Body})
	return nil
}

func (s *server[S]) cast(body any) error {
	if h := byBody(s.kind.casts, s.kind.anyCast, body); h != nil {
		return h.open(s, node.From{}, body)
	}
	s.Node().Log().Warn("unexpected cast", "server", s.name(), "message", body)
	return nil
}

// answered does what a handler of calls has returned.
func (s *server[S]) answered(reply any, err error) error {
	from := s.from
	if r := s.rare; r != nil && r.stop && err == nil {
		// As in OTP: the reply goes when Terminate has returned.
		defer s.Context.Context.Reply(from, reply)
		return s.end(r.reason)
	}
	switch {
	case err == nil:
		s.Context.Context.Reply(from, reply)
		if d := s.debugging(); d != nil {
			d.Out(s.Context.Context, reply, from, s.stateTerm())
		}
	case err == Later:
	case node.IsExit(err):
		return err
	default:
		from.Fail(err)
	}
	return nil
}

// before says what a message is to a server with something rare: over is true
// if there is nothing more to do about it.
func (s *server[S]) before(msg any) (_ any, over bool, err error) {
	r := s.rare
	if r.inInit {
		r.inInit = false
		if err := s.follow(nil); err != nil {
			return msg, true, err
		}
	}
	p, is := msg.(pulse)
	if is {
		if r.timer == nil || p.n != r.pulse {
			return msg, true, nil
		}
		r.timer, r.idle = nil, 0
		return Timeout{}, false, nil
	}
	if r.timer != nil {
		r.timer.Cancel()
		r.timer = nil
	}
	if _, ok := sys.Parse(s.Node(), msg); !ok {
		r.idle = 0 // a system message lets the time begin anew, as in OTP
	}
	return msg, false, nil
}

// after does what a method has asked for beside its result.
func (s *server[S]) after(msg any, err error) error {
	if s.rare != nil {
		err = s.follow(err)
	}
	if err != nil {
		return s.ends(msg, node.ReasonOf(err))
	}
	if s.rare != nil {
		return s.wait()
	}
	return nil
}

// follow runs continuations; Stop comes before them.
func (s *server[S]) follow(err error) error {
	r := s.rare
	for err == nil {
		switch f := r.next; {
		case r.stop:
			return node.ExitWith(r.reason)
		case f != nil:
			r.next = nil
			err = f(&s.Context)
		default:
			return nil
		}
	}
	return err
}

// wait starts the time that Timeout has asked for.
func (s *server[S]) wait() (err error) {
	r := s.rare
	if r.idle == 0 || r.timer != nil {
		return nil
	}
	r.pulse++
	r.timer, err = s.SendAfter(r.idle, s.Self(), pulse{r.pulse})
	return err
}

// broke is the end by a panic.
func (s *server[S]) broke(msg, cause any) error {
	if cause == nil {
		cause = "runtime.Goexit was called"
	}
	return s.ends(msg, &node.Crash{Reason: cause, Panic: true, Stack: debug.Stack()})
}

// ends is the end of a server by its own doing.
func (s *server[S]) ends(msg, reason any) error {
	err := s.end(reason)
	reason = node.ReasonOf(err)
	if log := s.Node().Log(); !calm(reason) && log.Enabled(context.Background(), slog.LevelError) {
		log.Error("server terminating", "server", s.name(), "process", s.Self().String(), "kind", s.BehaviourName(),
			"last message", wire.FormatPlain(sys.Term(shown(msg))), "state", wire.FormatPlain(s.stateTerm()), "reason", reason)
	}
	return err
}

// end calls Terminate, once, and returns the error that ends the process.
func (s *server[S]) end(reason any) (err error) {
	t, ok := any(s.state).(Terminator)
	r := s.rarely()
	if !ok || r.stopped {
		return node.ExitWith(reason)
	}
	r.stopped = true
	returned := false
	defer func() {
		if !returned {
			err = node.ExitWith(&node.Crash{Reason: recover(), Panic: true, Stack: debug.Stack()})
		}
	}()
	t.Terminate(&s.Context, reason)
	returned = true
	return node.ExitWith(reason)
}

// calm reports whether nobody needs to be told of an exit reason: normal,
// shutdown, {shutdown, _}.
func calm(reason any) bool {
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 {
		return t[0] == node.Shutdown
	}
	return reason == node.Normal || reason == node.Shutdown
}

// name is what the server is called in logs: its registered name, or its PID.
func (s *server[S]) name() string {
	if i, err := s.Node().Info(s.Self()); err == nil && i.Name != "" {
		return string(i.Name)
	}
	return s.Self().String()
}

func (s *server[S]) debugging() *sys.System {
	if s.rare != nil && s.rare.sys.Debugging() {
		return &s.rare.sys
	}
	return nil
}

// shown is a message as those who watch a server are shown it.
func shown(msg any) any {
	switch m := msg.(type) {
	case interface{ untyped() any }:
		return wire.Tuple{genCast, m.untyped()}
	case node.Exited:
		return wire.Tuple{wire.Atom("EXIT"), m.From, m.Reason}
	}
	if body, ok := node.BodyOf(msg); ok {
		return wire.Tuple{genCall, body}
	}
	return msg
}
