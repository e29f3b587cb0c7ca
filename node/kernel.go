package node

import (
	"github.com/actornode/actornode/internal/nodehook"

	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire"
)

// Processes that other nodes expect here, and calls that they make.

// startKernel starts them. They are services: actors that the node keeps up.
func (n *Node) startKernel() error {
	_, err := n.keep(context.Background(), nodehook.Service{
		Name: "net_kernel", New: func() any { return kernel{} }, Ask: askThere(n),
	})
	if err != nil {
		return err
	}
	_, err = n.keep(context.Background(), nodehook.Service{
		Name: "rex", ShowPeer: true, New: func() any { return ActorFunc(rex) }, Ask: askThere(n),
	})
	return err
}

// kernel is the process net_kernel. It stands for the plain goroutines of the program
// towards other nodes.
type kernel struct{}

// Init is part of Initializer.
func (kernel) Init(c *Context) error {
	pid := c.Self()
	c.node.dist.kernel.Store(&pid)
	return nil
}

// Receive is part of Actor.
func (kernel) Receive(c *Context, msg any) error { return netKernel(c, msg) }

// netKernel answers net_adm:ping: without an answer OTP takes a node for dead.
func netKernel(c *Context, msg any) error {
	if t, ok := msg.(wire.Tuple); ok && len(t) == 4 && t[0] == wire.Atom("io_request") {
		if from, ok := t[1].(PID); ok { // it leads where there is no user; nobody must wait for ever
			refused := wire.Tuple{wire.Error, wire.Atom("enotsup")}
			c.SendOpt(SendOptions{NoWait: true}, from, wire.Tuple{wire.Atom("io_reply"), t[2], refused})
		}
		return nil
	}
	if isThere(msg) {
		return nil
	}
	r, ok := c.node.AsRequest(msg)
	if !ok {
		return nil
	}
	if t, ok := r.Body.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.Atom("is_auth") {
		return ignoreLate(c.Reply(r.From, wire.Atom("yes")))
	}
	return ignoreLate(r.Fail(fmt.Errorf("net_kernel does not support %s", reason.Text(r.Body))))
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
	n := c.node
	if isThere(msg) {
		return nil
	}
	if r, ok := n.AsRequest(msg); ok {
		if t, ok := r.Body.(wire.Tuple); ok && len(t) == 5 && (t[0] == wire.Atom("call") || t[0] == wire.Atom("block_call")) {
			peer, _, _ := r.From.Peer()
			return n.answerRex(peer, t, func(v any) { r.Reply(v) })
		}
		return ignoreLate(r.Fail(fmt.Errorf("rex does not support %s", reason.Text(r.Body))))
	}
	var via PeerMessage
	if m, ok := msg.(PeerMessage); ok {
		via, msg = m, m.Message
	}
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return nil
	}
	if from, ok := t[0].(PID); ok {
		if t[1] == wire.Atom("features_request") {
			c.SendOpt(SendOptions{NoWait: true}, from, wire.Tuple{wire.Atom("features_reply"), n.cfg.Name, wire.List{wire.Atom("erpc")}})
			return nil
		}
		if call, ok := t[1].(wire.Tuple); ok && len(call) == 5 && call[0] == wire.Atom("call") {
			return n.answerRex(via.Peer, call, func(v any) { n.SendOpt(SendOptions{NoWait: true}, from, wire.Tuple{wire.Atom("rex"), v}) })
		}
		if cast, ok := t[1].(wire.Tuple); ok && len(cast) == 3 {
			via.Message = nil
			forward(c, via, from, cast)
		}
		return nil
	}
	if cast, ok := t[1].(wire.Tuple); ok && t[0] == wire.Atom("$gen_cast") && len(cast) == 5 && cast[0] == wire.Atom("cast") {
		return n.answerRex(via.Peer, cast, func(any) {})
	}
	return nil
}

// forward answers rpc:sbcast, and {send, Name, Message} of C nodes.
func forward(c *Context, via PeerMessage, from PID, cast wire.Tuple) {
	name, ok := cast[1].(Atom)
	var err error
	switch {
	case !ok:
		err = ErrNoName
	case cast[0] == wire.Atom("sbcast"):
		err = passOn(c, via, name, cast[2])
	case cast[0] == wire.Atom("send"):
		if err = passOn(c, via, name, wire.Tuple{from, cast[2]}); !errors.Is(err, ErrNoName) {
			return // it is up to the receiver to answer
		}
	default:
		return
	}
	var answer any = c.node.cfg.Name
	if errors.Is(err, ErrNoName) {
		answer = wire.Tuple{wire.Atom("nonexisting_name"), cast[1]}
	}
	c.SendOpt(SendOptions{NoWait: true}, from, wire.Tuple{wire.Atom("rex"), c.node.cfg.Name, answer})
}

// passOn sends what a peer has asked to be sent, as if it had come from there itself.
func passOn(c *Context, via PeerMessage, name Atom, msg any) error {
	q, err := c.node.named(name, msg)
	if err != nil {
		return err
	}
	if q.showsPeer {
		via.Message = msg
		msg = via
	}
	return c.SendOpt(SendOptions{NoWait: true}, q.pid(), msg) // to q, though the name may be another's by now
}

// answerRex runs {call, Module, Function, Args, Leader} in a process of its own, for a
// peer; "": nobody knows whose.
func (n *Node) answerRex(peer Atom, t wire.Tuple, reply func(any)) error {
	module, ok1 := t[1].(Atom)
	function, ok2 := t[2].(Atom)
	args, ok3 := wire.Elements(t[3])
	if !ok1 || !ok2 || !ok3 {
		reply(erpc.BadRPC(wire.Atom("badarg")))
		return nil
	}
	if n.takesNothing() {
		reply(refused())
		return nil
	}
	if !n.allowsPeer(peer, wire.Export{Module: module, Function: function, Arity: len(args)}) {
		reply(erpc.Undef(module, function, args).Answer())
		return nil
	}
	leader, _ := t[4].(PID)
	err := n.spawnOwned(peer, Options{Leader: leader}, ProcessFunc(func(p *Process) error {
		reply(n.run(p.Context(), module, function, args).Answer())
		return nil
	}))
	if err != nil { // too many processes, of this peer or of all
		reply(refused())
	}
	return nil
}
