package main

import (
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var selective = contract.Bench{
	Name:  "selective",
	About: "an answer past messages that wait",
	Params: []contract.Param{contract.Int("asks", 200_000), contract.Int("waiting", 100_000),
		contract.Word("style", contract.Process, contract.Coroutine)},
	Ops: func(p contract.Params) int { return p.Int("asks") },
	Run: runSelective,
}

type (
	ask struct {
		from node.PID
		ref  node.Ref
	}
	told struct{ ref node.Ref }
	left struct{ number int } // waits and is never received
	turn struct{ asks int }   // from main, to an asker
	took struct{ d time.Duration }
)

// selectiveTurns is the number of turns of each asker. One with waiting messages and one with an empty mailbox alternate,
// so that other load on the machine slows down both.
const selectiveTurns = 20

func runSelective(p contract.Params, m *contract.Meter) error {
	asks, waiting := p.Int("asks"), p.Int("waiting")
	return onNode(p, func(main *node.Process) error {
		server := must(main.Spawn(answerer))
		empty := must(main.Spawn(asker(main.Self(), server, 0)))
		full := must(main.Spawn(asker(main.Self(), server, waiting)))
		sums := map[node.PID]time.Duration{}
		for i := range selectiveTurns {
			for _, pid := range []node.PID{empty, full} {
				main.Send(pid, turn{asks*(i+1)/selectiveTurns - asks*i/selectiveTurns})
				sums[pid] += node.ReceiveOf[took](main).d
			}
		}
		m.Charge(sums[full])
		m.Extra("ratio", float64(sums[full])/float64(max(sums[empty], 1)))
		return nil
	})
}

// answerer answers requests.
var answerer node.ProcessFunc = func(p *node.Process) error {
	for {
		a := p.Receive().(ask)
		p.Send(a.from, told{a.ref})
	}
}

// asker makes its requests in turns. Its waiting messages are there from the start.
func asker(main, server node.PID, waiting int) node.ProcessFunc {
	return func(p *node.Process) error {
		for i := range waiting {
			p.Send(p.Self(), left{i})
		}
		for {
			asks := node.ReceiveOf[turn](p).asks
			began := time.Now()
			for range asks {
				receive := p.Mark()
				ref := p.Node().MakeRef()
				p.Send(server, ask{p.Self(), ref})
				_, err := receive(node.Infinity, func(m any) bool { t, ok := m.(told); return ok && t.ref == ref })
				if err != nil {
					return err
				}
			}
			p.Send(main, took{time.Since(began)})
		}
	}
}
