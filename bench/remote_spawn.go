package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// The style is that of the spawned processes.
var remoteSpawn = betweenNodes(contract.Bench{
	Name:   "remote_spawn",
	About:  "spawns on another node, by each caller one after the other, each answered",
	Params: []contract.Param{contract.Int("spawns", 20_000), contract.Int("callers", 1)},
	Ops:    func(p contract.Params) int { return p.Int("spawns") },
}, runRemoteSpawn, func(p contract.Params, n *node.Node) (node.PID, error) {
	err := rpc.ExportBehaviour(n, newcomerName, func(args []any) (node.Actor, error) {
		c, err := newNewcomer(args)
		if err == nil && p.Blocking() {
			return node.ProcessFunc(c.process), nil
		}
		return c, err
	})
	if err != nil {
		return node.PID{}, err
	}
	return startTally(p, n, p.Int("spawns"))
})

var newcomerName = wire.Export{Module: "bench", Function: "newcomer", Arity: 2}

// newcomer sends a process its number, and ends.
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
	return node.ErrStop
}

func (newcomer) Receive(*node.Context, any) error { return node.ErrUnhandled }

func (c newcomer) process(p *node.Process) error { return p.Send(c.to, c.number) }

func runRemoteSpawn(p contract.Params, m *contract.Meter, e nearEnd) error {
	spawns, callers := p.Int("spawns"), p.Int("callers")
	pids := make(map[node.PID]bool, spawns)
	rest := make([]node.PID, 0, callers)
	for i := 2; i <= callers; i++ { // main is the first
		rest = append(rest, must(e.main.Spawn(farCaller(e.far, e.main.Self(), i, callers, spawns))))
	}
	m.Start()
	releaseAll(e.main, rest)
	if err := spawnFar(e.main, e.far, 1, callers, spawns, func(pid node.PID) { pids[pid] = true }); err != nil {
		return err
	}
	var got tallied
	for left := len(rest) + 1; left > 0; left-- {
		msg, err := e.receive()
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case []node.PID:
			for _, pid := range msg {
				pids[pid] = true
			}
		case error:
			return msg
		default:
			if got, err = tallyOf(msg); err != nil {
				return err
			}
		}
	}
	m.Stop()
	if want := spawns * (spawns + 1) / 2; got.total != want || len(pids) != spawns {
		return fmt.Errorf("%d processes, whose numbers add up to %d; not %d and %d", len(pids), got.total, spawns, want)
	}
	return nil
}

// spawnFar spawns the newcomers with every step-th number up to the last.
func spawnFar(from *node.Process, far node.PID, first, step, last int, done func(node.PID)) error {
	for i := first; i <= last; i += step {
		pid, err := rpc.Spawn(from.Context(), from, farName, newcomerName.Module, newcomerName.Function, far, i)
		if err != nil {
			return err
		}
		done(pid)
	}
	return nil
}

// farCaller spawns its share when released, and sends main the processes or an error.
func farCaller(far, main node.PID, first, step, last int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		var pids []node.PID
		if err := spawnFar(p, far, first, step, last, func(pid node.PID) { pids = append(pids, pid) }); err != nil {
			return p.Send(main, err)
		}
		return p.Send(main, pids)
	}
}
