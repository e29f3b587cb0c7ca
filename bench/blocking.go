package main

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var blocking = contract.Bench{
	Name:  "blocking",
	About: "handlers that sleep, and what their neighbour's answers take meanwhile",
	Params: []contract.Param{contract.Int("handlers", 200), contract.Int("sleep_ms", 100), contract.Int("times", 5),
		contract.Style()},
	Ops: func(p contract.Params) int { return p.Int("handlers") * p.Int("times") },
	Run: runBlocking,
}

// rested is sent by a sleeper to the neighbour.
type rested struct{}

// runBlocking asks the neighbour, which shares a stage with all sleepers, how many of them have slept, until all have.
func runBlocking(p contract.Params, m *contract.Meter) error {
	handlers, left := p.Int("handlers"), p.Int("times")
	d := time.Duration(p.Int("sleep_ms")) * time.Millisecond
	return onNode(p, func(main *node.Process) error {
		count := 0
		neighbour := must(main.SpawnOpt(apart(p, main, 0), resting(p.Blocking(), func(_ napper, msg any) error {
			switch m := msg.(type) {
			case rested:
				count++
			case node.Request[int]:
				return m.Reply(count)
			}
			return nil
		})))
		pids := make([]node.PID, handlers)
		for i := range pids {
			left := left
			pids[i] = must(main.SpawnOpt(apart(p, main, 0), resting(p.Blocking(), func(c napper, _ any) error {
				c.Blocking(func() { time.Sleep(d) })
				if left--; left > 0 {
					c.Send(c.Self(), release{})
				}
				return c.Send(neighbour, rested{})
			})))
		}
		var times []time.Duration
		m.Start()
		releaseAll(main, pids)
		for slept, want := 0, handlers*p.Int("times"); slept < want; {
			asked := time.Now()
			now, err := node.Call[int](main.Context(), main, neighbour, slept)
			if err != nil {
				return err
			}
			if now < slept || now > want {
				return fmt.Errorf("%d have slept, and then %d of %d", slept, now, want)
			}
			times, slept = append(times, time.Since(asked)), now
		}
		m.Stop()
		m.Extra("asked", float64(len(times)))
		m.Quantiles("answer", times)
		return nil
	})
}

// napper is a process, of either style.
type napper interface {
	acting
	Blocking(func())
}

// resting makes a behaviour of a handler.
func resting(blocks bool, handle func(c napper, msg any) error) node.Actor {
	if !blocks {
		return node.ActorFunc(func(c *node.Context, msg any) error { return handle(c, msg) })
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			if err := handle(p, p.Receive()); err != nil {
				return err
			}
		}
	})
}
