package node

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/failure"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

// The errors, crashes and panics of this node as others get them, and theirs as they get here.
// Package failure has the forms.

func init() {
	failure.Enter(ErrNodeStopped, ErrExited, ErrNoProcess, ErrNoDest, ErrNoName, ErrNameTaken, ErrBadName, ErrNilBehaviour,
		ErrBadOption, ErrTooMany, ErrMailboxFull, ErrTimeout, ErrBadTimeout, ErrSelfCall, ErrCycle, ErrReplied, ErrReplyType,
		ErrIgnored, ErrThreadLocked, ErrNoConnection, ErrNotHere, ErrType, ErrDropped, ErrPending, ErrProtected, ErrUnhandled,
		discovery.ErrUnknownNode)
	failure.Default = known{&registered}
	termof.Enter(func(r *failure.Reply) any { return reason.Failure(errorTerm(r.Cause())) })
}

// known is what errors cross by: see [failure.Known].
type known struct{ t *Types }

// Name is part of failure.Known, and so are the others.
func (k known) Name(err error) string {
	if !reflect.ValueOf(err).Comparable() {
		return ""
	}
	if name := k.t.all.NameOfError(err); name != "" {
		return name
	}
	return failure.SentinelName(err)
}

// Sentinel returns the error of a name, nil: there is none.
func (k known) Sentinel(name string) error {
	if err := k.t.all.Error(name); err != nil {
		return err
	}
	return failure.Sentinel(name)
}

// Value returns what crosses in the place of an error, or of the value of a panic.
func (k known) Value(v any) (any, bool) {
	switch v := v.(type) {
	case *ExitError:
		return &ExitError{k.t.outward(v.Reason)}, true
	case *Crash:
		return k.t.outward(v), true
	}
	if _, ok := k.t.all.Maker(reflect.TypeOf(v), nil); !ok {
		return nil, false
	}
	enc := pack.Encoder{Types: &k.t.codec, Foreign: k.t.trial}
	_, err := enc.Append(nil, v)
	return v, err == nil
}

// trial is foreign where nothing will be sent: an error in a field is its text, or to look at what
// it wraps would begin anew in each.
func (t *Types) trial(v any) (any, error) {
	if err, ok := v.(error); ok {
		return err.Error(), nil
	}
	return t.foreign(v)
}

// types are those of the node.
func (n *Node) types() *Types {
	if n.dist == nil || n.dist.cfg.Types == nil {
		return &registered
	}
	return n.dist.cfg.Types
}

// enterFailures has errors and crashes cross as they are to nodes of this kind.
func (t *Types) enterFailures() {
	for _, err := range []error{
		pack.RegisterAs[failure.Error](&t.codec, "$error", pack.Conversion{In: t.arrived, Lenient: true}),
		pack.RegisterAs[failure.Reply](&t.codec, "$reply", pack.Conversion{Lenient: true}),
		pack.Register[failure.Panic](&t.codec, "$panic"),
		pack.RegisterAs[Crash](&t.codec, "$crash", pack.Conversion{Out: t.outward, In: t.inward, Lenient: true}),
		pack.RegisterAs[ExitError](&t.codec, "$exit", pack.Conversion{Out: t.outward, In: t.inward, Lenient: true}),
	} {
		if err != nil {
			panic(err) // the types are ours
		}
	}
}

// arrived is an error of another node in a message.
func (t *Types) arrived(v any) any {
	if e, ok := v.(*failure.Error); ok {
		e.Arrived(known{t})
	}
	return v
}

// foreign is what stands for a Go value that is neither a term nor of a registered type, towards
// a node of this kind.
func (t *Types) foreign(v any) (any, error) {
	if err, ok := v.(error); ok {
		if _, stands := termof.Of(err); !stands {
			return failure.Of(err, known{t}), nil
		}
	}
	return etf.ToTerm(v)
}

// foreignErlang is foreign towards a node of OTP, for a value of a registered type, too.
func (t *Types) foreignErlang(v any) (any, error) {
	switch v := v.(type) {
	case *Crash:
		return t.crashTerm(v), nil
	case *failure.Reply:
		return t.failed(v.Cause()), nil
	case failure.Panic:
		return failure.PanicTerm(v, known{t}), nil
	case *ExitError:
		return v.term(), nil
	}
	if err, ok := v.(error); ok && !t.isMarked(err) {
		return t.errorTerm(err), nil
	}
	return t.marked(v)
}

// errorTerm is an error as a node of OTP gets it: the reason or the term that it, or an error
// that it wraps, stands for; {'$error', Text, Parts} if other nodes know what it wraps; else its
// text.
func (t *Types) errorTerm(err error) any {
	if term, ok := reason.Own[*ExitError](err); ok {
		return term
	}
	e := failure.Of(err, known{t})
	if term, ok := e.Term(); ok {
		return term
	}
	return e.Error()
}

// opened is what errorTerm has made, as the error again if it has parts.
func (t *Types) opened(term any) any {
	if e, ok := term.(wire.Tuple); ok {
		if err, ok := failure.ReadError(e, known{t}); ok {
			return err
		}
	}
	return t.inward(term)
}

// crashTerm is {Reason, Stacktrace}.
func (t *Types) crashTerm(c *Crash) wire.Tuple {
	stack := failure.StackTerm(c.Stack)
	if c.Panic {
		return wire.Tuple{failure.PanicTerm(c.Reason, known{t}), stack}
	}
	if err, ok := c.Reason.(error); ok {
		return wire.Tuple{t.errorTerm(err), stack}
	}
	return wire.Tuple{reason.GoText(c.Reason), stack}
}

// outward is an exit reason on its way to another node.
func (t *Types) outward(why any) any {
	switch why := why.(type) {
	case *Crash:
		return &Crash{Reason: failure.OfPanic(why.Reason, known{t}), Panic: why.Panic, Stack: failure.BoundStack(why.Stack)}
	case *ExitError:
		return &ExitError{t.outward(why.Reason)}
	case error:
		if _, stands := termof.Of(why); !stands {
			return failure.Of(why, known{t})
		}
	}
	return why
}

// inward is an exit reason of another node.
func (t *Types) inward(why any) any { return t.inwardAt(why, 0) }

func (t *Types) inwardAt(why any, depth int) any {
	switch why := why.(type) {
	case *Crash:
		if why == nil {
			return &Crash{}
		}
		if e, ok := why.Reason.(*failure.Error); ok && e != nil {
			why.Reason = e.Open(known{t})
		}
		why.Stack = failure.BoundStack(why.Stack)
		return why
	case *ExitError:
		if why == nil {
			return &ExitError{}
		}
		if depth < failure.MaxDepth {
			why.Reason = t.inwardAt(why.Reason, depth+1)
		}
	case *failure.Error:
		if why != nil {
			return why.Open(known{t})
		}
	}
	return why
}

// outcome is what a reply of another node says: a value, or an error.
func (t *Types) outcome(v any) (any, error) {
	switch r := v.(type) {
	case *failure.Reply:
		if r == nil {
			r = &failure.Reply{}
		}
		err := r.Open(known{t})
		if e, ok := err.(*ExitError); ok {
			err = t.inward(e).(*ExitError)
		}
		return nil, err
	case wire.Tuple: // through a node of OTP
		if len(r) == 2 && r[0] == wire.Error {
			if e, ok := r[1].(*failure.Error); ok && (e == nil || !e.IsOpen()) {
				return v, nil // which a handler has answered
			}
			if err, ok := r[1].(error); ok {
				return nil, err
			}
		}
	}
	return v, nil
}

// failed is an error in the place of a reply, as a message to whoever has not made a call of
// this node's.
func (t *Types) failed(err error) any { return reason.Failure(t.errorTerm(err)) }

// asMessage is a reply to no call of this node as a process gets it.
func (t *Types) asMessage(msg any) any {
	if m, ok := msg.(wire.Tuple); ok && len(m) == 2 {
		if r, ok := m[1].(*failure.Reply); ok && r != nil {
			return wire.Tuple{m[0], t.failed(r.Cause())}
		}
	}
	return msg
}

// replied settles the call that a reply of another node is for. It reports whether there is one.
func (p *peer) replied(ref Ref, v any) bool {
	v, err := p.n.types().outcome(v)
	return p.settle(&p.reading, ref, v, err, false)
}

// replyError is the error for a reply that is no R.
func replyError[R any](v any) error {
	var none R
	if t, ok := v.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.Error { // as servers of OTP report an error
		if err := termof.ReadError(t[1]); err != nil {
			return err
		}
		return &refusal{t[1]}
	}
	return fmt.Errorf("%w: got %T, want %T", ErrReplyType, v, none)
}

// refusal is the reply {error, Reason} where a value of another type is wanted.
type refusal struct{ reason any }

func (r *refusal) Error() string {
	if b, ok := r.reason.([]byte); ok && utf8.Valid(b) {
		return failure.Cut(string(b))
	}
	return reason.PlainText(r.reason)
}

// Unwrap says what the reply is, too.
func (r *refusal) Unwrap() error { return ErrReplyType }

// Term is the reason.
func (r *refusal) Term() any { return r.reason }

// plainer is a reply that cannot be sent with the text of its error. False: it is none, or has
// no error.
func plainer(f *dist.Frame) (dist.Frame, bool) {
	t, ok := gencall.Message(f).(wire.Tuple)
	if !ok || len(t) != 2 || f.Op != dist.OpSend {
		return dist.Frame{}, false
	}
	r, ok := t[1].(*failure.Reply)
	if !ok {
		return dist.Frame{}, false
	}
	again := *f
	again.Payload = wire.Tuple{t[0], reason.Failure(reason.ErrorText(r.Cause()))}
	return again, true
}
