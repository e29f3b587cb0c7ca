package main

import (
	"errors"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var chameneos = contract.Bench{
	Name:  "chameneos",
	About: "creatures meet in pairs and change colour",
	Params: []contract.Param{
		contract.Int("creatures", 10).Range(2, 1<<20), contract.Int("meetings", 600_000),
	},
	Ops: func(p contract.Params) int { return p.Int("meetings") },
	Run: runChameneos,
}

type colour uint8

const colours = 3 // blue, red, yellow: 0, 1, 2

// complement returns the colour of both creatures after a meeting: their colour if they are alike, else the third.
func complement(a, b colour) colour {
	if a == b {
		return a
	}
	return colours - a - b
}

type (
	visit struct {
		creature *actor.PID
		colour   colour
	}
	meeting struct{ colour colour } // the other's
	closed  struct{}                // to a creature that arrives too late
)

// met is what a creature reports at the end, or the place if a creature was about to meet itself.
type met struct {
	count    int
	misfound bool
}

func runChameneos(p contract.Params, m *contract.Meter) error {
	meetings := p.Int("meetings")
	return onSystem(func(root *actor.RootContext) error {
		pids, counts := make([]*actor.PID, p.Int("creatures")), make([]int, p.Int("creatures"))
		reports := make(chan met, len(pids)+1)
		here := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &place{left: meetings, reports: reports} }))
		for i := range pids {
			pids[i] = root.Spawn(actor.PropsFromProducer(func() actor.Actor {
				return &creature{place: here, colour: colour(i % colours), reports: reports}
			}))
		}
		m.Start()
		releaseAll(root, pids)
		for i := range counts {
			got := <-reports
			if got.misfound {
				return errors.New("a creature met itself")
			}
			counts[i] = got.count
		}
		m.Stop()
		m.Extra("stddev", stddev(counts))
		if total(counts) != 2*meetings {
			return errors.New("the creatures' meetings do not add up")
		}
		return nil
	})
}

// place keeps the first visitor until the second arrives, and sends each the other's colour.
type place struct {
	left    int
	first   *visit // nil if nobody waits
	reports chan<- met
}

func (p *place) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *visit:
		switch {
		case p.left == 0:
			ctx.Send(m.creature, &closed{})
		case p.first == nil:
			p.first = m
		case m.creature.Equal(p.first.creature):
			p.reports <- met{misfound: true}
			ctx.Stop(ctx.Self())
		default:
			ctx.Send(p.first.creature, &meeting{m.colour})
			ctx.Send(m.creature, &meeting{p.first.colour})
			p.first = nil
			p.left--
		}
	}
}

// creature visits the place again and again.
type creature struct {
	place   *actor.PID
	count   int
	colour  colour
	reports chan<- met
}

func (c *creature) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *meeting:
		c.colour = complement(c.colour, m.colour)
		c.count++
		ctx.Send(c.place, &visit{ctx.Self(), c.colour})
	case *release:
		ctx.Send(c.place, &visit{ctx.Self(), c.colour})
	case *closed:
		c.reports <- met{count: c.count}
	}
}

func total(counts []int) (sum int) {
	for _, c := range counts {
		sum += c
	}
	return sum
}

func stddev(counts []int) float64 {
	mean := float64(total(counts)) / float64(len(counts))
	square := 0.0
	for _, c := range counts {
		square += (float64(c) - mean) * (float64(c) - mean)
	}
	return math.Sqrt(square / float64(len(counts)))
}
