package otp

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// errDest says that a destination is invalid.
var errDest = errors.New("otp: want a process, a name or {Name, Node}")

// ended says that the context has ended.
type ended struct{}

// exchange sends a message as an Erlang process would, and waits for the answer: the last element of a tuple whose last
// but one is the reference in the message. dest is a PID, a name, or {Name, Node}. Errors: [*node.ExitError], the cause
// of ctx's end, errDest.
func exchange(ctx context.Context, n *node.Node, dest any, message func(self wire.PID, ref wire.Ref) any) (any, error) {
	var at node.At
	switch d := dest.(type) {
	case wire.PID, wire.Atom:
	case wire.Tuple:
		var ok bool
		if at, ok = atOf(d); !ok {
			return nil, errDest
		}
		if at.Node == n.Name() {
			dest = at.Name
		}
	default:
		return nil, errDest
	}
	if name, ok := dest.(wire.Atom); ok {
		if dest, ok = n.Whereis(name); !ok {
			return nil, &node.ExitError{Reason: node.NoProc}
		}
	}
	p, err := n.Open()
	if err != nil {
		return nil, fmt.Errorf("otp: %w", err)
	}
	defer p.Close(nil)
	p.TrapExit(true)
	self, ref := p.Self(), p.Alias() // cannot be guessed, so that no other process answers
	var watch wire.Ref
	if pid, ok := dest.(wire.PID); ok {
		watch = p.Monitor(pid)
		err = p.Send(pid, message(self, ref))
	} else {
		watch = p.Monitor(at)
		err = p.Send(at, message(self, ref))
	}
	if err != nil {
		return nil, fmt.Errorf("otp: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { n.Send(self, ended{}) })
	defer stop()
	return await(ctx, p, ref, watch)
}

// await waits for the answer to exchange's message.
func await(ctx context.Context, p *node.Process, ref, watch wire.Ref) (any, error) {
	for {
		switch m := p.Receive().(type) {
		case ended:
			return nil, cause.Of(ctx)
		case node.Exited: // the node stops
			return nil, &node.ExitError{Reason: m.Reason}
		case node.Down:
			if m.Ref == watch {
				return nil, &node.ExitError{Reason: m.Reason}
			}
		case wire.Tuple:
			last := len(m) - 1
			if of, ok := calls.ReplyRef(m); ok && of == ref || last > 0 && m[last-1] == any(ref) {
				return m[last], nil
			}
		}
	}
}

func atOf(t wire.Tuple) (at node.At, ok bool) {
	if len(t) != 2 {
		return at, false
	}
	name, ok1 := t[0].(wire.Atom)
	host, ok2 := t[1].(wire.Atom)
	return node.At{Name: name, Node: host}, ok1 && ok2
}

// labelled builds a message as gen does: {Label, {Self, [alias|Ref]}, Body}.
func labelled(label, body any) func(wire.PID, wire.Ref) any {
	return func(self wire.PID, ref wire.Ref) any { return wire.Tuple{label, calls.MakeFrom(self, ref), body} }
}

// Call calls a process as gen_server:call does from Erlang, with {'$gen_call', From, Request}: for terms that somebody
// has typed. node.Call sends a Go value, which only servers that expect its type understand. The answer is a term. to
// is a PID, a name, or {Name, Node}. Errors: [*node.ExitError], the error of ctx. from is the node that calls, or the
// process that waits: the server sees another process, started for the call, as the caller.
func Call(ctx context.Context, from node.Caller, to, request any) (any, error) {
	n := from.Inside(process.Key{}).Node()
	if from == node.Caller(n) {
		v, err := exchange(ctx, n, to, labelled(genCall, request))
		return sysmsg.Given(v), err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if the process is killed meanwhile
	helper, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		r := p.Receive().(node.Request[any])
		v, err := exchange(ctx, n, to, labelled(genCall, r.Body))
		if err != nil {
			return r.Fail(err)
		}
		return r.Reply(v)
	}))
	if err != nil {
		return nil, fmt.Errorf("otp: %w", err)
	}
	v, err := node.Call[any](ctx, from, helper, request)
	return sysmsg.Given(v), err
}

// ask calls a process; the answer is a term.
func (t *tools) ask(ctx context.Context, dest, label, body any) (any, error) {
	message := labelled(label, body)
	if to, ok := destOf(dest); ok && !t.n.Inside(process.Key{}).AskerOf(ctx).MaySend(to, message(wire.PID{}, wire.Ref{})) {
		return nil, &node.ExitError{Reason: node.NoProc}
	}
	v, err := exchange(ctx, t.n, dest, message)
	return sysmsg.Given(v), err
}

// destOf converts a destination of exchange.
func destOf(dest any) (wire.Dest, bool) {
	switch d := dest.(type) {
	case wire.PID:
		return d, true
	case wire.Atom:
		return d, true
	case wire.Tuple:
		at, ok := atOf(d)
		return at, ok
	}
	return nil, false
}

// askFor is ask on behalf of M:F(Args), and exits as OTP does: {Reason, {M, F, Args}}.
func (t *tools) askFor(ctx context.Context, m, f wire.Atom, args []any, label, body any) (any, error) {
	v, err := t.ask(ctx, args[0], label, body)
	if err == nil {
		return v, nil
	}
	reason, err := reasonOf(err)
	if err != nil {
		return nil, err
	}
	return nil, exitIn(reason, m, f, args)
}

// exitIn returns the exit that a gen call raises.
func exitIn(reason any, m, f wire.Atom, args []any) error {
	return node.ExitWith(wire.Tuple{reason, wire.Tuple{m, f, wire.List(args)}})
}

// reasonOf returns the reason with which a gen call exits, or an error of another kind.
func reasonOf(err error) (reason any, other error) {
	var exited *node.ExitError
	switch {
	case errors.As(err, &exited):
		return exited.Reason, nil
	case errors.Is(err, context.DeadlineExceeded):
		return wire.Atom("timeout"), nil
	case errors.Is(err, node.ErrNotHere):
		return node.NoConnection, nil
	case errors.Is(err, errDest):
		return nil, errBadArg
	}
	return nil, err
}
