package main

import (
	"fmt"
	"runtime"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
)

var collect = contract.Bench{
	Name:   "collect",
	About:  "actors with owners, made and dropped in rounds",
	Params: []contract.Param{contract.Int("n", 1_000_000), contract.Int("round", 1000).Range(1, 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("n") },
	Run:    runCollect,
}

// dropped is an actor that owns itself.
type dropped struct {
	self *lifetime.Owner
	got  int
}

func (d *dropped) Receive(_ *node.Context, msg any) error {
	d.self = msg.(*lifetime.Owner)
	d.got++
	return nil
}

// runCollect makes rounds of actors. Each receives its own owner in a message and is then dropped. At the end all must have
// been collected. The heap is measured after a tenth of the rounds and after all.
func runCollect(p contract.Params, m *contract.Meter) error {
	n, round := p.Int("n"), p.Int("round")
	return onNode(p, func(main *node.Process) error {
		early, most := uint64(0), 0
		m.Start()
		for made := 0; made < n; {
			for range min(round, n-made) {
				o, err := lifetime.Own(main, &dropped{}, node.Options{})
				if err != nil {
					return err
				}
				if err := o.Send(main, o); err != nil {
					return err
				}
				made++
			}
			most = max(most, main.Node().Stats().Processes)
			if early == 0 && made >= n/10 {
				m.Stop()
				early = settled(main.Node())
				m.Start()
			}
		}
		for main.Node().Stats().Processes > 1 {
			runtime.GC()
		}
		m.Stop()
		late := settled(main.Node())
		m.Extra("heap_early_mib", float64(early)/(1<<20))
		m.Extra("heap_late_mib", float64(late)/(1<<20))
		m.Extra("most_alive", float64(most))
		if late > 2*early+16<<20 {
			return fmt.Errorf("the heap has grown from %d to %d bytes", early, late)
		}
		return nil
	})
}

// settled returns the size of the heap when all processes except main have been collected.
func settled(n *node.Node) uint64 {
	for n.Stats().Processes > 1 {
		runtime.GC()
	}
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
