package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var coop = contract.Bench{
	Name:   "coop",
	About:  "nested self-calls, each awaiting a call on the same actor",
	Params: []contract.Param{contract.Int("calls", 2500), contract.Int("depth", 5).Range(0, 1000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("calls") },
	Run:    runCoop,
}

type (
	recursive struct {
		from  node.PID
		depth int
	}
	compute struct{}
)

func runCoop(p contract.Params, m *contract.Meter) error {
	calls, depth := p.Int("calls"), p.Int("depth")
	return onNode(p, func(main *node.Process) error {
		var pid node.PID
		if p.Blocking() {
			pid = must(main.Spawn(cooperatorProcess))
		} else {
			pid = must(main.Spawn(cooperator{}))
		}
		sum := 0
		m.Start()
		for range calls {
			main.Send(pid, recursive{main.Self(), depth})
		}
		for range calls {
			sum += node.ReceiveOf[answer](main).number
		}
		m.Stop()
		if want := calls * depth; sum != want {
			return fmt.Errorf("the answers add up to %d, not %d", sum, want)
		}
		return nil
	})
}

// cooperator has no stack to wait on: what is to be done with an awaited answer
// is the tag of the message that brings it. Meanwhile it takes other calls.
type cooperator struct{}

type continuation func(ctx *node.Context, value int) error

func (c cooperator) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case recursive:
		return c.recursive(ctx, m.depth, func(ctx *node.Context, value int) error {
			return ctx.Send(m.from, answer{value})
		})
	case node.Request[compute]:
		return m.Reply(1)
	case node.Result:
		if m.Err != nil {
			return m.Err
		}
		return m.Tag.(continuation)(ctx, m.Value.(int))
	}
	return node.ErrUnhandled
}

func (c cooperator) recursive(ctx *node.Context, depth int, then continuation) error {
	if depth == 0 {
		return then(ctx, 0)
	}
	return c.recursive(ctx, depth-1, func(ctx *node.Context, inner int) error {
		one := node.Async[int](ctx, ctx.Self(), compute{})
		one.SendTo(ctx.Self(), continuation(func(ctx *node.Context, one int) error {
			return then(ctx, one+inner)
		}))
		return nil
	})
}

// cooperatorProcess waits where it is and, waiting, serves what it waits for.
var cooperatorProcess node.ProcessFunc = func(p *node.Process) error {
	for {
		r := node.ReceiveOf[recursive](p)
		value, err := recursiveProcess(p, r.depth)
		if err != nil {
			return err
		}
		p.Send(r.from, answer{value})
	}
}

func recursiveProcess(p *node.Process, depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	inner, err := recursiveProcess(p, depth-1)
	if err != nil {
		return 0, err
	}
	one := node.Async[int](p, p.Self(), compute{})
	node.ReceiveOf[node.Request[compute]](p).Reply(1)
	value, err := one.Await(p.Context())
	return value + inner, err
}
