package main

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The figure is not the duration of a round trip, but the processor time that both ends spend on it at a given rate.
var remoteCPU = betweenNodes(contract.Bench{
	Name:  "remote_cpu",
	About: "processor time of both nodes for one ball, so many times a second",
	Params: []contract.Param{contract.Int("roundtrips", 3000), contract.Int("rate", 1000),
		contract.Word(spinKey, "default", "on", "off")},
	Ops: func(p contract.Params) int { return p.Int("roundtrips") },
}, runRemoteCPU, func(p contract.Params, n *node.Node) (node.PID, error) {
	if p.Blocking() {
		return n.Spawn(node.ProcessFunc(func(s *node.Process) error {
			for {
				msg := s.Receive()
				if err := returnBallOrCPU(s, s.Self(), msg); err != nil {
					return err
				}
			}
		}))
	}
	return n.Spawn(cpuPonger{})
})

// farCPU requests the processor time of the far end, and is the first element of its answer.
const farCPU node.Atom = "cpu"

// cpuPonger is a farPonger that also answers farCPU.
type cpuPonger struct{}

func (cpuPonger) Receive(ctx *node.Context, msg any) error {
	return returnBallOrCPU(ctx, ctx.Self(), msg)
}

func returnBallOrCPU(s node.Caller, self node.PID, msg any) error {
	if b, ok := asBall(msg); ok {
		return node.Send(s, b.from, farBall(self, b.number))
	}
	if msg == farCPU {
		return node.Send(s, nearMain, wire.Tuple{farCPU, int(contract.CPU())})
	}
	return node.ErrUnhandled
}

// cpuOfFar returns the processor time that the far end has used.
func (e nearEnd) cpuOfFar() (time.Duration, error) {
	e.main.Send(e.far, farCPU)
	msg, err := e.receive()
	if err != nil {
		return 0, err
	}
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != farCPU {
		return 0, fmt.Errorf("the far end says %v, not its processor time", wire.Format(msg))
	}
	return time.Duration(t[1].(int)), nil
}

func runRemoteCPU(p contract.Params, m *contract.Meter, e nearEnd) error {
	roundtrips, rate := p.Int("roundtrips"), p.Int("rate")
	g := &pacedGame{far: e.far, main: e.main.Self(), left: roundtrips}
	far, err := e.cpuOfFar()
	if err != nil {
		return err
	}
	near, pace := contract.CPU(), contract.NewPace(rate)
	if p.Blocking() {
		must(e.main.Spawn(g.process(pace)))
	} else {
		ping := must(e.main.Spawn(g))
		for range roundtrips {
			pace.Wait()
			e.main.Send(ping, release{})
		}
	}
	msg, err := e.receive()
	if err != nil {
		return err
	}
	m.Extra("rate", pace.Rate())
	near = contract.CPU() - near
	now, err := e.cpuOfFar()
	if err != nil {
		return err
	}
	far = now - far
	if got := msg.(returned); got.count != roundtrips {
		return fmt.Errorf("%d of %d balls came back", got.count, roundtrips)
	}
	m.Charge(near + far)
	m.Extra("far_ns_per_op", float64(far)/float64(roundtrips))
	m.Extra("roundtrip_s", g.trips.Seconds()/float64(roundtrips))
	return nil
}

// pacedGame sends a ball at each release, and waits for it before the next one.
type pacedGame struct {
	far, main   node.PID
	left, count int
	due         int // releases while the ball is away
	away        bool
	served      time.Time
	trips       time.Duration // of all balls; main reads it when the game is over
}

func (g *pacedGame) Receive(ctx *node.Context, msg any) error {
	if _, ok := msg.(release); ok {
		g.due++
	} else if b, ok := asBall(msg); ok {
		g.back(b)
		if g.left == 0 {
			return ctx.Send(g.main, returned{g.count})
		}
	} else {
		return node.ErrUnhandled
	}
	if g.away || g.due == 0 {
		return nil
	}
	g.due--
	g.away, g.served = true, time.Now()
	return ctx.Send(g.far, farBall(ctx.Self(), g.left))
}

// back handles a returned ball.
func (g *pacedGame) back(b ball) {
	g.trips += time.Since(g.served)
	if b.from == g.far && b.number == g.left {
		g.count++
	}
	g.left--
	g.away = false
}

// process is the game of a blocking process, which waits like Erlang's receive after.
func (g *pacedGame) process(pace *contract.Pace) node.ProcessFunc {
	nothing := func(any) bool { return false }
	return func(p *node.Process) error {
		for g.left > 0 {
			if d := pace.Next(); d > 0 {
				if _, err := p.ReceiveWithin(d, nothing); err == nil {
					return fmt.Errorf("a message that was not asked for")
				}
			}
			g.served = time.Now()
			p.Send(g.far, farBall(p.Self(), g.left))
			if b, ok := asBall(p.Receive()); ok {
				g.back(b)
			}
		}
		return p.Send(g.main, returned{g.count})
	}
}
