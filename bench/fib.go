package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var fib = contract.Bench{
	Name:   "fib",
	About:  "an actor a call",
	Params: []contract.Param{contract.Int("n", 25).Range(0, 40), contract.Style()},
	Ops:    func(p contract.Params) int { return 2*fibonacci(p.Int("n")+1) - 1 },
	Run:    runFib,
}

type result struct{ value int }

func runFib(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	return onNode(p, func(main *node.Process) error {
		m.Start()
		if p.Blocking() {
			must(main.Spawn(fibberProcess(n, main.Self())))
		} else {
			must(main.Spawn(&fibber{parent: main.Self(), n: int8(n)}))
		}
		got := node.ReceiveOf[result](main)
		m.Stop()
		if want := fibonacci(n); got.value != want {
			return fmt.Errorf("fib(%d) is %d, not %d", n, got.value, want)
		}
		return nil
	})
}

// fibber sends fib(n) to its parent and ends. Above the base case it adds up the results of its two children.
type fibber struct {
	parent  node.PID
	total   int
	n       int8
	results int8
}

func (f *fibber) Init(ctx *node.Context) error {
	if f.n < 2 {
		ctx.Send(f.parent, result{int(f.n)})
		return node.ErrStop
	}
	must(ctx.Spawn(&fibber{parent: ctx.Self(), n: f.n - 1}))
	must(ctx.Spawn(&fibber{parent: ctx.Self(), n: f.n - 2}))
	return nil
}

func (f *fibber) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case result:
		f.total += m.value
		if f.results++; f.results < 2 {
			return nil
		}
		ctx.Send(f.parent, result{f.total})
		return node.ErrStop
	}
	return node.ErrUnhandled
}

func fibberProcess(n int, parent node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		if n < 2 {
			return p.Send(parent, result{n})
		}
		must(p.Spawn(fibberProcess(n-1, p.Self())))
		must(p.Spawn(fibberProcess(n-2, p.Self())))
		a, b := p.Receive().(result), p.Receive().(result)
		return p.Send(parent, result{a.value + b.value})
	}
}

func fibonacci(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
