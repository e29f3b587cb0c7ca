package main

import (
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var spawn = contract.Bench{
	Name:   "spawn",
	About:  "all alive and waiting at once, then one message each",
	Params: []contract.Param{contract.Int("n", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runSpawn,
}

type (
	question struct{ number int }
	answer   struct{ number int }
)

func runSpawn(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	return onSystem(func(root *actor.RootContext) error {
		pids, sum := make([]*actor.PID, n), make(chan int, 1)
		main := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &asker{pids: pids, left: n, sum: sum} }))
		before := contract.RSS()
		m.Start()
		var started sync.WaitGroup
		started.Add(n)
		props := actor.PropsFromFunc(respond(&started))
		for i := range pids {
			pids[i] = root.Spawn(props)
		}
		started.Wait()
		m.Stop()
		m.Extra("bytes_per_actor", float64(contract.RSS()-before)/float64(n))
		m.Extra("spawn_s", m.Spent().Seconds())

		m.Start()
		root.Send(main, &release{})
		total := <-sum
		m.Stop()
		if want := n * (n + 1) / 2; total != want {
			return fmt.Errorf("the answers add up to %d, not %d", total, want)
		}
		return nil
	})
}

// respond answers one request and stops. It has handled its start when all are said to wait.
func respond(started *sync.WaitGroup) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started:
			started.Done()
		case *question:
			ctx.Respond(&answer{m.number})
			ctx.Stop(ctx.Self())
		}
	}
}

// asker asks all, and adds up their answers.
type asker struct {
	pids        []*actor.PID
	left, total int
	sum         chan<- int
}

func (a *asker) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *answer:
		a.total += m.number
		if a.left--; a.left == 0 {
			a.sum <- a.total
		}
	case *release:
		for i, pid := range a.pids {
			ctx.Request(pid, &question{i + 1})
		}
	}
}
