package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var latency = contract.Bench{
	Name:   "latency",
	About:  "two actors, one ball",
	Params: []contract.Param{contract.Int("roundtrips", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
	Run:    runLatency,
}

type ball struct {
	from   *actor.PID
	number int
}

func runLatency(p contract.Params, m *contract.Meter) error {
	roundtrips := p.Int("roundtrips")
	return onSystem(func(root *actor.RootContext) error {
		returned := make(chan int, 1)
		pong := root.Spawn(actor.PropsFromFunc(pongBall))
		ping := root.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return &pinger{pong: pong, left: roundtrips, returned: returned}
		}))
		m.Start()
		root.Send(ping, &release{})
		count := <-returned
		m.Stop()
		if count != roundtrips {
			return fmt.Errorf("%d of %d balls came back", count, roundtrips)
		}
		return nil
	})
}

// pinger sends a ball, and the next one when it is back.
type pinger struct {
	pong        *actor.PID
	left, count int
	returned    chan<- int
}

func (p *pinger) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *ball:
		if m.from.Equal(p.pong) && m.number == p.left {
			p.count++
		}
		if p.left--; p.left == 0 {
			p.returned <- p.count
			return
		}
		ctx.Send(p.pong, &ball{ctx.Self(), p.left})
	case *release:
		ctx.Send(p.pong, &ball{ctx.Self(), p.left})
	}
}

// pongBall returns balls to their senders.
func pongBall(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *ball:
		ctx.Send(m.from, &ball{ctx.Self(), m.number})
	}
}
