package main

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var flow = contract.Bench{
	Name:  "flow",
	About: "ordered numbers, a More every window",
	Params: []contract.Param{
		contract.Int("pairs", 4), contract.Int("messages", 2_500_000), contract.Int("window", 1000),
	},
	Ops: func(p contract.Params) int { return p.Int("pairs") * p.Int("messages") },
	Run: runFlow,
}

type (
	numbered struct{ number int }
	more     struct{}
)

func runFlow(p contract.Params, m *contract.Meter) error {
	messages, window := p.Int("messages"), p.Int("window")
	return onSystem(func(root *actor.RootContext) error {
		sources := make([]*actor.PID, p.Int("pairs"))
		counted := make(chan bool, len(sources))
		props := actor.PropsFromProducer(func() actor.Actor {
			return &source{messages: messages, window: window, counted: counted}
		})
		for i := range sources {
			sources[i] = root.Spawn(props)
		}
		m.Start()
		releaseAll(root, sources)
		inOrder := true
		for range sources {
			inOrder = <-counted && inOrder
		}
		m.Stop()
		if !inOrder {
			return errors.New("a message came out of order")
		}
		return nil
	})
}

// source makes its sink, and sends it a window of messages whenever the sink requests one.
type source struct {
	sink             *actor.PID
	messages, window int
	next             int
	counted          chan<- bool
}

func (s *source) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		s.sink = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return &sink{source: ctx.Self(), messages: s.messages, window: s.window, room: s.window, counted: s.counted}
		}))
	case *release, *more:
		for range min(s.window, s.messages-s.next) {
			ctx.Send(s.sink, &numbered{s.next})
			s.next++
		}
	}
}

// sink counts the messages and checks that none overtakes another.
type sink struct {
	source           *actor.PID
	messages, window int
	next, room       int
	counted          chan<- bool
}

func (s *sink) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *numbered:
		if m.number != s.next {
			s.counted <- false
			ctx.Stop(ctx.Self())
			return
		}
		if s.next++; s.next == s.messages {
			s.counted <- true
			return
		}
		if s.room--; s.room == 0 {
			s.room = s.window
			ctx.Send(s.source, &more{})
		}
	}
}
