package main

import (
	"errors"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var mixed = contract.Bench{
	Name:  "mixed",
	About: "rings made again and again while numbers are factorised",
	Params: []contract.Param{
		contract.Int("rings", 20), contract.Int("size", 50), contract.Int("token", 10_000),
		contract.Int("repeats", 5), contract.Int("number", 28350160440309881),
	},
	Ops: func(p contract.Params) int {
		return p.Int("rings") * p.Int("size") * p.Int("token") * p.Int("repeats")
	},
	Run: runMixed,
}

type (
	countdown struct{ value int }
	factorise struct{ number uint64 }
)

func runMixed(p contract.Params, m *contract.Meter) error {
	rings, size, token, repeats := p.Int("rings"), p.Int("size"), p.Int("token"), p.Int("repeats")
	number := uint64(p.Int("number"))
	return onSystem(func(root *actor.RootContext) error {
		found, rounds := make(chan []uint64, rings*repeats), make(chan int, rings)
		props := actor.PropsFromProducer(func() actor.Actor {
			return &ringMaster{size: size, token: token, left: repeats, number: number, found: found, ended: rounds}
		})
		var all [][]uint64
		lost := false
		m.Start()
		for range rings {
			root.Spawn(props)
		}
		for range rings * repeats {
			all = append(all, <-found)
		}
		for range rings {
			lost = <-rounds != repeats*token || lost
		}
		m.Stop()
		if lost {
			return errors.New("a round was lost")
		}
		if slices.ContainsFunc(all, func(f []uint64) bool { return !isFactorisation(f, number) }) {
			return errors.New("wrong factors")
		}
		return nil
	})
}

// ringMaster makes a ring that includes itself, counts the token down once per round, and makes the next ring, while its
// worker factorises.
type ringMaster struct {
	worker, first     *actor.PID
	size, token, left int
	rounds            int
	number            uint64
	found             chan<- []uint64
	ended             chan<- int
}

func (r *ringMaster) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.worker = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return &worker{r.found} }))
		r.start(ctx)
	case *countdown:
		if m.value > 0 {
			r.rounds++
			ctx.Send(r.first, &countdown{m.value - 1})
			return
		}
		if r.left--; r.left > 0 {
			r.start(ctx)
			return
		}
		ctx.Poison(r.worker)
		r.ended <- r.rounds
	}
}

func (r *ringMaster) start(ctx actor.Context) {
	ctx.Send(r.worker, &factorise{r.number})
	r.first = ctx.Self()
	root := ctx.ActorSystem().Root // the members end by themselves
	for range r.size - 1 {
		pid := root.Spawn(members)
		ctx.Send(pid, &neighbour{r.first})
		r.first = pid
	}
	ctx.Send(r.first, &countdown{r.token})
}

var members = actor.PropsFromProducer(func() actor.Actor { return &member{} })

// member passes the token on and ends when it has run out.
type member struct{ next *actor.PID }

func (r *member) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *countdown:
		ctx.Send(r.next, &countdown{m.value})
		if m.value == 0 {
			ctx.Stop(ctx.Self())
		}
	case *neighbour:
		r.next = m.next
	}
}

type worker struct{ found chan<- []uint64 }

func (w *worker) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *factorise:
		w.found <- factorsOf(m.number)
	}
}

// factorsOf divides by increasing numbers from 2 until the rest is 1. It deliberately does not stop at the square root.
func factorsOf(n uint64) (found []uint64) {
	for d := uint64(2); n > 1; {
		if n%d == 0 {
			found = append(found, d)
			n /= d
		} else {
			d++
		}
	}
	return found
}

func isFactorisation(found []uint64, number uint64) bool {
	product := uint64(1)
	for _, f := range found {
		product *= f
	}
	return product == number && slices.IsSorted(found)
}
