package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/match"
)

var matching = contract.Bench{
	Name:  "match",
	About: "messages of eight types to a match of eight cases, beside a type switch",
	Params: []contract.Param{contract.Int("messages", 4_000_000), contract.Int("waiting", 0).Range(0, 1_000_000),
		contract.Style()},
	Ops: func(p contract.Params) int { return matchRounds * max(p.Int("messages")/matchRounds, 8) },
	Run: runMatch,
}

// matchRounds is how often the two alternate.
const matchRounds = 20

// Messages of eight types, with as many fields as a small message has.
type (
	deposit  struct{ n int }
	withdraw struct{ n int }
	transfer struct{ n int }
	balance  struct{ n int }
	interest struct{ n int }
	charge   struct{ n int }
	audit    struct{ n int }
	closing  struct{ n int }
)

// account receives messages, and sends itself another for each, up to a number.
type account struct {
	main     node.PID
	left     int
	sum      int
	messages [8]any
}

func newAccount(main node.PID, left int) *account {
	return &account{main: main, left: left, messages: [8]any{
		deposit{1}, withdraw{2}, transfer{3}, balance{4}, interest{5}, charge{6}, audit{7}, closing{8}}}
}

// book handles a message: it adds the message's number to the sum, which does not depend on the order.
func (a *account) book(from acting, n int) error {
	a.sum += n * n
	a.left--
	if a.left >= len(a.messages) {
		return from.Send(from.Self(), a.messages[a.left%len(a.messages)])
	}
	if a.left == 0 {
		return from.Send(a.main, answer{a.sum})
	}
	return nil
}

// acting is a process, of either style.
type acting interface {
	node.Caller
	Self() node.PID
	Send(to node.Dest, msg any) error
}

// bySwitch is the version written by hand.
func (a *account) bySwitch(from acting, msg any) error {
	switch m := msg.(type) {
	case deposit:
		return a.book(from, m.n)
	case withdraw:
		return a.book(from, m.n+1)
	case transfer:
		return a.book(from, m.n+2)
	case balance:
		return a.book(from, m.n+3)
	case interest:
		return a.book(from, m.n+4)
	case charge:
		return a.book(from, m.n+5)
	case audit:
		return a.book(from, m.n+6)
	case closing:
		return a.book(from, m.n+7)
	}
	return node.ErrUnhandled
}

// accountCases are the same with cases.
func accountCases[C interface {
	*node.Context | *node.Process
	acting
}](a *account) *match.Match {
	return match.New(
		match.Do(func(c C, m deposit) error { return a.book(c, m.n) }),
		match.Do(func(c C, m withdraw) error { return a.book(c, m.n+1) }),
		match.Do(func(c C, m transfer) error { return a.book(c, m.n+2) }),
		match.Do(func(c C, m balance) error { return a.book(c, m.n+3) }),
		match.Do(func(c C, m interest) error { return a.book(c, m.n+4) }),
		match.Do(func(c C, m charge) error { return a.book(c, m.n+5) }),
		match.Do(func(c C, m audit) error { return a.book(c, m.n+6) }),
		match.Do(func(c C, m closing) error { return a.book(c, m.n+7) }),
	)
}

// byHand and byCases make the two versions, each as an Actor or as a Process. The waiting messages match no case and stay
// in the mailbox.
func (a *account) byHand(blocking bool) node.Actor {
	if !blocking {
		return node.ActorFunc(func(c *node.Context, msg any) error { return a.bySwitch(c, msg) })
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for a.left > 0 {
			if err := a.bySwitch(p, p.Receive()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *account) byCases(blocking bool, waiting int) node.Actor {
	if !blocking {
		return accountCases[*node.Context](a)
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for i := range waiting {
			p.Send(p.Self(), left{i})
		}
		cases := accountCases[*node.Process](a)
		for a.left > 0 {
			if err := match.Receive(p, cases); err != nil {
				return err
			}
		}
		return nil
	})
}

func runMatch(p contract.Params, m *contract.Meter) error {
	each, waiting := max(p.Int("messages")/matchRounds, 8), p.Int("waiting")
	if waiting > 0 && !p.Blocking() {
		return errors.New("waiting: for processes only, as the mailbox of an actor is empty when it begins")
	}
	return onNode(p, func(main *node.Process) error {
		round := func(of func(a *account) node.Actor) (took time.Duration, sum int) {
			a := newAccount(main.Self(), each)
			pid := must(main.Spawn(of(a)))
			began := time.Now()
			for i := range len(a.messages) {
				main.Send(pid, a.messages[(each-1-i)%len(a.messages)])
			}
			sum = node.ReceiveOf[answer](main).number
			took = time.Since(began)
			main.Exit(pid, node.Kill)
			return took, sum
		}
		var hand, cases []time.Duration
		for range matchRounds {
			took, want := round(func(a *account) node.Actor { return a.byHand(p.Blocking()) })
			m.Start()
			other, sum := round(func(a *account) node.Actor { return a.byCases(p.Blocking(), waiting) })
			m.Stop()
			if sum != want {
				return fmt.Errorf("the cases come to %d, and the switch to %d", sum, want)
			}
			hand, cases = append(hand, took), append(cases, other)
		}
		slices.Sort(hand)
		slices.Sort(cases)
		middle := len(hand) / 2
		m.Extra("switch_ns_per_op", float64(hand[middle].Nanoseconds())/float64(each))
		m.Extra("ratio_to_switch", float64(cases[middle])/float64(hand[middle]))
		return nil
	})
}
