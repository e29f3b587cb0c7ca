package main

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

var threadring = contract.Bench{
	Name:   "threadring",
	About:  "one token with a hop count walks a ring",
	Params: []contract.Param{contract.Int("n", 503), contract.Int("hops", 5_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("hops") },
	Run: func(p contract.Params, m *contract.Meter) error {
		c := newCircle(p.Int("n"), 1)
		defer c.stop()
		return c.run([]walk{{at: 0, passes: p.Int("hops")}}, m)
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
		began := time.Now()
		c := newCircle(n, tokens)
		defer c.stop()
		m.Extra("startup_s", time.Since(began).Seconds())
		return c.run(walks(n, tokens, passes), m)
	},
}

type token struct{ left int }

// walk is where a token starts and how often it is passed on.
type walk struct{ at, passes int }

// walks spaces the tokens evenly; their passes add up to all of them.
func walks(n, tokens, passes int) []walk {
	w := make([]walk, tokens)
	for i := range w {
		w[i] = walk{at: i * n / tokens, passes: (i+1)*passes/tokens - i*passes/tokens}
	}
	return w
}

// circle is a ring of goroutines: number i reads links[i] and writes the next.
type circle struct {
	links []chan token
	ended chan int // the member that saw a token run out
	wg    sync.WaitGroup
}

// newCircle returns when all n goroutines run. The links together have room
// for one token more than there are, so never are all of them full and
// everybody sending.
func newCircle(n, tokens int) *circle {
	c := &circle{links: make([]chan token, n), ended: make(chan int, tokens)}
	for i := range c.links {
		c.links[i] = make(chan token, 1+tokens/n)
	}
	var ready sync.WaitGroup
	ready.Add(n)
	for i := range n {
		c.wg.Go(func() { // ends when stop closes its link
			ready.Done()
			c.pass(i, c.links[i], c.links[(i+1)%n])
		})
	}
	ready.Wait()
	return c
}

func (c *circle) pass(i int, in <-chan token, out chan<- token) {
	for t := range in {
		if t.left == 0 {
			c.ended <- i
			continue
		}
		out <- token{t.left - 1}
	}
}

// run sends each token on its walk and checks where it ended.
func (c *circle) run(walks []walk, m *contract.Meter) error {
	n := len(c.links)
	var want, got []int
	m.Start()
	for _, w := range walks {
		c.links[w.at] <- token{w.passes}
	}
	for range walks {
		got = append(got, <-c.ended)
	}
	m.Stop()
	for _, w := range walks {
		want = append(want, (w.at+w.passes)%n)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return errors.New("a token ended at the wrong node")
	}
	return nil
}

// stop ends the goroutines; by now no token is under way.
func (c *circle) stop() {
	for _, link := range c.links {
		close(link)
	}
	c.wg.Wait()
}
