package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

var supertree = contract.Bench{
	Name:   "supertree",
	About:  "a supervisor's dynamic children, started one by one and stopped with it",
	Params: []contract.Param{contract.Int("n", 100_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runSupertree,
}

func runSupertree(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	done := make(chan error, 1)
	return onNode(p, func(main *node.Process) error {
		// The style is that of the caller. Children that wait for a message are always actors, since the bench measures the
		// supervisor.
		o := node.Options{Coroutine: p.Style() != contract.Process}
		main.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
			done <- raise(p, n, m)
			return nil
		}))
		return <-done
	})
}

func child(...any) (node.Actor, error) { return responder{}, nil }

func raise(p *node.Process, n int, m *contract.Meter) error {
	ctx := p.Context()
	sup, err := supervisor.Start(ctx, p, supervisor.Spec{
		Strategy: supervisor.SimpleOneForOne,
		Children: []supervisor.Child{{ID: node.Atom("child"), Start: child}},
	}, node.Options{})
	if err != nil {
		return err
	}
	pids := make([]node.PID, n)
	before := contract.RSS()
	m.Start()
	for i := range pids {
		if pids[i], err = supervisor.StartDynamic(ctx, p, sup); err != nil {
			return err
		}
	}
	m.Stop()
	started := m.Spent()
	m.Extra("start_s", started.Seconds())
	m.Extra("bytes_per_child", float64(contract.RSS()-before)/float64(n))
	if c, err := supervisor.CountChildren(ctx, p, sup); err != nil || c.Active != n {
		return fmt.Errorf("%d of %d children are there, error %v", c.Active, n, err)
	}
	m.Start()
	p.Monitor(sup)
	p.Exit(sup, node.Shutdown)
	node.ReceiveOf[node.Down](p)
	m.Stop()
	m.Extra("stop_s", (m.Spent() - started).Seconds())
	for _, pid := range pids {
		if p.Node().IsAlive(pid) {
			return fmt.Errorf("%v is left", pid)
		}
	}
	return nil
}
