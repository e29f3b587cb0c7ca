package main

import (
	"errors"
	"slices"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var ring = contract.Bench{
	Name:  "ring",
	About: "start-up, then evenly spaced tokens circulate",
	Params: []contract.Param{
		contract.Int("n", 1000), contract.Int("tokens", 10), contract.Int("passes", 2_000_000), contract.Style(),
	},
	Ops: func(p contract.Params) int { return p.Int("passes") },
	Run: func(p contract.Params, m *contract.Meter) error {
		return onNode(p, func(main *node.Process) error {
			began := time.Now()
			links := newCircle(main, p.Int("n"), p.Blocking())
			m.Extra("startup_s", time.Since(began).Seconds())
			return circulate(main, links, walks(p.Int("n"), p.Int("tokens"), p.Int("passes")), m)
		})
	},
}

type (
	neighbour struct{ pid node.PID } // to the link that was made before its next one
	ready     struct{}
	token     struct{ left int }
	ended     struct{ at node.PID }
)

// link passes tokens on to the next.
type link struct{ next, main node.PID }

func (l *link) Init(ctx *node.Context) error {
	if l.next == (node.PID{}) {
		return nil
	}
	return ctx.Send(l.main, ready{})
}

func (l *link) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case token:
		if m.left == 0 {
			return ctx.Send(l.main, ended{ctx.Self()})
		}
		return ctx.Send(l.next, token{m.left - 1})
	case neighbour:
		l.next = m.pid
		return ctx.Send(l.main, ready{})
	}
	return node.ErrUnhandled
}

// linkProcess is link in the blocking style.
func linkProcess(next, main node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		if next == (node.PID{}) {
			next = node.ReceiveOf[neighbour](p).pid
		}
		p.Send(main, ready{})
		for {
			t := p.Receive().(token)
			if t.left == 0 {
				p.Send(main, ended{p.Self()})
			} else {
				p.Send(next, token{t.left - 1})
			}
		}
	}
}

// newCircle makes n links and returns when all have reported that they are ready. It makes the last one first, so that each
// of the others knows the next from its start.
func newCircle(main *node.Process, n int, blocking bool) []node.PID {
	links := make([]node.PID, n)
	var next node.PID
	for i := range links {
		if blocking {
			next = must(main.Spawn(linkProcess(next, main.Self())))
		} else {
			next = must(main.Spawn(&link{next, main.Self()}))
		}
		links[n-1-i] = next
	}
	main.Send(links[n-1], neighbour{links[0]})
	for range links {
		node.ReceiveOf[ready](main)
	}
	return links
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

// circulate sends each token on its walk and checks where it ended.
func circulate(main *node.Process, links []node.PID, walks []walk, m *contract.Meter) error {
	ends := make([]node.PID, len(walks))
	m.Start()
	for _, w := range walks {
		main.Send(links[w.at], token{w.passes})
	}
	for i := range ends {
		ends[i] = node.ReceiveOf[ended](main).at
	}
	m.Stop()
	var want, got []int
	for i, w := range walks {
		want = append(want, (w.at+w.passes)%len(links))
		got = append(got, slices.Index(links, ends[i]))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return errors.New("a token ended at the wrong link")
	}
	return nil
}
