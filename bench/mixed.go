package main

import (
	"errors"
	"slices"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var mixed = contract.Bench{
	Name:  "mixed",
	About: "rings made again and again while numbers are factorised",
	Params: []contract.Param{
		contract.Int("rings", 20), contract.Int("size", 50), contract.Int("token", 10_000),
		contract.Int("repeats", 5), contract.Int("number", 28350160440309881), contract.Style(),
	},
	Ops: func(p contract.Params) int {
		return p.Int("rings") * p.Int("size") * p.Int("token") * p.Int("repeats")
	},
	Run: runMixed,
}

type (
	countdown struct{ value int }
	factorise struct{ number uint64 }
	factors   struct{ found []uint64 }
	rounds    struct{ count int } // of a master's tokens, when it ends
)

func runMixed(p contract.Params, m *contract.Meter) error {
	rings, size, token := p.Int("rings"), p.Int("size"), p.Int("token")
	repeats, number := p.Int("repeats"), uint64(p.Int("number"))
	return onNode(p, func(main *node.Process) error {
		var all [][]uint64
		lost := false
		m.Start()
		for i := range rings {
			if p.Blocking() {
				must(main.SpawnOpt(apart(p, main, i), ringMasterProcess(main.Self(), size, token, repeats, number)))
			} else {
				must(main.SpawnOpt(apart(p, main, i), &ringMaster{main: main.Self(), size: size, token: token, left: repeats,
					number: number}))
			}
		}
		for range rings + rings*repeats {
			switch m := main.Receive().(type) {
			case factors:
				all = append(all, m.found)
			case rounds:
				lost = lost || m.count != repeats*token
			}
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
	main, worker, first node.PID
	size, token, left   int
	rounds              int
	number              uint64
}

func (r *ringMaster) Init(ctx *node.Context) error {
	// The worker computes for long, so it does not run on the stage.
	r.worker = must(ctx.SpawnOpt(node.Options{Place: node.Detached()}, worker{r.main}))
	r.start(ctx)
	return nil
}

func (r *ringMaster) start(ctx *node.Context) {
	ctx.Send(r.worker, factorise{r.number})
	r.first = ctx.Self()
	for range r.size - 1 {
		r.first = must(ctx.Spawn(&member{r.first}))
	}
	ctx.Send(r.first, countdown{r.token})
}

func (r *ringMaster) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case countdown:
		if m.value > 0 {
			r.rounds++
			return ctx.Send(r.first, countdown{m.value - 1})
		}
		if r.left--; r.left > 0 {
			r.start(ctx)
			return nil
		}
		ctx.Send(r.worker, enough{})
		ctx.Send(r.main, rounds{r.rounds})
		return node.ErrStop
	}
	return node.ErrUnhandled
}

// member passes the token on and ends when it has run out.
type member struct{ next node.PID }

func (r *member) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case countdown:
		ctx.Send(r.next, countdown{m.value})
		if m.value == 0 {
			return node.ErrStop
		}
		return nil
	}
	return node.ErrUnhandled
}

type worker struct{ main node.PID }

func (w worker) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case factorise:
		return ctx.Send(w.main, factors{factorsOf(m.number)})
	case enough:
		return node.ErrStop
	}
	return node.ErrUnhandled
}

func ringMasterProcess(main node.PID, size, token, repeats int, number uint64) node.ProcessFunc {
	return func(p *node.Process) error {
		worker := must(p.Spawn(factoriserProcess(main)))
		count := 0
		for range repeats {
			p.Send(worker, factorise{number})
			first := p.Self()
			for range size - 1 {
				first = must(p.Spawn(memberProcess(first)))
			}
			p.Send(first, countdown{token})
			for {
				t := p.Receive().(countdown)
				if t.value == 0 {
					break
				}
				p.Send(first, countdown{t.value - 1})
				count++
			}
		}
		p.Send(worker, enough{})
		return p.Send(main, rounds{count})
	}
}

func memberProcess(next node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		for {
			t := p.Receive().(countdown)
			p.Send(next, countdown{t.value})
			if t.value == 0 {
				return nil
			}
		}
	}
}

func factoriserProcess(main node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		for {
			f, ok := p.Receive().(factorise)
			if !ok {
				return nil
			}
			p.Send(main, factors{factorsOf(f.number)})
		}
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
