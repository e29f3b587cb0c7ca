package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var remoteBulk = betweenNodes(contract.Bench{
	Name:  "remote_bulk",
	About: "balls to and fro while large binaries pass",
	Params: []contract.Param{
		contract.Int("mib", 256).Range(1, 1024),
		contract.Int("messages", 1),
	},
	Ops: func(p contract.Params) int { return p.Int("messages") },
}, runRemoteBulk, func(p contract.Params, n *node.Node) (node.PID, error) {
	if p.Blocking() {
		return n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			for {
				farHost(p, p.Self(), p.Receive())
			}
		}))
	}
	return n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error { return farHost(c, c.Self(), msg) }))
})

// farHost returns balls, and sends main the lengths of binaries.
func farHost(from node.Caller, self node.PID, msg any) error {
	switch m := msg.(type) {
	case []byte:
		return node.Send(from, nearMain, len(m))
	default:
		b, ok := asBall(m)
		if !ok {
			return node.ErrUnhandled
		}
		return node.Send(from, b.from, farBall(self, b.number))
	}
}

// runRemoteBulk sends balls one after the other, from before the first binary is sent until the last has arrived.
func runRemoteBulk(p contract.Params, m *contract.Meter, e nearEnd) error {
	size, messages := p.Int("mib")<<20, p.Int("messages")
	binary := make([]byte, size)
	for i := range binary {
		binary[i] = byte(i)
	}
	if _, err := e.rally(1000, nil); err != nil { // not timed
		return err
	}
	sender := must(e.main.Spawn(node.ProcessFunc(func(p *node.Process) error {
		node.ReceiveOf[release](p)
		for range messages {
			p.Send(e.far, binary)
		}
		return nil
	})))
	came := 0
	m.Start()
	releaseAll(e.main, []node.PID{sender})
	times, err := e.rally(-1, func(n int) bool {
		if came++; n != size {
			came = -1
		}
		return came < messages && came > 0
	})
	m.Stop()
	if err != nil {
		return err
	}
	if came != messages {
		return fmt.Errorf("a binary has come with another length than %d", size)
	}
	slices.Sort(times)
	m.Extra("pings", float64(len(times)))
	for _, q := range []struct {
		key string
		at  float64
	}{{"ping_p50_s", 0.5}, {"ping_p99_s", 0.99}, {"ping_max_s", 1}} {
		m.Extra(q.key, times[max(0, int(q.at*float64(len(times))+0.5)-1)].Seconds())
	}
	return nil
}

// rally plays a number of balls, or until more returns false, and returns the round trip of each. more is called with each
// number received in between.
func (e nearEnd) rally(balls int, more func(number int) bool) (times []time.Duration, err error) {
	for i := 0; i != balls; i++ {
		served := time.Now()
		e.main.Send(e.far, farBall(e.main.Self(), i))
		for back := false; !back; {
			msg, err := e.receive()
			if err != nil {
				return nil, err
			}
			if n, ok := msg.(int); ok {
				if !more(n) {
					balls = i + 1
				}
			} else if b, ok := asBall(msg); ok && b.number == i {
				times = append(times, time.Since(served))
				back = true
			} else {
				return nil, fmt.Errorf("ball %d came back as %v", i, msg)
			}
		}
	}
	return times, nil
}
