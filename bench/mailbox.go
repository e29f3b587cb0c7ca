package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var mailbox = contract.Bench{
	Name:   "mailbox",
	About:  "many senders, one receiver that adds up",
	Params: []contract.Param{contract.Int("senders", 20), contract.Int("each", 1_000_000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("senders") * p.Int("each") },
	Run:    runMailbox,
}

type (
	value struct{ value int }
	sum   struct{ total int }
)

func runMailbox(p contract.Params, m *contract.Meter) error {
	senders, each := p.Int("senders"), p.Int("each")
	return onNode(p, func(main *node.Process) error {
		pids := make([]node.PID, senders)
		if p.Blocking() {
			to := must(main.Spawn(adderProcess(senders*each, main.Self())))
			for i := range pids {
				pids[i] = must(main.Spawn(senderProcess(to, each)))
			}
		} else {
			to := must(main.Spawn(&adder{left: senders * each, main: main.Self()}))
			for i := range pids {
				pids[i] = must(main.Spawn(&sender{to, each}))
			}
		}
		m.Start()
		releaseAll(main, pids)
		got := node.ReceiveOf[sum](main)
		m.Stop()
		if want := senders * (each * (each + 1) / 2); got.total != want {
			return fmt.Errorf("the values add up to %d, not %d", got.total, want)
		}
		return nil
	})
}

// adder adds up its messages until all have arrived.
type adder struct {
	left, total int
	main        node.PID
}

func (a *adder) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case value:
		a.total += m.value
		if a.left--; a.left == 0 {
			return ctx.Send(a.main, sum{a.total})
		}
		return nil
	}
	return node.ErrUnhandled
}

type sender struct {
	to   node.PID
	each int
}

func (s *sender) Receive(ctx *node.Context, msg any) error {
	switch msg.(type) {
	case release:
		for i := range s.each {
			ctx.Send(s.to, value{i + 1})
		}
		return nil
	}
	return node.ErrUnhandled
}

func adderProcess(messages int, main node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		total := 0
		for range messages {
			total += p.Receive().(value).value
		}
		return p.Send(main, sum{total})
	}
}

func senderProcess(to node.PID, each int) node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		for i := range each {
			p.Send(to, value{i + 1})
		}
		return nil
	}
}
