package main

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

var restart = contract.Bench{
	Name:   "restart",
	About:  "a supervisor restarts a child that crashes on each message",
	Params: []contract.Param{contract.Int("restarts", 100_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("restarts") },
	Run:    runRestart,
}

type (
	up    struct{ child node.PID }
	crash struct{}
)

var errCrash = errors.New("crash")

func runRestart(p contract.Params, m *contract.Meter) error {
	restarts := p.Int("restarts")
	return onNode(p, func(main *node.Process) error {
		var driver node.PID
		if p.Blocking() {
			driver = must(main.Spawn(driveProcess(main.Self(), restarts)))
		} else {
			driver = must(main.Spawn(&driveActor{main: main.Self(), left: restarts}))
		}
		child := func(...any) (node.Actor, error) { return &crasher{driver}, nil }
		if p.Blocking() {
			child = func(...any) (node.Actor, error) { return crasherProcess(driver), nil }
		}
		sup, err := supervisor.Start(main.Context(), main, supervisor.Spec{
			Intensity: restarts + 1,
			Children:  []supervisor.Child{{ID: node.Atom("crasher"), Start: child}},
		}, node.Options{Place: node.OnStage(0)})
		if err != nil {
			return err
		}
		m.Start()
		main.Send(driver, release{})
		last := node.ReceiveOf[up](main).child
		m.Stop()
		if !main.Node().IsAlive(last) {
			return fmt.Errorf("the last child is not there")
		}
		if c, err := supervisor.WhichChildren(main.Context(), main, sup); err != nil || len(c) != 1 || c[0].Restarts != restarts {
			return fmt.Errorf("children %v, error %v: want one with %d restarts", c, err, restarts)
		}
		return nil
	})
}

// crasher reports its start, and crashes on its first message.
type crasher struct{ driver node.PID }

func (c *crasher) Init(ctx *node.Context) error { return ctx.Send(c.driver, up{ctx.Self()}) }

func (c *crasher) Receive(*node.Context, any) error { return errCrash }

func crasherProcess(driver node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		p.Send(driver, up{p.Self()})
		p.Receive()
		return errCrash
	}
}

// driveActor crashes each child that starts, after its release.
type driveActor struct {
	main     node.PID
	child    up
	released bool
	left     int
}

func (d *driveActor) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case up:
		d.child = m
	case release:
		d.released = true
	}
	if !d.released || d.child == (up{}) {
		return nil
	}
	if d.left == 0 {
		return ctx.Send(d.main, d.child)
	}
	d.left--
	return ctx.Send(d.child.child, crash{})
}

func driveProcess(main node.PID, restarts int) node.ProcessFunc {
	return func(p *node.Process) error {
		child := node.ReceiveOf[up](p)
		node.ReceiveOf[release](p)
		for range restarts {
			p.Send(child.child, crash{})
			child = p.Receive().(up)
		}
		return p.Send(main, child)
	}
}
