package node

import (
	"context"
	"errors"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/kernel"
	"github.com/actornode/actornode/node/internal/remote"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// Processes that other nodes expect here, and calls that they make.

// startKernel starts them. They are services: actors that the node keeps up.
func (n *Node) startKernel() error {
	_, err := n.keep(context.Background(), nodehook.Service{
		Name: "net_kernel", New: func() any { return netKernel{n} }, Ask: askThere(n),
	})
	if err != nil {
		return err
	}
	_, err = n.keep(context.Background(), nodehook.Service{
		Name: "rex", ShowPeer: true, New: func() any { return ActorFunc(rex) }, Ask: askThere(n),
	})
	return err
}

// netKernel is the process net_kernel. It stands for the plain goroutines of the program
// towards other nodes.
type netKernel struct{ n *Node }

// Init is part of Initializer.
func (netKernel) Init(c *Context) error {
	pid := c.Self()
	c.Node().dist.kernel.Store(&pid)
	return nil
}

// State is what sys:get_state shows: the name and creation of the node, and the nodes that are connected.
func (k netKernel) State() any {
	n := k.n
	return wire.NewMap(wire.Atom("name"), n.cfg.Name, wire.Atom("creation"), int(n.cfg.Creation),
		wire.Atom("visible"), atoms(n.Nodes(false)), wire.Atom("connected"), atoms(n.Nodes(true)))
}

// atoms is a list of names as a term.
func atoms(names []Atom) wire.List {
	l := make(wire.List, len(names))
	for i, name := range names {
		l[i] = name
	}
	return l
}

// Receive answers net_adm:ping: without an answer OTP takes a node for dead.
func (netKernel) Receive(c *Context, msg any) error {
	if to, answer, ok := kernel.RefuseIO(msg); ok {
		c.SendOpt(SendOptions{NoWait: true}, to, answer)
		return nil
	}
	if isThere(msg) {
		return nil
	}
	r, ok := c.Node().AsRequest(msg)
	if !ok || c.Node().answerFuture(r) {
		return nil
	} else if answer, ok := kernel.Ask(r.Body, c.Node().Name()); ok {
		return ignoreLate(c.Reply(r.From, answer))
	}
	return ignoreLate(r.Fail(kernel.Unsupported("net_kernel", r.Body)))
}

func ignoreLate(err error) error {
	if errors.Is(err, ErrReplied) {
		return nil
	}
	return err
}

// rex answers what comes to it since rpc goes by spawns: the question for
// features, and the calls of older nodes, block_call and C nodes.
func rex(c *Context, msg any) error {
	n := c.Node()
	if isThere(msg) {
		return nil
	}
	if r, ok := n.AsRequest(msg); ok {
		if call, ok := kernel.ReadCall(r.Body); ok {
			peer, _, _ := r.From.Peer()
			n.answerRex(peer, r.From.granted(), call, func(v any) { r.Reply(v) })
			return nil
		}
		return ignoreLate(r.Fail(kernel.Unsupported("rex", r.Body)))
	}
	var via PeerMessage
	if m, ok := msg.(PeerMessage); ok {
		via, msg = m, m.Message
	}
	if body, ok := asCast(msg); ok {
		msg = gencall.MakeCast(body)
	}
	r := kernel.Read(msg)
	answer := func(v any) { c.SendOpt(SendOptions{NoWait: true}, r.From, v) }
	switch r.Kind {
	case kernel.Features:
		answer(kernel.FeaturesReply(n.cfg.Name))
	case kernel.Calls:
		n.answerRex(via.Peer, n.grantedBy(&via), r.Call, func(v any) { n.SendOpt(SendOptions{NoWait: true}, r.From, kernel.Answer(v)) })
	case kernel.Casts:
		n.answerRex(via.Peer, n.grantedBy(&via), r.Call, func(any) {})
	case kernel.Forwards:
		err := passOn(c, via, r.Name, r.Message)
		if v, ok := r.Forwarded(n.cfg.Name, errors.Is(err, ErrNoName)); ok {
			answer(v)
		}
	}
	return nil
}

// passOn sends what a peer has asked to be sent, as if it had come from there itself.
func passOn(c *Context, via PeerMessage, name Atom, msg any) error {
	if name == "" || !remote.MayPassOn(c.Node().grantedBy(&via), name, msg) {
		return ErrNoName
	}
	q, msg, err := c.own.System.Named(name, msg)
	if err != nil {
		return err
	}
	if q.ShowsPeer {
		via.Message = c.Node().received(false, &PeerMessage{Peer: via.Peer, Addr: via.Addr, by: via.by}, msg)
		msg = via
	} else {
		msg = c.Node().received(false, nil, msg)
	}
	return c.SendOpt(SendOptions{NoWait: true}, q.PID(), msg) // to q, though the name may be another's by now
}

// answerRex runs a call in a process of its own, for a peer who may do what g says; "": nobody knows whose.
func (n *Node) answerRex(peer Atom, g *rights.Granted, call kernel.Call, reply func(any)) {
	e := wire.Export{Module: call.Module, Function: call.Function, Arity: len(call.Args)}
	switch {
	case call.Bad:
		reply(kernel.BadArg)
		return
	case n.takesNothing():
		reply(kernel.Refused)
		return
	case !n.allowsPeer(peer, e) || !g.RPC(e):
		reply(erpc.Undef(call.Module, call.Function, call.Args).Answer())
		return
	}
	err := n.spawnOwned(peer, Options{Leader: call.Leader}, ProcessFunc(func(p *Process) error {
		reply(n.run(p.Context(), call.Module, call.Function, call.Args).Answer())
		return nil
	}))
	if err != nil { // too many processes, of this peer or of all
		reply(kernel.Refused)
	}
}
