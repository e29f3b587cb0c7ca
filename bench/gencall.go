package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var gencall = contract.Bench{
	Name:   "gencall",
	About:  "one client calls one generic server",
	Params: []contract.Param{contract.Int("calls", 1_000_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("calls") },
	Run:    runGencall,
}

// counter is a server that counts.
type counter struct{ count int }

type increase struct {
	genserver.Returns[int]
	by int
}

var counters = genserver.Define(genserver.OnCall((*counter).increase))

func (c *counter) increase(_ *genserver.Context, r increase) (int, error) {
	c.count += r.by
	return c.count, nil
}

func runGencall(p contract.Params, m *contract.Meter) error {
	calls := p.Int("calls")
	return onNode(p, func(main *node.Process) error {
		server, err := counters.Start(main.Context(), main, &counter{}, node.Options{})
		if err != nil {
			return err
		}
		o := node.Options{}
		if p.Style() != contract.Process {
			o.Place = node.Beside(server)
		}
		var client node.Actor = &callerActor{main: main.Self(), server: server, left: calls}
		if p.Blocking() {
			client = callerProcess(main.Self(), server, calls)
		}
		pid, err := main.SpawnOpt(o, client)
		if err != nil {
			return err
		}
		m.Start()
		main.Send(pid, release{})
		sum := node.ReceiveOf[answer](main).number
		m.Stop()
		if want := calls * (calls + 1) / 2; sum != want {
			return fmt.Errorf("the answers add up to %d, not %d", sum, want)
		}
		return nil
	})
}

// callerActor makes the next call when the answer to the previous one has arrived.
type callerActor struct {
	main, server node.PID
	left, sum    int
}

func (a *callerActor) Receive(ctx *node.Context, msg any) error {
	if r, ok := msg.(node.Result); ok {
		if r.Err != nil {
			return r.Err
		}
		a.sum += r.Value.(int)
	}
	if a.left == 0 {
		return ctx.Send(a.main, answer{a.sum})
	}
	a.left--
	node.SendRequest(ctx, a.server, nil, increase{by: 1})
	return nil
}

func callerProcess(main, server node.PID, calls int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		sum := 0
		for range calls {
			n, err := genserver.Call(p.Context(), p, server, increase{by: 1})
			if err != nil {
				return err
			}
			sum += n
		}
		return p.Send(main, answer{sum})
	}
}
