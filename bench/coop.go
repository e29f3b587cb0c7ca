package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

var coop = contract.Bench{
	Name:  "coop",
	About: "nested self-calls, each awaiting a call on the same actor",
	Params: []contract.Param{contract.Int("calls", 2500), contract.Int("depth", 5).Range(0, 1000),
		contract.Word("style", contract.Actor, contract.Process, contract.Coroutine, contract.Active)},
	Ops: func(p contract.Params) int { return p.Int("calls") },
	Run: runCoop,
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
		switch {
		case p.Style() == contract.Active:
			return coopActive(main, calls, depth, m)
		case p.Blocking():
			pid = must(main.Spawn(cooperatorProcess))
		default:
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

// cooperatorObject is listing 1 of the work on ABS.
type cooperatorObject struct {
	self active.Ref[*cooperatorObject]
}

func (o *cooperatorObject) Recursive(c *active.Context, depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	inner, err := active.Call(c, o.self, (*cooperatorObject).Recursive, depth-1)
	if err != nil {
		return 0, err
	}
	one, err := active.Await(c, active.Go(c, o.self, (*cooperatorObject).Compute, struct{}{}))
	return inner + one, err
}

func (o *cooperatorObject) Compute(*active.Context, struct{}) (int, error) { return 1, nil }

// coopActive is the bench with an active object.
func coopActive(main *node.Process, calls, depth int, m *contract.Meter) error {
	o := &cooperatorObject{}
	ref, err := active.Start(main, o, node.Options{})
	if err != nil {
		return err
	}
	o.self = ref // nobody has called it
	futures := make([]*node.Future[int], calls)
	m.Start()
	for i := range futures {
		futures[i] = active.Go(main, ref, (*cooperatorObject).Recursive, depth)
	}
	sum := 0
	for _, f := range futures {
		v, err := node.Await(main.Context(), main, f)
		if err != nil {
			return err
		}
		sum += v
	}
	m.Stop()
	if want := calls * depth; sum != want {
		return fmt.Errorf("the answers add up to %d, not %d", sum, want)
	}
	return nil
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
