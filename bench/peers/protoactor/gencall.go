package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var gencall = contract.Bench{
	Name:   "gencall",
	About:  "one actor requests futures of another",
	Params: []contract.Param{contract.Int("calls", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("calls") },
	Run:    runGencall,
}

type (
	increase struct{ by int }
	counted  struct{ count int }
)

// counter is a server that counts.
type counter struct{ count int }

func (c *counter) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *increase:
		c.count += m.by
		ctx.Respond(&counted{c.count})
	}
}

func runGencall(p contract.Params, m *contract.Meter) error {
	calls := p.Int("calls")
	return onSystem(func(root *actor.RootContext) error {
		done := make(chan called, 1)
		server := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &counter{} }))
		client := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &caller{server, calls, done} }))
		m.Start()
		root.Send(client, &release{})
		got := <-done
		m.Stop()
		if got.err != nil {
			return got.err
		}
		if want := calls * (calls + 1) / 2; got.sum != want {
			return fmt.Errorf("the answers add up to %d, not %d", got.sum, want)
		}
		return nil
	})
}

// called is what a caller reports.
type called struct {
	sum int
	err error
}

// caller waits for the answer to each call in its handler, which has a goroutine of its own.
type caller struct {
	server *actor.PID
	calls  int
	done   chan<- called
}

func (c *caller) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *release:
		sum := 0
		for range c.calls {
			got, err := ctx.RequestFuture(c.server, &increase{by: 1}, noTimeout).Result()
			if err != nil {
				c.done <- called{err: err}
				return
			}
			sum += got.(*counted).count
		}
		c.done <- called{sum: sum}
	}
}
