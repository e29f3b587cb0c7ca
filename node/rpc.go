package node

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/actornode/actornode/node/internal/peers"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// What OTP's module erpc asks other nodes for, and what is offered to it.
const (
	erpc        Atom = "erpc"
	executeCall Atom = "execute_call"
	executeCast Atom = "execute_cast"
)

// RPC calls a function on a node, this one too, in a process of its own, and waits
// for its result: erpc:call of OTP, in both directions. Results are read into R as
// the replies to [Call] are. Errors, and what they are in erpc:
//
//	*RemoteError                 what the function has raised: throw, exit
//	                             {exception, Reason}, error {exception, Reason, Stack}
//	ErrUndef                     a *RemoteError: there is no such function
//	ErrNoConnection              an *ExitError: error {erpc, noconnection}
//	*ExitError                   any other: the process was ended: exit {signal, Reason}
//	*SpawnError                  there was no process: error {erpc, Reason}
//	*wire.EncodeError            an argument is no term
//	ErrReplyType                 the result is no R
//	the cause of ctx's end       error {erpc, timeout}; the function goes on
func RPC[R any](ctx context.Context, from Caller, at Atom, module, function Atom, args ...any) (R, error) {
	a := from.caller()
	return typed[R](a.await(ctx, a.apply(false, a.promise(), at, module, function, args)))
}

// AsyncRPC is RPC that returns at once, as [Async] does: erpc:send_request, whose
// receive_response is [Future.Await] and whose wait_response is [Future.Poll].
func AsyncRPC[R any](from Caller, at Atom, module, function Atom, args ...any) *Future[R] {
	a := from.caller()
	return asyncRPC[R](a, true, at, module, function, args)
}

func asyncRPC[R any](a *acting, async bool, at Atom, module, function Atom, args []any) *Future[R] {
	f := &Future[R]{}
	f.p.node, f.p.more = a.node, &f.w
	f.t = a.apply(async, &f.p, at, module, function, args)
	return f
}

// RequestRPC is RPC that returns at once; what comes of it is a message to the
// caller, a [Result] with the tag, as by [SendRequest].
func RequestRPC(from Caller, at Atom, tag any, module, function Atom, args ...any) {
	a := from.caller()
	a.apply(true, a.request(tag), at, module, function, args)
}

// CastRPC has a function called on a node, this one too, and returns at once;
// nobody is told how it goes: erpc:cast. One that is not sent, for there is no
// connection or an argument is no term, is a dead letter, {Module, Function, Args}
// for erpc. Errors: [ErrExited]; [ErrNotHere] if this node is not distributed; of
// this node those of [Node.Spawn].
func CastRPC(from Caller, at Atom, module, function Atom, args ...any) error {
	a := from.caller()
	n := a.node
	if a.p != nil && a.p.gone() {
		return ErrExited
	}
	s := &dist.Spawn{Module: erpc, Function: executeCast, Args: []any{module, function, wire.List(args)}, Leader: a.leader()}
	if at == n.cfg.Name {
		_, err := n.spawnHere(s)
		return err
	}
	f := dist.Frame{Op: dist.OpSpawn, Ref: n.newRef(), From: a.sender(), Spawn: s, Token: a.p.token()}
	p := n.peer(at)
	if p == nil {
		n.lost(f)
		return fmt.Errorf("%w: %s", ErrNotHere, at)
	}
	p.send(a, f)
	return nil
}

// Reply is what came of a call on one of several nodes.
type Reply[R any] struct {
	Node  Atom
	Value R
	Err   error
}

// MultiRPC calls a function on several nodes at a time and waits until each has
// answered, is found not to be there, or ctx ends: erpc:multicall. The replies are
// in the order of nodes; each has an error of its own, as RPC returns it.
func MultiRPC[R any](ctx context.Context, from Caller, nodes []Atom, module, function Atom, args ...any) []Reply[R] {
	a := from.caller()
	all := a.promise()
	all.target = nil
	t := all.arm()
	var left atomic.Int64
	left.Store(int64(len(nodes)) + 1)
	answered := func(c *acting) {
		if left.Add(-1) == 0 {
			t.settle(c, nil, nil)
		}
	}
	calls := make([]*Future[R], len(nodes))
	defer func() { // if this process is killed meanwhile
		for _, f := range calls {
			f.Cancel()
		}
	}()
	for i, at := range nodes {
		calls[i] = asyncRPC[R](a, false, at, module, function, args)
		calls[i].w.Add(a, answered)
	}
	answered(a)
	_, _ = a.await(ctx, t) // that ctx has ended, the calls find out below
	replies := make([]Reply[R], len(nodes))
	for i, f := range calls {
		v, err := f.Await(ctx)
		replies[i] = Reply[R]{nodes[i], v, err}
	}
	return replies
}

// apply has a function called on a node on behalf of p, whose waiter, asker or more
// is set. async says that the caller does not wait for the result.
func (a *acting) apply(async bool, p *call, at, module, function Atom, args []any) ticket {
	n := a.node
	p.target = nil
	t := p.arm()
	if a.p != nil && a.p.gone() {
		t.settle(a, nil, ErrExited)
		return t
	}
	if at == n.cfg.Name {
		a.applyHere(t, module, function, args)
		return t
	}
	q := n.peer(at)
	if q == nil {
		t.settle(a, nil, &ExitError{NoConnection})
		return t
	}
	a.applyOn(q, t, module, function, args)
	if async {
		q.pace(a)
	}
	return t
}

// applyOn is apply for a peer.
func (a *acting) applyOn(q *peer, t ticket, module, function Atom, args []any) {
	n := a.node
	ref := n.newRef() // of the request, and of the result
	q.ask(a, t, peers.ByResult, peers.Watch{}, dist.Frame{Op: dist.OpSpawn, Ref: ref, From: a.sender(), Token: a.p.token(),
		Spawn: &dist.Spawn{
			Module: erpc, Function: executeCall, Monitor: true, Leader: a.leader(),
			Args: []any{ref, module, function, wire.List(args)},
		}})
}

// applyHere is apply for this node. The function gets a process of its own, as
// there: it may panic, exit or be killed.
func (a *acting) applyHere(t ticket, module, function Atom, args []any) {
	n := a.node
	started := false
	token := a.p.token()
	o := Options{Leader: a.leader(), before: func(q *proc) {
		started = true
		q.inherit(token)
		t.p.target = q
		if !t.p.list() {
			t.settle(a, nil, &ExitError{q.reason()})
		}
	}}
	_, err := n.SpawnOpt(o, ProcessFunc(func(s *Process) error {
		class, v, stack := n.apply(s.Context(), module, function, args)
		if class == "return" {
			t.settle(&s.acting, v, nil)
			return nil
		}
		err := &RemoteError{Class: class, Reason: v}
		if class == wire.Error {
			err.Stack = stack
		}
		t.settle(&s.acting, nil, err)
		return nil
	}))
	if err != nil && !started {
		t.settle(a, nil, err)
	}
}

// outcome reads the exit reason of a process of erpc.
func outcome(ref Ref, e *ExitError) (any, error) {
	t, ok := e.Reason.(wire.Tuple)
	if !ok || len(t) < 3 || t[0] != ref {
		return nil, e
	}
	class, _ := t[1].(Atom)
	switch {
	case class == "return" && len(t) == 3:
		return t[2], nil
	case (class == "throw" || class == "exit" || class == wire.Error) && len(t) == 3:
		return nil, &RemoteError{Class: class, Reason: t[2]}
	case class == wire.Error && len(t) == 4:
		return nil, &RemoteError{Class: class, Reason: t[2], Stack: t[3]}
	}
	return nil, e
}

// RemoteError is an exception that a function has raised which was called by [RPC]
// or one of its kind.
type RemoteError struct {
	Class  Atom // error, exit or throw
	Reason any
	Stack  any // of the class error, as terms; nil if it is not told
}

func (e *RemoteError) Error() string {
	return fmt.Sprintf("node: the called function raised %s: %s", e.Class, reason.PlainText(e.Reason))
}

// Is makes errors.Is(err, ErrUndef) true for the error undef.
func (e *RemoteError) Is(target error) bool {
	return target == ErrUndef && e.Class == wire.Error && e.Reason == wire.Atom("undef")
}

// Term is the reason with which erpc:call raises the exception in its caller, where
// nothing catches it: {exception, Reason, Stack}, {exception, Reason}, or, of a
// throw, {nocatch, Reason}.
func (e *RemoteError) Term() any {
	switch {
	case e.Class == "throw":
		return (&reason.Throw{Reason: e.Reason}).Term()
	case e.Class == wire.Error && e.Stack != nil:
		return wire.Tuple{wire.Atom("exception"), e.Reason, e.Stack}
	case e.Class == wire.Error:
		return e.Reason // {erpc, What}: not of the function's making
	}
	return wire.Tuple{wire.Atom("exception"), e.Reason}
}

// erpcFor makes the process that calls a function for erpc on another node, p.
func (n *Node) erpcFor(p *peer, s *dist.Spawn) ProcessFunc {
	args, cast := s.Args, s.Function == executeCast
	var ref any
	if !cast {
		ref, args = args[0], args[1:]
	}
	module, ok1 := args[0].(Atom)
	function, ok2 := args[1].(Atom)
	list, ok3 := wire.Elements(args[2])
	proper := ok1 && ok2 && ok3
	return func(s *Process) error {
		var class Atom = wire.Error
		var v any = wire.Atom("undef")
		stack := wire.List{wire.Tuple{module, function, wire.List(list), wire.List{}}}
		switch {
		case !proper:
			v, stack = wire.Atom("badarg"), wire.List{wire.Tuple{wire.Atom("erlang"), wire.Atom("apply"), wire.List(args), wire.List{}}}
		case n.allows(p, module, function, len(list)):
			class, v, stack = n.apply(s.Context(), module, function, list)
		}
		switch {
		case cast:
			return castOver(class, v, stack, args)
		case class == wire.Error:
			return ExitWith(wire.Tuple{ref, class, v, stack})
		}
		return ExitWith(wire.Tuple{ref, class, v})
	}
}

// castOver is how a process ends whose function nobody waits for.
func castOver(class Atom, v any, stack, args wire.List) error {
	here := wire.List{wire.Tuple{erpc, executeCast, args, wire.List{}}}
	switch class {
	case "return":
		return nil
	case "throw":
		return ExitWith(wire.Tuple{wire.Tuple{wire.Atom("nocatch"), v}, here})
	case wire.Error:
		return ExitWith(wire.Tuple{wire.Tuple{wire.Atom("exception"), wire.Tuple{v, stack}}, here})
	}
	return ExitWith(v)
}
