package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
)

// The benches of active objects: await, until and join.

var await = contract.Bench{
	Name:   "await",
	About:  "an active object awaits another on its stage; extra: the same as a Call between actors",
	Params: []contract.Param{contract.Int("calls", 500_000)},
	Ops:    func(p contract.Params) int { return p.Int("calls") },
	Run:    runAwait,
}

var until = contract.Bench{
	Name:   "until",
	About:  "producers and consumers of a bounded buffer, whose methods wait for conditions",
	Params: []contract.Param{contract.Int("items", 200_000), contract.Int("users", 100), contract.Int("size", 10)},
	Ops:    func(p contract.Params) int { return p.Int("items") },
	Run:    runUntil,
}

var join = contract.Bench{
	Name:   "join",
	About:  "an active object asks many others at once, and awaits all answers",
	Params: []contract.Param{contract.Int("joins", 5_000), contract.Int("width", 100)},
	Ops:    func(p contract.Params) int { return p.Int("joins") },
	Run:    runJoin,
}

type none = struct{}

// accumulator is an object called by others.
type accumulator struct{ total int }

func (o *accumulator) Add(_ *active.Context, n int) (int, error) { o.total += n; return o.total, nil }

// awaiter is an object that calls another, so often.
type awaiter struct{ to active.Addr[*accumulator] }

func (o *awaiter) Run(c *active.Context, calls int) (int, error) {
	last := 0
	for range calls {
		var err error
		if last, err = active.Await(c, active.Go(c, o.to, (*accumulator).Add, 1)); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// accumulatorActor and callsAccumulator are the same as actors, with a Call.
type (
	accumulatorActor struct{ total int }
	callsAccumulator struct{ to node.PID }
)

func (a *accumulatorActor) Receive(_ *node.Context, msg any) error {
	r, ok := msg.(node.Request[int])
	if !ok {
		return node.ErrUnhandled
	}
	a.total += r.Body
	return r.Reply(a.total)
}

func (a *callsAccumulator) Receive(c *node.Context, msg any) error {
	r, ok := msg.(node.Request[int])
	if !ok {
		return node.ErrUnhandled
	}
	last := 0
	for range r.Body {
		var err error
		if last, err = node.Call[int](context.Background(), c, a.to, 1); err != nil {
			return err
		}
	}
	return r.Reply(last)
}

// awaitRounds is how often both kinds of calls alternate.
const awaitRounds = 10

func runAwait(p contract.Params, m *contract.Meter) error {
	calls := p.Int("calls")
	return onNode(p, func(main *node.Process) error {
		to, err := active.Start(main, &accumulator{}, node.Options{Place: node.OnStage(0)})
		if err != nil {
			return err
		}
		from, err := active.Start(main, &awaiter{to}, node.Options{Place: node.OnStage(0)})
		if err != nil {
			return err
		}
		called := must(main.SpawnOpt(node.Options{Place: node.OnStage(0)}, &accumulatorActor{}))
		caller := must(main.SpawnOpt(node.Options{Place: node.OnStage(0)}, &callsAccumulator{called}))
		var spent time.Duration
		for i := range awaitRounds {
			some := (i+1)*calls/awaitRounds - i*calls/awaitRounds
			m.Start()
			got, err := node.Await(main.Context(), main, active.Go(main, from, (*awaiter).Run, some))
			m.Stop()
			began := time.Now()
			same, callErr := node.Call[int](main.Context(), main, caller, some)
			spent += time.Since(began)
			if err := errors.Join(err, callErr); err != nil {
				return err
			}
			if want := (i + 1) * calls / awaitRounds; some > 0 && (got != want || same != want) {
				return fmt.Errorf("%d and %d were added, not %d", got, same, want)
			}
		}
		m.Extra("call_ns_per_op", float64(spent)/float64(calls))
		m.Extra("times_a_call", float64(m.Spent())/float64(spent))
		return nil
	})
}

// bounded is a bounded buffer: methods wait for the state that they need.
type bounded struct{ items, size int }

func (b *bounded) Put(c *active.Context, _ none) (none, error) {
	c.Until(func() bool { return b.items < b.size })
	b.items++
	return none{}, nil
}

func (b *bounded) Get(c *active.Context, _ none) (int, error) {
	c.Until(func() bool { return b.items > 0 })
	b.items--
	return 1, nil
}

// user is a producer or a consumer.
type user struct{ of active.Addr[*bounded] }

func (u *user) Produce(c *active.Context, n int) (int, error) {
	for range n {
		if _, err := active.Await(c, active.Go(c, u.of, (*bounded).Put, none{})); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (u *user) Consume(c *active.Context, n int) (int, error) {
	sum := 0
	for range n {
		one, err := active.Await(c, active.Go(c, u.of, (*bounded).Get, none{}))
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

// runUntil also reports a run with a tenth of the items: the cost per item should be the same.
func runUntil(p contract.Params, m *contract.Meter) error {
	items, users := p.Int("items"), p.Int("users")
	return onNode(p, func(main *node.Process) error {
		buffer, err := active.Start(main, &bounded{size: p.Int("size")}, node.Options{})
		if err != nil {
			return err
		}
		all := make([]active.Addr[*user], 2*users)
		for i := range all {
			if all[i], err = active.Start(main, &user{buffer}, node.Options{}); err != nil {
				return err
			}
		}
		few := max(1, items/10)
		began := time.Now()
		if err := produce(main, all, few); err != nil {
			return err
		}
		m.Extra("tenth_ns_per_op", float64(time.Since(began))/float64(few))
		m.Start()
		err = produce(main, all, items)
		m.Stop()
		return err
	})
}

// produce has the first half of the users produce so many items, and the others consume them.
func produce(main *node.Process, users []active.Addr[*user], items int) error {
	half := len(users) / 2
	var over []*node.Future[int]
	for i := range half {
		share := (i+1)*items/half - i*items/half
		over = append(over, active.Go(main, users[i], (*user).Produce, share),
			active.Go(main, users[half+i], (*user).Consume, share))
	}
	sums, err := node.Await(main.Context(), main, futures.All(main, over...))
	got := 0
	for _, n := range sums {
		got += n
	}
	if err == nil && got != items {
		err = fmt.Errorf("%d items were consumed, not %d", got, items)
	}
	return err
}

// joiner is an object that asks others.
type joiner struct{ of []active.Addr[*accumulator] }

func (o *joiner) Run(c *active.Context, joins int) (int, error) {
	sum := 0
	answers := make([]*node.Future[int], len(o.of))
	for range joins {
		for i, to := range o.of {
			answers[i] = active.Go(c, to, (*accumulator).Add, 1)
		}
		values, err := active.Await(c, futures.All(c, answers...))
		if err != nil {
			return 0, err
		}
		for _, v := range values {
			sum += v
		}
	}
	return sum, nil
}

func runJoin(p contract.Params, m *contract.Meter) error {
	joins, width := p.Int("joins"), p.Int("width")
	return onNode(p, func(main *node.Process) error {
		o := &joiner{}
		for range width {
			to, err := active.Start(main, &accumulator{}, node.Options{})
			if err != nil {
				return err
			}
			o.of = append(o.of, to)
		}
		from, err := active.Start(main, o, node.Options{})
		if err != nil {
			return err
		}
		m.Start()
		sum, err := node.Await(main.Context(), main, active.Go(main, from, (*joiner).Run, joins))
		m.Stop()
		if want := width * joins * (joins + 1) / 2; err == nil && sum != want {
			err = fmt.Errorf("the answers add up to %d, not %d", sum, want)
		}
		return err
	})
}
