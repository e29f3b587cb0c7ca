package node

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Calls and starts by name, here and on other nodes. Package node/rpc offers them to
// programs; package erpc has the data and the rules.

// beginByName is begin for a function or a behaviour on a node: the outcome settles t.
func (n *Node) beginByName(ctx context.Context, a *process.Acting, async bool, t process.Ticket, to Dest) {
	switch to := to.(type) {
	case erpc.Function:
		n.apply(a, async && !to.Now, t, to, n.token(ctx, a))
	case erpc.Behaviour:
		n.startAt(a, t, to, n.token(ctx, a))
	default:
		t.Settle(a, nil, process.ErrNoDest)
	}
}

// apply calls a function. async says that the caller does not wait for the result.
func (n *Node) apply(a *process.Acting, async bool, t process.Ticket, f erpc.Function, token any) {
	if f.Node == n.cfg.Name {
		n.applyHere(a, t, f, token)
		return
	}
	p := n.peers.Want(f.Node, false)
	if p == nil {
		t.Settle(a, nil, n.unreachable(f.Node))
		return
	}
	p.Apply(a, t, f, n.leaderFor(a), token)
	if async {
		p.PaceAfter(a, f.Args)
	}
}

// applyHere is apply for this node. The function gets its own process, as on another node: it may panic, exit or be
// killed.
func (n *Node) applyHere(a *process.Acting, t process.Ticket, f erpc.Function, token any) {
	started := false
	o := Options{Leader: n.leaderFor(a), before: func(q *process.Process) {
		started = true
		q.Inherit(token)
		t.Call.Target = q
		if !t.Call.List() {
			t.Settle(a, nil, &ExitError{Reason: q.Reason()})
		}
	}}
	_, err := n.SpawnOpt(o, ProcessFunc(func(s *Process) error {
		v, err := n.run(s.Context(), f.Module, f.Name, f.Args).Opened(n.sys.Values.ReadErrorTerm).Result()
		t.Settle(s.by, v, err)
		return nil
	}))
	if err != nil && !started {
		t.Settle(a, nil, err)
	}
}

// applyCast calls a function, and tells nobody the outcome.
func (n *Node) applyCast(a *process.Acting, f erpc.Function) error {
	s := f.Cast(n.leaderFor(a))
	if f.Node == n.cfg.Name {
		_, err := n.spawnHere(s)
		return err
	}
	frame := dist.Frame{Op: dist.OpSpawn, Ref: n.sys.NewRef(), From: a.Sender(), Spawn: s, Token: a.Process.Token()}
	p := n.peers.Want(f.Node, false)
	if p == nil {
		if l, ok := watch.LetterOfFrame(frame, deadletter.NotConnected); ok {
			l.Node = f.Node
			n.sys.DeadLetter(l)
		}
		return fmt.Errorf("%w: %s", ErrNotHere, f.Node)
	}
	return p.Send(a, frame)
}

// startAt asks a node for a process.
func (n *Node) startAt(a *process.Acting, t process.Ticket, b erpc.Behaviour, token any) {
	s := b.Spawn(n.leaderFor(a))
	if b.Node == n.cfg.Name {
		pid, err := n.spawnHere(s)
		t.Settle(a, pid, err)
		return
	}
	p := n.peers.Want(b.Node, true)
	if p == nil {
		t.Settle(a, nil, n.unreachable(b.Node))
		return
	}
	p.AskSoon(a, t, dist.Frame{Op: dist.OpSpawn, Ref: n.sys.NewRef(), From: a.Sender(), Spawn: s, Token: token})
}

// spawnHere is for a spawn that this node asks of itself.
func (n *Node) spawnHere(s *dist.Spawn) (PID, error) {
	b, err := n.wanted(nil, s)
	if err != nil {
		return PID{}, erpc.NotStarted(errorTerm(err))
	}
	return n.SpawnOpt(Options{Leader: s.Leader}, b)
}

func (f *Future[R]) watches() *process.Watches {
	f.ask()
	return &f.w
}

// callExported calls the function that is exported as module:function with as many arguments. The error is
// erpc.ErrUndef if there is none, or if ctx belongs to a process that a peer has started, and Distribution.Access.Allow
// refuses that peer the function.
func (n *Node) callExported(ctx context.Context, module, function Atom, args []any) (any, error) {
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	if n.dist != nil && (n.dist.cfg.Access.Allow != nil || n.dist.cfg.Access.Rights != nil) && !n.allowsIn(ctx, e) {
		return nil, erpc.UndefExport(e)
	}
	f, all := n.exports.Find(module, function, args)
	switch {
	case f != nil:
		return f(ctx, all)
	case module == "erlang" && function == "whereis" && e.Arity == 1:
		return n.whereis(args[0]) // what Link and Exit of another node ask for a name
	}
	return nil, erpc.UndefExport(e)
}

// whereis is erlang:whereis/1 where nothing else is exported under that name.
func (n *Node) whereis(name any) (any, error) {
	a, ok := name.(Atom)
	if !ok {
		return nil, &calls.Raise{Reason: wire.Atom("badarg")}
	}
	if pid, ok := n.Whereis(a); ok {
		return pid, nil
	}
	return wire.AtomUndefined, nil
}

// run is callExported that reports the outcome as erpc does.
func (n *Node) run(ctx context.Context, module, function Atom, args []any) erpc.Outcome {
	return erpc.Run(module, function, args, n.sys.Values.ErrorTerm, func() (any, error) {
		return n.callExported(ctx, module, function, args)
	})
}

// wanted makes the behaviour of a process that p asks for; nil: this node does. If the user's code that makes it
// panics, the result is a process that crashes.
func (n *Node) wanted(p *peers.Peer, s *dist.Spawn) (b Actor, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			crash := Panicked(cause)
			b, err = ProcessFunc(func(*Process) error { return ExitWith(crash) }), nil
		}
	}()
	allows := func(e wire.Export) bool { return p == nil || n.allowsPeer(p.Name, e) && p.MayRun(s) }
	b, f, err := erpc.Wanted[*ExitError](&n.exports, s, allows, n.run)
	if f != nil {
		b = ProcessFunc(func(s *Process) error { return f(s.Context()) })
	}
	return b, err
}
