package main

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var blocking = contract.Bench{
	Name:   "blocking",
	About:  "handlers that sleep, and what another actor's answers take meanwhile",
	Params: []contract.Param{contract.Int("handlers", 200), contract.Int("sleep_ms", 100), contract.Int("times", 5)},
	Ops:    func(p contract.Params) int { return p.Int("handlers") * p.Int("times") },
	Run:    runBlocking,
}

type (
	rested  struct{}
	howMany struct{}
)

// runBlocking asks an actor how many times the sleepers have slept, until all have.
func runBlocking(p contract.Params, m *contract.Meter) error {
	handlers, want := p.Int("handlers"), p.Int("handlers")*p.Int("times")
	d := time.Duration(p.Int("sleep_ms")) * time.Millisecond
	return onSystem(func(root *actor.RootContext) error {
		counter := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &tally{} }))
		props := actor.PropsFromProducer(func() actor.Actor { return &sleeper{to: counter, sleep: d, left: p.Int("times")} })
		pids := make([]*actor.PID, handlers)
		for i := range pids {
			pids[i] = root.Spawn(props)
		}
		var times []time.Duration
		m.Start()
		releaseAll(root, pids)
		for slept := 0; slept < want; {
			asked := time.Now()
			got, err := root.RequestFuture(counter, &howMany{}, noTimeout).Result()
			if err != nil {
				return err
			}
			now := got.(*counted).count
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

// tally counts those that have slept.
type tally struct{ count int }

func (t *tally) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *rested:
		t.count++
	case *howMany:
		ctx.Respond(&counted{t.count})
	}
}

// sleeper sleeps in its handler, which has a goroutine of its own.
type sleeper struct {
	to    *actor.PID
	sleep time.Duration
	left  int
}

func (s *sleeper) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *release:
		time.Sleep(s.sleep)
		if s.left--; s.left > 0 {
			ctx.Send(ctx.Self(), &release{})
		}
		ctx.Send(s.to, &rested{})
	}
}
