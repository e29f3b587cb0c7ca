package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var supertree = contract.Bench{
	Name:   "supertree",
	About:  "an actor's children, started one by one and stopped with it",
	Params: []contract.Param{contract.Int("n", 100_000)},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runSupertree,
}

type (
	startChild    struct{}
	child         struct{ pid *actor.PID }
	countChildren struct{}
)

func runSupertree(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	return onSystem(func(root *actor.RootContext) error {
		parent := root.Spawn(actor.PropsFromFunc(beParent))
		pids := make([]*actor.PID, n)
		before := contract.RSS()
		m.Start()
		for i := range pids {
			got, err := root.RequestFuture(parent, &startChild{}, noTimeout).Result()
			if err != nil {
				return err
			}
			pids[i] = got.(*child).pid
		}
		m.Stop()
		started := m.Spent()
		m.Extra("start_s", started.Seconds())
		m.Extra("bytes_per_child", float64(contract.RSS()-before)/float64(n))
		got, err := root.RequestFuture(parent, &countChildren{}, noTimeout).Result()
		if err != nil || got.(*counted).count != n {
			return fmt.Errorf("%v of %d children are there, error %w", got, n, err)
		}
		m.Start()
		err = root.StopFuture(parent).Wait()
		m.Stop()
		if err != nil {
			return fmt.Errorf("stop the parent: %w", err)
		}
		m.Extra("stop_s", (m.Spent() - started).Seconds())
		for _, pid := range pids {
			if _, ok := root.ActorSystem().ProcessRegistry.Get(pid); ok {
				return fmt.Errorf("%v is left", pid)
			}
		}
		return nil
	})
}

// children wait for a message that does not come.
var children = actor.PropsFromFunc(func(actor.Context) {})

// beParent starts children on request.
func beParent(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *startChild:
		ctx.Respond(&child{ctx.Spawn(children)})
	case *countChildren:
		ctx.Respond(&counted{len(ctx.Children())})
	}
}
