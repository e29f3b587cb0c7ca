package main

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var spawn = contract.Bench{
	Name:   "spawn",
	About:  "all alive and waiting at once, then one message each",
	Params: []contract.Param{contract.Int("n", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runSpawn,
}

type (
	question struct {
		number int
		reply  chan<- answer
	}
	answer struct{ number int }
)

func runSpawn(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	before := contract.RSS()
	m.Start()
	inboxes := make([]chan question, n)
	var ready sync.WaitGroup
	ready.Add(n)
	for i := range inboxes {
		inbox := make(chan question, 1) // one question each: asking never waits
		inboxes[i] = inbox
		go func() { // ends with its answer, which runSpawn waits for
			ready.Done()
			q := <-inbox
			q.reply <- answer{q.number}
		}()
	}
	ready.Wait()
	m.Stop()
	m.Extra("bytes_per_actor", float64(contract.RSS()-before)/float64(n))
	m.Extra("spawn_s", m.Spent().Seconds())

	answers := make(chan answer, 1024) // read as soon as all are asked
	total := 0
	m.Start()
	for i, inbox := range inboxes {
		inbox <- question{i + 1, answers}
	}
	for range inboxes {
		total += (<-answers).number
	}
	m.Stop()
	if want := n * (n + 1) / 2; total != want {
		return fmt.Errorf("the answers add up to %d, not %d", total, want)
	}
	return nil
}
