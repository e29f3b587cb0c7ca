package node

import (
	"context"
	"errors"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// Processes that other nodes expect here, and calls that they make.

// startKernel starts them. They are services: actors that the node keeps up.
func (n *Node) startKernel() error {
	_, err := n.keep(context.Background(), process.Kept[Actor]{
		Name: "net_kernel", ShowPeer: true, New: func() Actor { return netKernel{n} }, Ask: askThere(n),
	})
	if err != nil {
		return err
	}
	_, err = n.keep(context.Background(), process.Kept[Actor]{
		Name: "rex", ShowPeer: true, New: func() Actor { return ActorFunc(rex) }, Ask: askThere(n),
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
		wire.Atom("visible"), atoms(n.Nodes()), wire.Atom("connected"), atoms(n.AllNodes()))
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
	if isThere(msg) {
		return nil
	}
	sender, bare := sentBy(msg)
	if to, answer, ok := erpc.RefuseIO(bare); ok {
		c.answer(sender, to, answer)
		return nil
	}
	r, ok := c.Node().AsRequest(msg)
	if !ok || c.Node().answerFuture(r) {
		return nil
	} else if answer, ok := erpc.AnswerNetKernel(r.Body, c.Node().Name()); ok {
		return ignoreLate(c.Reply(r.From, answer))
	}
	return ignoreLate(r.Fail(erpc.Unsupported("net_kernel", r.Body)))
}

// answer answers the process to, which a message of the peer by names, if by may reach it. A nil by: the message is of
// this node.
func (c *Context) answer(by *peers.Sender, to PID, answer any) {
	if by != nil && !by.Asker(c.by.System).MayReach(to) {
		by.Misdirected(c.by.System, calls.From{PID: to}, answer)
		return
	}
	c.SendOpt(SendOptions{NoWait: true}, to, answer)
}

func ignoreLate(err error) error {
	if errors.Is(err, ErrReplied) {
		return nil
	}
	return err
}

// rex answers what still comes to it now that rpc uses spawns: the question for features, and the calls of older nodes,
// block_call and C nodes.
func rex(c *Context, msg any) error {
	n := c.Node()
	if isThere(msg) {
		return nil
	}
	if r, ok := n.AsRequest(msg); ok {
		if call, ok := erpc.ReadRexCall(r.Body); ok {
			n.answerRex(r.From.asker(), call, func(v any) { r.Reply(v) })
			return nil
		}
		return ignoreLate(r.Fail(erpc.Unsupported("rex", r.Body)))
	}
	sender, msg := sentBy(msg)
	by := sender.Asker(&n.sys)
	if body, ok := AsCast(msg); ok {
		msg = calls.MakeCast(body)
	}
	r := erpc.ReadRex(msg)
	if r.Kind != erpc.RexNothing && r.Kind != erpc.RexCasts && sender != nil && !by.MayReach(r.From) {
		sender.Misdirected(&n.sys, calls.From{PID: r.From}, msg)
		return nil
	}
	switch r.Kind {
	case erpc.RexFeatures:
		c.answer(sender, r.From, erpc.FeaturesReply(n.cfg.Name))
	case erpc.RexCalls:
		n.answerRex(by, r.Call, func(v any) { n.SendOpt(SendOptions{NoWait: true}, r.From, erpc.RexAnswer(v)) })
	case erpc.RexCasts:
		n.answerRex(by, r.Call, func(any) {})
	case erpc.RexForwards:
		err := n.sendFor(c.by, by, r.Name, r.Message)
		if v, ok := r.Forwarded(n.cfg.Name, errors.Is(err, ErrNoName)); ok {
			c.answer(sender, r.From, v)
		}
	}
	return nil
}

// sendFor sends msg for a peer, as if that had sent it itself. The error is [ErrNoName] for what it may not send, and
// for a name that nobody has. A mailbox here blocks no sender; a connection to another node does.
func (n *Node) sendFor(a *process.Acting, by *peers.Asker, to Dest, msg any) error {
	if name, ok := to.(Atom); ok && name == "" || !by.MaySend(to, msg) {
		n.counts.Add(peers.Refused, "send")
		return ErrNoName
	}
	c := common{a}
	if by == nil {
		return c.SendOpt(SendOptions{NoWait: true}, to, msg)
	}
	t := n.sys.Target(to)
	if t.Node != "" {
		return c.sendTarget(t, msg)
	}
	msg, err := n.sys.Take(&t, msg)
	if err == ErrNoProcess {
		return nil // as for any message to the dead
	} else if err != nil {
		return err
	}
	from := peers.SenderFor(by)
	if msg = n.received(from, msg); t.Process.ShowsPeer {
		msg = show(from, msg)
	}
	return c.SendOpt(SendOptions{NoWait: true}, t.PID, msg) // to the process, though the name may be another's by now
}

// answerRex runs a call in its own process, for the peer that asked for it.
func (n *Node) answerRex(by *peers.Asker, call erpc.RexCall, reply func(any)) {
	e := wire.Export{Module: call.Module, Function: call.Function, Arity: len(call.Args)}
	switch {
	case call.Bad:
		reply(erpc.BadArg)
		return
	case n.takesNothing():
		reply(erpc.Refused)
		return
	case by != nil && !n.allowsPeer(by.Who.Name, e) || !by.Granted().RPC(e):
		reply(erpc.Undef(call.Module, call.Function, call.Args).Answer())
		return
	}
	o := Options{}
	if by.MayReach(call.Leader) {
		o.Leader = call.Leader
	}
	err := n.spawnOwned(by, o, ProcessFunc(func(p *Process) error {
		reply(n.run(p.Context(), call.Module, call.Function, call.Args).Answer())
		return nil
	}))
	if err != nil { // too many processes, of this peer or of all
		reply(erpc.Refused)
	}
}
