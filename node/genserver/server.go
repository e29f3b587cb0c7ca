package genserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Atoms in the messages of Erlang's gen behaviours.
const (
	suspended wire.Atom = "suspended" // see sysmsg.System.State
)

// Interfaces that a server's state may also implement. [sys.Stater], [sys.StateSetter] and
// [sys.CodeChanger] are for system messages.
type (
	// Initializer is called before the first message. An error means that the server
	// cannot start: the exit reason is a *node.Crash, or the reason given to node.ExitWith.
	// [node.ErrIgnore] means that it need not start. In both cases Terminate is not called.
	Initializer interface{ Init(c *Context) error }

	// Terminator is called with the reason before the server ends, except by an exit signal; see
	// the table in the package's documentation.
	Terminator interface {
		Terminate(c *Context, reason any)
	}
)

// Timeout is the message that a server gets when no other has come within the time
// given to [Context.Timeout].
type Timeout struct{}

// term is gen_server's form of it: the atom timeout.
func (Timeout) term() any { return wire.Atom("timeout") }

// ErrReplyLater, returned from a call handler, says that the reply comes later, through
// the From that Context.From returned.
var ErrReplyLater = errors.New("genserver: no reply yet")

// UnhandledError answers a request that the server has no method for, or that the current state
// of a machine (package statem) does not handle. The process goes on.
type UnhandledError struct {
	Server  string    // Go type of the server's state, or of the machine's data
	State   node.Atom // of a machine; "" for a server
	Request any
	Misfit  string   // why the tuple does not fit the handled type that has its first atom; "": there is no such type
	Takes   []string // request types that the server has methods for, 16 at most; nil: not known
}

func (e *UnhandledError) Error() string {
	server, takes := e.Server, ""
	if server == "" {
		server = "the process" // the error came through an OTP node, where it carries no more
	}
	if e.State != "" {
		return fmt.Sprintf("statem: %s does not handle calls of type %T in the state %s", server, e.Request, e.State)
	}
	if e.Misfit != "" {
		return fmt.Sprintf("genserver: %s does not handle this %T: %s", server, e.Request, e.Misfit)
	}
	if len(e.Takes) > 0 {
		takes = "; it handles those of " + strings.Join(e.Takes, ", ")
	}
	return fmt.Sprintf("genserver: %s does not handle calls of type %T%s", server, e.Request, takes)
}

// term is the error as Erlang callers get it: {error, {unhandled_request, Request}}.
// A machine's state comes before Request, and Misfit after it.
func (e *UnhandledError) term() any {
	if e.State != "" {
		return wire.Tuple{wire.Atom("unhandled_request"), e.State, sysmsg.Term(e.Request)}
	}
	if e.Misfit != "" {
		return wire.Tuple{wire.Atom("unhandled_request"), sysmsg.Term(e.Request), e.Misfit}
	}
	return wire.Tuple{wire.Atom("unhandled_request"), sysmsg.Term(e.Request)}
}

// readUnhandled is the reverse of term.
func readUnhandled(term any) error {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) < 2 || t[0] != wire.Atom("unhandled_request") {
		return nil
	}
	switch state, _ := t[1].(node.Atom); {
	case len(t) == 2:
		return &UnhandledError{Request: t[1]}
	case len(t) == 3 && state == "":
		misfit, ok := wire.AsText(t[2])
		if !ok {
			return nil
		}
		return &UnhandledError{Request: t[1], Misfit: misfit}
	case len(t) == 3 && state != "":
		return &UnhandledError{State: state, Request: t[2]}
	}
	return nil
}

// Context is what a server's methods act through: a [node.Context], plus what gen_server
// expresses by return values. It belongs to the goroutine that runs the method
// and is valid until the method returns. Servers must not use Become and Push.
type Context struct {
	*node.ActorContext
	from   node.From // of the current call
	peer   node.Atom // the node that sent the current message; "": not known
	extras *extras   // nil: not needed
}

// extras holds what most servers never need, or need only for a short time.
type extras struct {
	stop         bool
	reason       any                  // of stop
	continueWith func(*Context) error // to run before the next message
	timeout      time.Duration        // the wait for the next message; 0: for ever
	timer        *timeoutTimer        // fires when timeout is over; nil: not started
	caller       any                  // the From of the current call as a term, while debugging
	terminated   bool                 // Terminate has been called, if there is one
	logged       bool                 // the end has been logged
	sys          sysmsg.System
}

// timeoutTimer is the message that arrives when the timeout is over.
type timeoutTimer struct{ timer *node.Timer }

func (c *Context) ensureExtras() *extras {
	if c.extras == nil {
		c.extras = new(extras)
	}
	return c.extras
}

// From returns where the reply to the current call goes; it is useless outside a
// call. To answer later, keep it, return [ErrReplyLater], and reply from
// anywhere.
func (c *Context) From() node.From { return c.from }

// CallContext returns a context for the work on the current call: see [node.From.Context]. It also ends with the
// process. Where there is no call it is Context. Call it once in a method: each context lives until the call is answered.
func (c *Context) CallContext() context.Context {
	if c.from == (node.From{}) {
		return c.Context()
	}
	return c.from.Context(c.Context())
}

// Peer returns the node over whose connection the current message came, if the server was spawned with
// ShowPeer of [node.Options]; "" for a message from this node. For a call, From knows it in every server.
func (c *Context) Peer() node.Atom { return c.peer }

// Stop ends the server after the current method, and calls Terminate first: {stop, Reason,
// _}. If the method handles a call, its result is the reply, unless it is
// ErrReplyLater; the reply is sent after Terminate has returned. In Init, Stop means that the server
// failed to start.
func (c *Context) Stop(reason any) {
	r := c.ensureExtras()
	r.stop, r.reason = true, reason
}

// Continue runs f right after the current method and its reply, before any other
// message: {continue, _}. If it is called several times, the last one counts. f may call Continue again. An
// error of f ends the server.
func (c *Context) Continue(f func(*Context) error) { c.ensureExtras().continueWith = f }

// Timeout sends the server a [Timeout] message if no other message comes within d. The next
// message, whatever it is, cancels it; a system message restarts it.
// With 0 it comes as soon as the mailbox is empty;
// [node.Infinity] cancels it.
func (c *Context) Timeout(d time.Duration) {
	if d == node.Infinity {
		d = 0
	} else {
		d = max(d, 1)
	}
	c.ensureExtras().timeout = d
}

// server is a server as an Actor.
type server[S any] struct {
	Context
	kind  *Kind[S]
	state S
	child bool // started with a link to its parent, whose exit ends it
}

// BehaviourName is part of node.BehaviourNamer.
func (s *server[S]) BehaviourName() string { return reflect.TypeFor[S]().String() }

// Init is part of node.Initializer.
func (s *server[S]) Init(c *node.Context) (err error) {
	s.Context.ActorContext = c
	if p := c.Parent(); !p.IsZero() {
		s.child = c.Inside(process.Key{}).Linked(p)
	}
	i, ok := any(s.state).(Initializer)
	if !ok {
		return nil
	}
	if err := i.Init(&s.Context); err != nil {
		return err
	}
	r := s.extras
	switch {
	case r == nil:
		return nil
	case r.stop:
		return node.ExitWith(r.reason)
	case r.continueWith == nil:
		s.settle()
		return nil
	}
	c.Announce() // answer a waiting starter: Init has returned
	ended := false
	defer func() {
		if !ended {
			err = s.crashed(atContinue, recover())
		}
	}()
	err = s.after(atContinue, nil)
	ended = true
	return err
}

// atContinue stands for the last message of a server that has had none.
const atContinue wire.Atom = "continue"

// Receive is part of node.Actor.
func (s *server[S]) Receive(c *node.Context, msg any) (err error) {
	s.Context.ActorContext = c
	ended := false
	defer func() {
		if !ended {
			err = s.crashed(msg, recover())
		}
	}()
	if h := s.kind.direct.find(msg); h != nil && h.what != info && s.extras == nil {
		err = h.run(s, msg)
	} else {
		err = s.handle(c, h, msg)
	}
	if err != nil || s.extras != nil {
		err = s.after(msg, err)
	}
	s.from = node.From{} // an idle server keeps nothing of its last call
	ended = true
	return err
}

// handle is Receive's slow path.
func (s *server[S]) handle(c *node.Context, h *Handler[S], msg any) error {
	if m, ok := msg.(node.PeerMessage); ok {
		msg, s.Context.peer = m.Message, m.Peer
		defer func() { s.Context.peer = "" }()
		if h = s.kind.direct.find(msg); h != nil && h.what != info && s.extras == nil {
			return h.run(s, msg)
		}
	}
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		s.idle() // begins anew afterwards, as in OTP
		y := &s.ensureExtras().sys
		y.Alone = !s.child
		return y.Handle(c, systemOf[S]{s}, r)
	}
	if p, ok := msg.(*timeoutTimer); ok {
		if s.extras == nil || s.extras.timer != p {
			return nil // cancelled, but already in the mailbox
		}
		s.extras.timer = nil
		msg = Timeout{}
		h = s.kind.direct.find(msg)
	}
	if s.extras != nil {
		s.idle()
		s.extras.timeout = 0
	}
	if e, ok := msg.(node.Exited); ok && (s.child && e.From == c.Parent() || sysmsg.IsStop(e)) {
		return node.ExitWith(e.Reason) // from the parent, or from nobody, as Node.Stop sends it
	}
	d := s.debugging()
	if d != nil {
		in := sysmsg.Term(msg)
		if t, ok := in.(wire.Tuple); ok && len(t) == 3 {
			s.extras.caller = t[1] // for a call
		}
		d.In(c, in)
	}
	if h != nil && h.what == call {
		return h.run(s, msg)
	}
	if h == nil || h.what == info {
		if r, ok := c.Node().AsRequest(msg); ok {
			return s.call(r)
		}
	}
	s.from = node.From{}
	err := s.receiveOther(h, msg)
	if d != nil && err == nil && !s.extras.stop {
		d.NoReply(c, s.seen())
	}
	return err
}

// receiveOther handles anything but a call.
func (s *server[S]) receiveOther(h *Handler[S], msg any) error {
	body, sort := msg, info
	if b, ok := node.AsCast(msg); ok {
		body, sort = b, cast
	}
	if h != nil && h.what == sort {
		return h.run(s, msg)
	}
	if h, body := s.kind.bodies[sort].findAny(s.Node(), body); h != nil {
		return h.open(s, node.From{}, body)
	}
	if log := s.Node().Log(); log.Enabled(context.Background(), slog.LevelWarn) {
		attrs := []any{"server", sysmsg.DisplayName(s), "kind", s.BehaviourName(), "message", sysmsg.Brief(s.Node(), body)}
		if misfit := s.kind.bodies[sort].misfit(s.Node(), body); misfit != "" {
			attrs = append(attrs, "misfit", misfit)
		}
		log.Warn("unexpected "+sort.String(), attrs...)
	}
	return nil
}

// call handles a call whose message type has no handler: it looks the handler up by the
// body.
func (s *server[S]) call(r node.Request[any]) error {
	if h, body := s.kind.bodies[call].findAny(s.Node(), r.Body); h != nil {
		return h.open(s, r.From, body)
	}
	bodies := &s.kind.bodies[call]
	s.reply(r.From, nil, &UnhandledError{Server: s.BehaviourName(), Request: r.Body, Misfit: bodies.misfit(s.Node(), r.Body),
		Takes: bodies.types()})
	return nil
}

// answered acts on the result of a call handler.
func (s *server[S]) answered(reply any, err error) error {
	from := s.from
	switch {
	case err == nil:
	case errors.Is(err, ErrReplyLater):
		if d := s.debugging(); d != nil && !s.extras.stop {
			d.NoReply(s.Context.ActorContext, s.seen())
		}
		return nil
	case calls.IsExit(err):
		return err
	}
	if r := s.extras; r != nil && r.stop {
		// As in OTP: the reply is sent after Terminate has returned.
		defer s.reply(from, reply, err)
		return s.end(r.reason)
	}
	s.reply(from, reply, err)
	s.from = node.From{} // what the method has asked for to be done next has no call
	return nil
}

// reply answers a call.
func (s *server[S]) reply(from node.From, reply any, err error) {
	if err != nil {
		from.Fail(err)
	} else {
		s.Context.ActorContext.Reply(from, reply)
	}
	if d := s.debugging(); d != nil {
		if err != nil {
			reply = wire.Tuple{wire.AtomError, values.ErrorTerm(err)}
		}
		d.Out(s.Context.ActorContext, reply, s.extras.caller, s.seen())
	}
}

// after does what a method asked for through its Context.
func (s *server[S]) after(msg any, err error) error {
	if s.extras != nil {
		err = s.follow(err)
	}
	if err != nil {
		return s.ends(msg, node.ReasonOf(err))
	}
	s.settle()
	return nil
}

// follow runs continuations; Stop comes before them.
func (s *server[S]) follow(err error) error {
	r := s.extras
	for err == nil {
		f := r.continueWith
		switch {
		case r.stop:
			return node.ExitWith(r.reason)
		case f == nil:
			return nil
		}
		r.continueWith = nil
		if err = f(&s.Context); err != nil {
			return err
		}
		if d := s.debugging(); d != nil {
			d.Event(s.Context.ActorContext, wire.Tuple{wire.Atom("continue"), funcName(f)})
			if !r.stop {
				d.NoReply(s.Context.ActorContext, s.seen())
			}
		}
	}
	return err
}

// settle gets the server ready for the next message: it starts the timer of
// Timeout, and drops extras when they are not needed.
func (s *server[S]) settle() {
	r := s.extras
	switch {
	case r == nil || r.sys.State() == suspended:
	case r.timeout > 0 && r.timer == nil:
		p := &timeoutTimer{}
		if t, err := s.SendAfter(r.timeout, s.Self(), p); err == nil { // else the node is stopping
			p.timer, r.timer = t, p
		}
	case r.timeout == 0 && !r.sys.Debugging():
		s.extras = nil
	}
}

// idle cancels the timer of Timeout.
func (s *server[S]) idle() {
	if r := s.extras; r != nil && r.timer != nil {
		r.timer.timer.Cancel()
		r.timer = nil
	}
}

// crashed ends the server after a panic.
func (s *server[S]) crashed(msg, cause any) error {
	return s.ends(msg, node.Panicked(cause))
}

// ends ends the server, except on an exit signal.
func (s *server[S]) ends(msg, reason any) error {
	logged := s.ensureExtras().logged || !s.Node().IsAlive(s.Self())
	err := s.end(reason)
	s.extras.logged = true
	if logged {
		return err
	}
	return sysmsg.Terminating(s.Context.ActorContext, "server", s.BehaviourName(), err, func() []any {
		return []any{"last_message", sysmsg.Brief(s.Node(), msg), "state", sysmsg.BriefState(s.state)}
	})
}

// MayTerminate tells package lifetime whether the state has Terminate.
func (s *server[S]) MayTerminate() bool {
	_, ok := any(s.state).(Terminator)
	return ok
}

// Terminate is part of lifetime.Terminator.
func (s *server[S]) Terminate(c *node.Context, reason any) error {
	s.Context.ActorContext = c
	return s.end(reason)
}

// end calls Terminate, once and only if the process has not been killed, and
// returns the error that ends the process.
func (s *server[S]) end(reason any) error {
	s.idle()
	t, ok := any(s.state).(Terminator)
	r := s.ensureExtras()
	if r.terminated || !ok || !s.Node().IsAlive(s.Self()) {
		return node.ExitWith(reason)
	}
	r.terminated = true
	if crash := sysmsg.Guard(func() { t.Terminate(&s.Context, reason) }); crash != nil {
		return node.ExitWith(crash)
	}
	return node.ExitWith(reason)
}

func (s *server[S]) debugging() *sysmsg.System {
	if s.extras != nil && s.extras.sys.Debugging() {
		return &s.extras.sys
	}
	return nil
}

// seen is the state to show to debug functions; nil if there are none.
func (s *server[S]) seen() any {
	if !s.extras.sys.Watched() {
		return nil
	}
	return s.stateShown()
}

// funcName is a function's name in Go.
func funcName(f func(*Context) error) any {
	return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
}

func init() {
	values.Enter(ErrReplyLater)
	termof.Enter(Timeout.term)
	termof.Enter((*UnhandledError).term)
	termof.EnterError(readUnhandled)
	node.Know(process.Key{}, node.TypeOf[UnhandledError]("$genserver.UnhandledError"))
}
