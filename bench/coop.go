package main

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

var coop = contract.Bench{
	Name:  "coop",
	About: "nested self-calls, each awaiting a call on the same actor",
	Params: []contract.Param{contract.Int("calls", 2500), contract.Int("depth", 5).Range(0, 1000),
		contract.Word("suspended", "some", "all"),
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

// runCoop runs the calls. With suspended=all each call is suspended at its deepest point until all are, and they then
// resume in turn: none ends before the last has started.
func runCoop(p contract.Params, m *contract.Meter) error {
	calls, depth, all := p.Int("calls"), p.Int("depth"), p.Word("suspended") == "all"
	return onNode(p, func(main *node.Process) error {
		var pid node.PID
		switch {
		case p.Style() == contract.Active:
			return coopActive(main, calls, depth, all, m)
		case p.Blocking() && all:
			return errors.New("suspended=all: a blocking process goes on with the call that it has suspended last")
		case p.Blocking():
			pid = must(main.Spawn(cooperatorProcess))
		case all:
			pid = must(main.Spawn(&cooperator{gate: newGate(main, calls)}))
		default:
			pid = must(main.Spawn(&cooperator{}))
		}
		sum, before := 0, contract.RSS()
		m.Start()
		for range calls {
			main.Send(pid, recursive{main.Self(), depth})
		}
		if all {
			awaitGate(main, calls, before, m).Reply(struct{}{})
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

// gate suspends calls until all of them have arrived. Main completes the future, and is notified of the last arrival.
type gate struct {
	open *node.Future[struct{}]
	main node.PID
	left int
}

type (
	opening struct{}
	allWait struct{}
)

func newGate(main *node.Process, calls int) *gate {
	return &gate{node.Async[struct{}](main, main.Self(), opening{}), main.Self(), calls}
}

// arrive counts a call that is about to wait.
func (g *gate) arrive(from interface{ Send(node.Dest, any) error }) {
	if g.left--; g.left == 0 {
		from.Send(g.main, allWait{})
	}
}

// awaitGate waits until all calls are suspended, reports the memory used by each, compared with before, and returns the
// From to answer.
func awaitGate(main *node.Process, calls, before int, m *contract.Meter) node.From {
	node.ReceiveOf[allWait](main)
	m.Stop()
	m.Extra("bytes_per_activation", float64(contract.RSS()-before)/float64(calls))
	m.Start()
	return node.ReceiveOf[node.Request[opening]](main).From
}

// cooperator has no stack to wait on: the continuation of an awaited answer is the tag of its message. Meanwhile it handles
// other calls.
type cooperator struct{ gate *gate }

type continuation func(ctx *node.Context, value int) error

func (c *cooperator) Receive(ctx *node.Context, msg any) error {
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
		value, _ := m.Value.(int) // nothing from the gate
		return m.Tag.(continuation)(ctx, value)
	}
	return node.ErrUnhandled
}

func (c *cooperator) recursive(ctx *node.Context, depth int, then continuation) error {
	if depth == 0 {
		if c.gate == nil {
			return then(ctx, 0)
		}
		c.gate.open.SendTo(ctx.Self(), continuation(then))
		c.gate.arrive(ctx)
		return nil
	}
	return c.recursive(ctx, depth-1, func(ctx *node.Context, inner int) error {
		one := node.Async[int](ctx, ctx.Self(), compute{})
		one.SendTo(ctx.Self(), continuation(func(ctx *node.Context, one int) error {
			return then(ctx, one+inner)
		}))
		return nil
	})
}

// cooperatorObject is listing 1 of the paper on ABS.
type cooperatorObject struct {
	self active.Addr[*cooperatorObject] // zero: no method has run
	gate *gate
}

func (o *cooperatorObject) Recursive(c *active.Context, depth int) (int, error) {
	if depth == 0 {
		if o.gate == nil {
			return 0, nil
		}
		o.gate.arrive(c)
		_, err := active.Await(c, o.gate.open)
		return 0, err
	}
	if o.self.PID.IsZero() {
		o.self = active.Self[*cooperatorObject](c)
	}
	inner, err := active.Call(c, o.self, (*cooperatorObject).Recursive, depth-1)
	if err != nil {
		return 0, err
	}
	one, err := active.Await(c, active.Do(c, o.self, (*cooperatorObject).Compute))
	return inner + one, err
}

func (o *cooperatorObject) Compute(*active.Context) (int, error) { return 1, nil }

// coopActive is the bench with an active object.
func coopActive(main *node.Process, calls, depth int, all bool, m *contract.Meter) error {
	o := &cooperatorObject{}
	if all {
		o.gate = newGate(main, calls)
	}
	ref, err := active.Start(main, o, node.Options{})
	if err != nil {
		return err
	}
	futures := make([]*node.Future[int], calls)
	before := contract.RSS()
	m.Start()
	for i := range futures {
		futures[i] = active.Go(main, ref, (*cooperatorObject).Recursive, depth)
	}
	if all {
		awaitGate(main, calls, before, m).Reply(struct{}{})
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

// cooperatorProcess has one stack. While a call awaits, it receives the next message and handles it on top of the call: the
// suspended calls form a stack, and the newest resumes first.
var cooperatorProcess node.ProcessFunc = func(p *node.Process) error {
	for {
		if err := serveProcess(p, p.Receive()); err != nil {
			return err
		}
	}
}

// serveProcess handles a message.
func serveProcess(p *node.Process, msg any) error {
	switch m := msg.(type) {
	case recursive:
		value, err := recursiveProcess(p, m.depth)
		if err != nil {
			return err
		}
		return p.Send(m.from, answer{value})
	case node.Request[compute]:
		return m.Reply(1)
	}
	return fmt.Errorf("a message of type %T", msg)
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
	for {
		value, done, err := one.Result()
		if done {
			return value + inner, err
		}
		if err := serveProcess(p, p.Receive()); err != nil {
			return 0, err
		}
	}
}
