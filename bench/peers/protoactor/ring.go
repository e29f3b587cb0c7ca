package main

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var threadring = contract.Bench{
	Name:   "threadring",
	About:  "one token with a hop count walks a ring",
	Params: []contract.Param{contract.Int("n", 503), contract.Int("hops", 5_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("hops") },
	Run: func(p contract.Params, m *contract.Meter) error {
		return onSystem(func(root *actor.RootContext) error {
			c := newCircle(root, p.Int("n"), 1)
			return c.run([]walk{{at: 0, passes: p.Int("hops")}}, m)
		})
	},
}

var ring = contract.Bench{
	Name:  "ring",
	About: "start-up, then evenly spaced tokens circulate",
	Params: []contract.Param{
		contract.Int("n", 1000), contract.Int("tokens", 10), contract.Int("passes", 2_000_000),
	},
	Ops: func(p contract.Params) int { return p.Int("passes") },
	Run: func(p contract.Params, m *contract.Meter) error {
		n, tokens, passes := p.Int("n"), p.Int("tokens"), p.Int("passes")
		return onSystem(func(root *actor.RootContext) error {
			began := time.Now()
			c := newCircle(root, n, tokens)
			m.Extra("startup_s", time.Since(began).Seconds())
			return c.run(walks(n, tokens, passes), m)
		})
	},
}

type (
	neighbour struct{ next *actor.PID }
	token     struct{ left int }
)

// link passes tokens on to the next.
type link struct {
	next  *actor.PID
	ready *sync.WaitGroup
	ended chan<- *actor.PID
}

func (l *link) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *token:
		if m.left == 0 {
			l.ended <- ctx.Self()
			return
		}
		ctx.Send(l.next, &token{m.left - 1})
	case *neighbour:
		l.next = m.next
		l.ready.Done()
	}
}

// circle is a ring of links.
type circle struct {
	root  *actor.RootContext
	links []*actor.PID
	ended chan *actor.PID // the links where tokens have run out
}

// newCircle makes n links and returns when all have reported that they are ready.
func newCircle(root *actor.RootContext, n, tokens int) *circle {
	c := &circle{root: root, links: make([]*actor.PID, n), ended: make(chan *actor.PID, tokens)}
	var ready sync.WaitGroup
	ready.Add(n)
	props := actor.PropsFromProducer(func() actor.Actor { return &link{ready: &ready, ended: c.ended} })
	for i := range c.links {
		c.links[i] = root.Spawn(props)
	}
	for i, pid := range c.links {
		root.Send(pid, &neighbour{c.links[(i+1)%n]})
	}
	ready.Wait()
	return c
}

// walk is the start of a token and how often it is passed on.
type walk struct{ at, passes int }

// walks spaces the tokens evenly; their passes add up to all of them.
func walks(n, tokens, passes int) []walk {
	w := make([]walk, tokens)
	for i := range w {
		w[i] = walk{at: i * n / tokens, passes: (i+1)*passes/tokens - i*passes/tokens}
	}
	return w
}

// run sends each token on its walk and checks where it ended.
func (c *circle) run(walks []walk, m *contract.Meter) error {
	ends := make([]*actor.PID, len(walks))
	m.Start()
	for _, w := range walks {
		c.root.Send(c.links[w.at], &token{w.passes})
	}
	for i := range ends {
		ends[i] = <-c.ended
	}
	m.Stop()
	var want, got []int
	for i, w := range walks {
		want = append(want, (w.at+w.passes)%len(c.links))
		got = append(got, slices.IndexFunc(c.links, ends[i].Equal))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return errors.New("a token ended at the wrong link")
	}
	return nil
}
