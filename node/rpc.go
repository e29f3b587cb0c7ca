package node

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/export"
	"github.com/actornode/actornode/node/internal/peers"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// What is called and started by name, here and on other nodes. Package node/rpc offers it to
// programs, package erpc has the data and the rules.

// beginByName is begin for a function or a behaviour on a node: t is settled with what comes of it.
func (a *acting) beginByName(async bool, t ticket, to Dest) {
	switch to := to.(type) {
	case erpc.Function:
		a.apply(async && !to.Now, t, to)
	case erpc.Behaviour:
		a.startAt(t, to)
	default:
		t.settle(a, nil, ErrNoDest)
	}
}

// apply has a function called. async says that the caller does not wait for the result.
func (a *acting) apply(async bool, t ticket, f erpc.Function) {
	n := a.node
	if f.Node == n.cfg.Name {
		a.applyHere(t, f)
		return
	}
	q := n.peer(f.Node)
	if q == nil {
		t.settle(a, nil, &ExitError{NoConnection})
		return
	}
	a.applyOn(q, t, f)
	if async {
		q.pace(a)
	}
}

// applyOn is apply for a peer.
func (a *acting) applyOn(q *peer, t ticket, f erpc.Function) {
	ref := a.node.newRef() // of the request, and of the result
	q.ask(a, t, peers.ByResult, peers.Watch{}, dist.Frame{Op: dist.OpSpawn, Ref: ref, From: a.sender(), Token: a.p.token(),
		Spawn: f.Call(ref, a.leader())})
}

// applyHere is apply for this node. The function gets a process of its own, as
// there: it may panic, exit or be killed.
func (a *acting) applyHere(t ticket, f erpc.Function) {
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
		v, err := n.run(s.Context(), f.Module, f.Name, f.Args).Opened(n.values.ReadErrorTerm).Result()
		t.settle(&s.acting, v, err)
		return nil
	}))
	if err != nil && !started {
		t.settle(a, nil, err)
	}
}

// applyCast has a function called of which nobody is told how it goes.
func (a *acting) applyCast(f erpc.Function) error {
	n := a.node
	s := f.Cast(a.leader())
	if f.Node == n.cfg.Name {
		_, err := n.spawnHere(s)
		return err
	}
	frame := dist.Frame{Op: dist.OpSpawn, Ref: n.newRef(), From: a.sender(), Spawn: s, Token: a.p.token()}
	p := n.peer(f.Node)
	if p == nil {
		n.lost(frame)
		return fmt.Errorf("%w: %s", ErrNotHere, f.Node)
	}
	return p.send(a, frame)
}

// startAt asks a node for a process.
func (a *acting) startAt(t ticket, b erpc.Behaviour) {
	n := a.node
	s := b.Spawn(a.leader())
	if b.Node == n.cfg.Name {
		pid, err := n.spawnHere(s)
		t.settle(a, pid, err)
		return
	}
	p := n.want(b.Node)
	if p == nil {
		t.settle(a, nil, &ExitError{NoConnection})
		return
	}
	p.askSoon(a, t, dist.Frame{Op: dist.OpSpawn, Ref: n.newRef(), From: a.sender(), Spawn: s, Token: a.p.token()})
}

// spawnHere is for a spawn that this node asks of itself.
func (n *Node) spawnHere(s *dist.Spawn) (PID, error) {
	b, err := n.wanted(nil, s)
	if err != nil {
		return PID{}, erpc.NotStarted(errorTerm(err))
	}
	return n.SpawnOpt(Options{Leader: s.Leader}, b)
}

// awaitAll waits until all futures are settled or ctx ends, in the way that is proper for the
// caller.
func (a *acting) awaitAll(ctx context.Context, futures []any) {
	all := a.promise()
	all.target = nil
	t := all.arm()
	var left atomic.Int64
	left.Store(int64(len(futures)) + 1)
	answered := func(a *acting) {
		if left.Add(-1) == 0 {
			t.settle(a, nil, nil)
		}
	}
	for _, f := range futures {
		f.(interface{ watches() *watches }).watches().Add(a, answered)
	}
	answered(a)
	_, _ = a.await(ctx, t, waiting.Future, nil)
}

func (f *Future[R]) watches() *watches {
	f.ask()
	return &f.w
}

// callExported calls the function that is exported as module:function with as many arguments; the
// error is export.ErrUndef if there is none, or if ctx is that of a process which a peer has
// started, and Distribution.Allow refuses that peer the function.
func (n *Node) callExported(ctx context.Context, module, function Atom, args []any) (any, error) {
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	if n.dist != nil && n.dist.cfg.Allow != nil && !n.allowsIn(ctx, e) {
		return nil, export.Undef(e)
	}
	f, all := n.exports.Find(module, function, args)
	switch {
	case f != nil:
		return f(ctx, all)
	case module == "erlang" && function == "whereis" && e.Arity == 1:
		return n.whereis(args[0]) // what Link and Exit of another node ask for a name
	}
	return nil, export.Undef(e)
}

// whereis is erlang:whereis/1 where nothing else is exported under that name.
func (n *Node) whereis(name any) (any, error) {
	a, ok := name.(Atom)
	if !ok {
		return nil, &reason.Raise{Reason: wire.Atom("badarg")}
	}
	if pid, ok := n.Whereis(a); ok {
		return pid, nil
	}
	return wire.Undefined, nil
}

// run is callExported that tells how it went as erpc does.
func (n *Node) run(ctx context.Context, module, function Atom, args []any) erpc.Outcome {
	return erpc.Run(module, function, args, n.values.ErrorTerm, func() (any, error) {
		return n.callExported(ctx, module, function, args)
	})
}

// wanted makes the behaviour of a process that a peer asks for, nil: that this node does. A panic of
// the code of the user's that makes it is a process that crashes.
func (n *Node) wanted(p *peer, s *dist.Spawn) (b Actor, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			crash := panicked(cause)
			b, err = ProcessFunc(func(*Process) error { return ExitWith(crash) }), nil
		}
	}()
	allows := func(e wire.Export) bool { return p == nil || n.allowsPeer(p.name, e) }
	b, f, err := erpc.Wanted[*ExitError](&n.exports, s, allows, n.run)
	if f != nil {
		b = ProcessFunc(func(s *Process) error { return f(s.Context()) })
	}
	return b, err
}
