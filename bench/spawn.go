package main

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var spawn = contract.Bench{
	Name:   "spawn",
	About:  "all alive and waiting at once, then one message each",
	Params: []contract.Param{contract.Int("n", 1_000_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runSpawn,
}

type (
	question struct {
		from   node.PID
		number int
	}
	answer struct{ number int }
)

func runSpawn(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	return onNode(p, func(main *node.Process) error {
		before := contract.RSS()
		m.Start()
		pids := make([]node.PID, n)
		if p.Blocking() {
			var running sync.WaitGroup
			running.Add(n)
			respond := responderProcess(&running)
			for i := range pids {
				pids[i] = must(main.Spawn(respond))
			}
			running.Wait()
		} else {
			for i := range pids {
				pids[i] = must(main.Spawn(responder{}))
			}
		}
		m.Stop()
		m.Extra("bytes_per_actor", float64(contract.RSS()-before)/float64(n))
		m.Extra("spawn_s", m.Spent().Seconds())

		total := 0
		m.Start()
		for i, pid := range pids {
			main.Send(pid, question{main.Self(), i + 1})
		}
		for range pids {
			total += main.Receive().(answer).number
		}
		m.Stop()
		if want := n * (n + 1) / 2; total != want {
			return fmt.Errorf("the answers add up to %d, not %d", total, want)
		}
		return nil
	})
}

// responder answers one request. It waits for it from its start and needs no state.
type responder struct{}

func (responder) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case question:
		ctx.Send(m.from, answer{m.number})
		return node.ErrStop
	}
	return node.ErrUnhandled
}

// responderProcess reports when it runs, so that main knows when all wait.
func responderProcess(running *sync.WaitGroup) node.ProcessFunc {
	return func(p *node.Process) error {
		running.Done()
		q := p.Receive().(question)
		return p.Send(q.from, answer{q.number})
	}
}
