package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

var remoteLatency = betweenNodes(contract.Bench{
	Name:   "remote_latency",
	About:  "two nodes, one ball",
	Params: []contract.Param{contract.Int("roundtrips", 20_000)},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
}, runRemoteLatency, func(p contract.Params, n *node.Node) (node.PID, error) {
	if p.Blocking() {
		return n.Spawn(farPongProcess)
	}
	return n.Spawn(farPonger{})
})

// farBall is a ball on the wire: {ball, From, Number}.
func farBall(from node.PID, number int) wire.Tuple {
	return wire.Tuple{node.Atom("ball"), from, number}
}

// asBall parses the result of farBall.
func asBall(msg any) (b ball, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 3 || t[0] != node.Atom("ball") {
		return b, false
	}
	var isPID, isInt bool
	b.from, isPID = t[1].(node.PID)
	b.number, isInt = t[2].(int)
	return b, isPID && isInt
}

func runRemoteLatency(p contract.Params, m *contract.Meter, e nearEnd) error {
	roundtrips := p.Int("roundtrips")
	var ping node.PID
	if p.Blocking() {
		ping = must(e.main.Spawn(farPingProcess(e.far, e.main.Self(), roundtrips)))
	} else {
		ping = must(e.main.Spawn(&farPinger{far: e.far, main: e.main.Self(), left: roundtrips}))
	}
	m.Start()
	e.main.Send(ping, release{})
	msg, err := e.receive()
	m.Stop()
	if err != nil {
		return err
	}
	if got := msg.(returned); got.count != roundtrips {
		return fmt.Errorf("%d of %d balls came back", got.count, roundtrips)
	}
	return nil
}

// farPinger sends a ball to the far end, and the next one when it is back.
type farPinger struct {
	far, main   node.PID
	left, count int
}

func (p *farPinger) Receive(ctx *node.Context, msg any) error {
	if b, ok := asBall(msg); ok {
		if b.from == p.far && b.number == p.left {
			p.count++
		}
		if p.left--; p.left == 0 {
			return ctx.Send(p.main, returned{p.count})
		}
	} else if _, ok := msg.(release); !ok {
		return node.ErrUnhandled
	}
	return ctx.Send(p.far, farBall(ctx.Self(), p.left))
}

// farPonger returns balls from another node.
type farPonger struct{}

func (farPonger) Receive(ctx *node.Context, msg any) error {
	b, ok := asBall(msg)
	if !ok {
		return node.ErrUnhandled
	}
	return ctx.Send(b.from, farBall(ctx.Self(), b.number))
}

func farPingProcess(far, main node.PID, roundtrips int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		count := 0
		for left := roundtrips; left > 0; left-- {
			p.Send(far, farBall(p.Self(), left))
			if b, ok := asBall(p.Receive()); ok && b.from == far && b.number == left {
				count++
			}
		}
		return p.Send(main, returned{count})
	}
}

var farPongProcess node.ProcessFunc = func(p *node.Process) error {
	for {
		if b, ok := asBall(p.Receive()); ok {
			p.Send(b.from, farBall(p.Self(), b.number))
		}
	}
}
