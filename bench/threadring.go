package main

import (
	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var threadring = contract.Bench{
	Name:   "threadring",
	About:  "one token with a hop count walks a ring",
	Params: []contract.Param{contract.Int("n", 503), contract.Int("hops", 5_000_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("hops") },
	Run: func(p contract.Params, m *contract.Meter) error {
		return onNode(p, func(main *node.Process) error {
			links := newCircle(main, p.Int("n"), p.Blocking())
			return circulate(main, links, []walk{{at: 0, passes: p.Int("hops")}}, m)
		})
	},
}
