package main

import (
	"errors"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var flow = contract.Bench{
	Name:  "flow",
	About: "ordered numbers, a More every window",
	Params: []contract.Param{
		contract.Int("pairs", 4), contract.Int("messages", 2_500_000), contract.Int("window", 1000), contract.Style(),
	},
	Ops: func(p contract.Params) int { return p.Int("pairs") * p.Int("messages") },
	Run: runFlow,
}

type (
	numbered struct{ number int }
	more     struct{}
	counted  struct{ inOrder bool }
)

func runFlow(p contract.Params, m *contract.Meter) error {
	messages, window := p.Int("messages"), p.Int("window")
	return onNode(p, func(main *node.Process) error {
		sources := make([]node.PID, p.Int("pairs"))
		for i := range sources {
			if p.Blocking() {
				sources[i] = must(main.SpawnOpt(apart(p, main, i), sourceProcess(main.Self(), messages, window)))
			} else {
				sources[i] = must(main.SpawnOpt(apart(p, main, i), &source{main: main.Self(), messages: messages, window: window}))
			}
		}
		m.Start()
		releaseAll(main, sources)
		inOrder := true
		for range sources {
			inOrder = node.ReceiveOf[counted](main).inOrder && inOrder
		}
		m.Stop()
		if !inOrder {
			return errors.New("a message came out of order")
		}
		return nil
	})
}

// source shares a stage with its sink, and sends it a window of messages whenever the sink requests one.
type source struct {
	main, sink       node.PID
	messages, window int
	next             int
}

func (s *source) Init(ctx *node.Context) (err error) {
	s.sink, err = ctx.SpawnOpt(node.Options{Place: node.Beside(ctx.Self())},
		&sink{source: ctx.Self(), main: s.main, messages: s.messages, window: s.window, room: s.window})
	return err
}

func (s *source) Receive(ctx *node.Context, msg any) error {
	switch msg.(type) {
	case release, more:
		for range min(s.window, s.messages-s.next) {
			ctx.Send(s.sink, numbered{s.next})
			s.next++
		}
		return nil
	}
	return node.ErrUnhandled
}

// sink counts the messages and checks that none overtakes another.
type sink struct {
	source, main     node.PID
	messages, window int
	next, room       int
}

func (s *sink) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case numbered:
		if m.number != s.next {
			ctx.Send(s.main, counted{inOrder: false})
			return node.ErrStop
		}
		if s.next++; s.next == s.messages {
			return ctx.Send(s.main, counted{inOrder: true})
		}
		if s.room--; s.room == 0 {
			s.room = s.window
			return ctx.Send(s.source, more{})
		}
		return nil
	}
	return node.ErrUnhandled
}

func sourceProcess(main node.PID, messages, window int) node.ProcessFunc {
	return func(p *node.Process) error {
		sink := must(p.Spawn(sinkProcess(p.Self(), main, messages, window)))
		node.ReceiveOf[release](p)
		room := window
		for i := range messages {
			if room == 0 {
				node.ReceiveOf[more](p)
				room = window
			}
			p.Send(sink, numbered{i})
			room--
		}
		return nil
	}
}

func sinkProcess(source, main node.PID, messages, window int) node.ProcessFunc {
	return func(p *node.Process) error {
		room := window
		for i := range messages {
			if room == 0 {
				p.Send(source, more{})
				room = window
			}
			if p.Receive().(numbered).number != i {
				return p.Send(main, counted{inOrder: false})
			}
			room--
		}
		return p.Send(main, counted{inOrder: true})
	}
}
