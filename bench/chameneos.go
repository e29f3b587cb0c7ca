package main

import (
	"errors"
	"math"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var chameneos = contract.Bench{
	Name:  "chameneos",
	About: "creatures meet in pairs and change colour",
	Params: []contract.Param{
		contract.Int("creatures", 10).Range(2, 1<<20), contract.Int("meetings", 600_000), contract.Style(),
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
		creature node.PID
		colour   colour
	}
	meeting  struct{ colour colour } // the other's
	closed   struct{}                // to a creature that arrives too late
	met      struct{ count int }     // a creature's own
	misfound struct{}                // a creature was about to meet itself
)

func runChameneos(p contract.Params, m *contract.Meter) error {
	meetings := p.Int("meetings")
	return onNode(p, func(main *node.Process) error {
		var here node.PID
		counts := make([]int, p.Int("creatures"))
		if p.Blocking() {
			here = must(main.Spawn(placeProcess(main.Self(), meetings)))
			for i := range counts {
				must(main.Spawn(creatureProcess(here, main.Self(), colour(i%colours))))
			}
		} else {
			here = must(main.Spawn(shut{&place{main: main.Self(), left: meetings}}))
			there := node.Options{Place: node.Beside(here)} // a creature only communicates with the place
			for i := range counts {
				must(main.SpawnOpt(there, &creature{place: here, main: main.Self(), colour: colour(i % colours)}))
			}
		}
		m.Start()
		main.Send(here, release{})
		for i := range counts {
			got, ok := main.Receive().(met)
			if !ok {
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

// shut is the place before it opens: visitors wait.
type shut struct{ place *place }

func (s shut) Receive(ctx *node.Context, msg any) error {
	switch msg.(type) {
	case release:
		ctx.Become(s.place)
		return nil
	}
	return node.ErrUnhandled
}

// place keeps the first visitor until the second arrives, and sends each the other's colour.
type place struct {
	main    node.PID
	left    int
	first   visit
	waiting bool // first is set
}

func (p *place) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case visit:
		if p.left == 0 {
			return ctx.Send(m.creature, closed{})
		}
		if !p.waiting {
			p.first, p.waiting = m, true
			return nil
		}
		if m.creature == p.first.creature {
			return ctx.Send(p.main, misfound{})
		}
		ctx.Send(p.first.creature, meeting{m.colour})
		ctx.Send(m.creature, meeting{p.first.colour})
		p.waiting = false
		p.left--
		return nil
	}
	return node.ErrUnhandled
}

// creature visits the place again and again.
type creature struct {
	place, main node.PID
	count       int
	colour      colour
}

func (c *creature) Init(ctx *node.Context) error {
	return ctx.Send(c.place, visit{ctx.Self(), c.colour})
}

func (c *creature) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case meeting:
		c.colour = complement(c.colour, m.colour)
		c.count++
		return ctx.Send(c.place, visit{ctx.Self(), c.colour})
	case closed:
		return ctx.Send(c.main, met{c.count})
	}
	return node.ErrUnhandled
}

func placeProcess(main node.PID, meetings int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		for range meetings {
			a, b := p.Receive().(visit), p.Receive().(visit)
			if a.creature == b.creature {
				return p.Send(main, misfound{})
			}
			p.Send(a.creature, meeting{b.colour})
			p.Send(b.creature, meeting{a.colour})
		}
		for {
			p.Send(p.Receive().(visit).creature, closed{})
		}
	}
}

func creatureProcess(place, main node.PID, own colour) node.ProcessFunc {
	return func(p *node.Process) error {
		for count := 0; ; count++ {
			p.Send(place, visit{p.Self(), own})
			other, ok := p.Receive().(meeting)
			if !ok {
				return p.Send(main, met{count})
			}
			own = complement(own, other.colour)
		}
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
