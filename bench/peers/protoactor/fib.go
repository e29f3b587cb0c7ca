package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var fib = contract.Bench{
	Name:   "fib",
	About:  "an actor a call",
	Params: []contract.Param{contract.Int("n", 25).Range(0, 40)},
	Ops:    func(p contract.Params) int { return 2*fibonacci(p.Int("n")+1) - 1 },
	Run:    runFib,
}

type (
	compute struct{ n int }
	result  struct{ value int }
)

func runFib(p contract.Params, m *contract.Meter) error {
	n := p.Int("n")
	return onSystem(func(root *actor.RootContext) error {
		m.Start()
		got, err := root.RequestFuture(root.Spawn(fibbers), &compute{n}, noTimeout).Result()
		m.Stop()
		if err != nil {
			return err
		}
		if want := fibonacci(n); got.(*result).value != want {
			return fmt.Errorf("fib(%d) is %d, not %d", n, got.(*result).value, want)
		}
		return nil
	})
}

// fibbers are the Props of all fibbers, whose number is in their first message: Props of their own would take 224 bytes each.
var fibbers = actor.PropsFromProducer(func() actor.Actor { return &fibber{} })

// fibber answers with fib(n) and stops. Above the base case it adds up the results of two others.
type fibber struct {
	asker          *actor.PID
	total, results int
}

func (f *fibber) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *compute:
		if m.n < 2 {
			ctx.Respond(&result{m.n})
			ctx.Stop(ctx.Self())
			return
		}
		f.asker = ctx.Sender()
		root := ctx.ActorSystem().Root // nothing supervises the calls, in any system
		ctx.Request(root.Spawn(fibbers), &compute{m.n - 1})
		ctx.Request(root.Spawn(fibbers), &compute{m.n - 2})
	case *result:
		f.total += m.value
		if f.results++; f.results == 2 {
			ctx.Send(f.asker, &result{f.total})
			ctx.Stop(ctx.Self())
		}
	}
}

func fibonacci(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
