package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var mailbox = contract.Bench{
	Name:   "mailbox",
	About:  "many senders, one receiver that adds up",
	Params: []contract.Param{contract.Int("senders", 20), contract.Int("each", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("senders") * p.Int("each") },
	Run:    runMailbox,
}

type value struct{ value int }

func runMailbox(p contract.Params, m *contract.Meter) error {
	senders, each := p.Int("senders"), p.Int("each")
	return onSystem(func(root *actor.RootContext) error {
		sum := make(chan int, 1)
		to := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &adder{left: senders * each, sum: sum} }))
		props := actor.PropsFromProducer(func() actor.Actor { return &sender{to, each} })
		pids := make([]*actor.PID, senders)
		for i := range pids {
			pids[i] = root.Spawn(props)
		}
		m.Start()
		releaseAll(root, pids)
		total := <-sum
		m.Stop()
		if want := senders * (each * (each + 1) / 2); total != want {
			return fmt.Errorf("the values add up to %d, not %d", total, want)
		}
		return nil
	})
}

// adder adds up its messages until all have arrived.
type adder struct {
	left, total int
	sum         chan<- int
}

func (a *adder) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *value:
		a.total += m.value
		if a.left--; a.left == 0 {
			a.sum <- a.total
		}
	}
}

type sender struct {
	to   *actor.PID
	each int
}

func (s *sender) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *release:
		for i := range s.each {
			ctx.Send(s.to, &value{i + 1})
		}
	}
}
