package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var latency = contract.Bench{
	Name:   "latency",
	About:  "two actors, one ball",
	Params: []contract.Param{contract.Int("roundtrips", 1_000_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
	Run:    runLatency,
}

type (
	ball struct {
		from   node.PID
		number int
	}
	returned struct{ count int }
)

func runLatency(p contract.Params, m *contract.Meter) error {
	roundtrips := p.Int("roundtrips")
	return onNode(p, func(main *node.Process) error {
		var ping node.PID
		if p.Blocking() {
			pong := must(main.Spawn(pongProcess))
			ping = must(main.Spawn(pingProcess(pong, main.Self(), roundtrips)))
		} else {
			pong := must(main.Spawn(ponger{}))
			ping = must(main.Spawn(&pinger{pong: pong, main: main.Self(), left: roundtrips}))
		}
		m.Start()
		main.Send(ping, release{})
		got := node.ReceiveOf[returned](main)
		m.Stop()
		if got.count != roundtrips {
			return fmt.Errorf("%d of %d balls came back", got.count, roundtrips)
		}
		return nil
	})
}

// pinger sends a ball, and the next one when it is back.
type pinger struct {
	pong, main  node.PID
	left, count int
}

func (p *pinger) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case ball:
		if m.from == p.pong && m.number == p.left {
			p.count++
		}
		if p.left--; p.left == 0 {
			return ctx.Send(p.main, returned{p.count})
		}
		return ctx.Send(p.pong, ball{ctx.Self(), p.left})
	case release:
		return ctx.Send(p.pong, ball{ctx.Self(), p.left})
	}
	return node.ErrUnhandled
}

// ponger returns balls to their senders.
type ponger struct{}

func (ponger) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case ball:
		return ctx.Send(m.from, ball{ctx.Self(), m.number})
	}
	return node.ErrUnhandled
}

func pingProcess(pong, main node.PID, roundtrips int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		count := 0
		for left := roundtrips; left > 0; left-- {
			p.Send(pong, ball{p.Self(), left})
			if b := p.Receive().(ball); b.from == pong && b.number == left {
				count++
			}
		}
		return p.Send(main, returned{count})
	}
}

var pongProcess node.ProcessFunc = func(p *node.Process) error {
	for {
		b := p.Receive().(ball)
		p.Send(b.from, ball{p.Self(), b.number})
	}
}
