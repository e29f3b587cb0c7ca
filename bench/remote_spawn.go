package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The style is that of the processes that are spawned.
var remoteSpawn = betweenNodes(contract.Bench{
	Name:   "remote_spawn",
	About:  "spawns on another node, one after the other, each answered",
	Params: []contract.Param{contract.Int("spawns", 20_000)},
	Ops:    func(p contract.Params) int { return p.Int("spawns") },
}, runRemoteSpawn, func(p contract.Params, n *node.Node) (node.PID, error) {
	err := n.ExportBehaviour(newcomerName, func(args []any) (node.Actor, error) {
		c, err := newNewcomer(args)
		if err == nil && p.Blocking() {
			return node.Process(c.process), nil
		}
		return c, err
	})
	if err != nil {
		return node.PID{}, err
	}
	return startTally(p, n, p.Int("spawns"))
})

var newcomerName = wire.Export{Module: "bench", Function: "newcomer", Arity: 2}

// newcomer tells a process its number, and ends.
type newcomer struct {
	to     node.PID
	number int
}

func newNewcomer(args []any) (c newcomer, err error) {
	var isPID, isInt bool
	c.to, isPID = args[0].(node.PID)
	c.number, isInt = args[1].(int)
	if !isPID || !isInt {
		return c, fmt.Errorf("%v takes a PID and a number, not %v", newcomerName, wire.Format(wire.List(args)))
	}
	return c, nil
}

func (c newcomer) Init(ctx *node.Context) error {
	ctx.Send(c.to, c.number)
	return node.Stop
}

func (newcomer) Receive(*node.Context, any) error { return node.Unhandled }

func (c newcomer) process(p *node.Self) error { return p.Send(c.to, c.number) }

func runRemoteSpawn(p contract.Params, m *contract.Meter, e nearEnd) error {
	spawns, ctx := p.Int("spawns"), e.main.Context()
	pids := make(map[node.PID]bool, spawns)
	m.Start()
	for i := range spawns {
		pid, err := node.SpawnAt(ctx, e.main, farName, newcomerName.Module, newcomerName.Function, e.far, i+1)
		if err != nil {
			return err
		}
		pids[pid] = true
	}
	got, err := e.receiveTally()
	m.Stop()
	if err != nil {
		return err
	}
	if want := spawns * (spawns + 1) / 2; got.total != want || len(pids) != spawns {
		return fmt.Errorf("%d processes, whose numbers add up to %d; not %d and %d", len(pids), got.total, spawns, want)
	}
	return nil
}
