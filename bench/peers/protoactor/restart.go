package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var restart = contract.Bench{
	Name:   "restart",
	About:  "a supervisor restarts a child that crashes on each message",
	Params: []contract.Param{contract.Int("restarts", 100_000)},
	Ops:    func(p contract.Params) int { return p.Int("restarts") },
	Run:    runRestart,
}

type (
	up    struct{ child *actor.PID }
	crash struct{}
)

func runRestart(p contract.Params, m *contract.Meter) error {
	restarts := p.Int("restarts")
	return onSystem(func(root *actor.RootContext) error {
		last, decided := make(chan *actor.PID, 1), 0
		drives := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &driver{left: restarts, last: last} }))
		crashers := actor.PropsFromProducer(func() actor.Actor { return &crasher{drives} })
		// The supervisor decides before the child can be up again, so decided is not read meanwhile.
		strategy := actor.NewOneForOneStrategy(restarts+1, 0, func(any) actor.Directive {
			decided++
			return actor.RestartDirective
		})
		root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(crashers)
			}
		}, actor.WithSupervisor(strategy)))
		m.Start()
		root.Send(drives, &release{})
		child := <-last
		m.Stop()
		if _, err := root.RequestFuture(child, &actor.Touch{}, noTimeout).Result(); err != nil {
			return fmt.Errorf("the last child is not there: %w", err)
		}
		if decided != restarts {
			return fmt.Errorf("%d restarts, not %d", decided, restarts)
		}
		return nil
	})
}

// crasher reports its start, and crashes when it is told to.
type crasher struct{ driver *actor.PID }

func (c *crasher) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		ctx.Send(c.driver, &up{ctx.Self()})
	case *crash:
		panic("crash")
	}
}

// driver crashes each child that starts, after its release.
type driver struct {
	child    *actor.PID
	released bool
	left     int
	last     chan<- *actor.PID
}

func (d *driver) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *up:
		d.child = m.child
	case *release:
		d.released = true
	}
	if !d.released || d.child == nil {
		return
	}
	if d.left == 0 {
		d.last <- d.child
		return
	}
	d.left--
	ctx.Send(d.child, &crash{})
}
