package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// buyer orders goods at Shop.Orders, a GenServer in Elixir, and monitors it. While that is away, orders wait here.
//
//	       ┌── the call fails, or Down ───┐
//	       │                              ▼
//	up: orders at once            away: tries every second
//	       ▲                              │
//	       └───── Shop.Orders answers ────┘
type buyer struct {
	orders  node.At
	monitor node.Ref // zero: away
	waiting map[string]int
	made    int // orders that Shop.Orders has confirmed
}

// Low says that little is left of a good.
type Low struct {
	Item string
	Left int
}

// State asks a buyer what it does.
type State struct{ genserver.Returns[Buying] }

// Buying is the reply to State.
type Buying struct {
	Up      bool
	Waiting []string
	Made    int
}

type try struct{}

const (
	again    = time.Second     // between two tries
	patience = 5 * time.Second // for an answer
)

func (b *buyer) Init(c *genserver.Context) error {
	return c.Send(c.Self(), try{}) // the first use of a node connects to it, so not before this process has started
}

func (b *buyer) low(c *genserver.Context, m Low) error {
	b.waiting[m.Item] = m.Left
	if b.monitor == (node.Ref{}) {
		return nil
	}
	return b.order(c)
}

// order calls Shop.Orders for all that waits. A call that fails may have been handled: an order can be made twice.
func (b *buyer) order(c *genserver.Context) error {
	for _, item := range slices.Sorted(maps.Keys(b.waiting)) {
		number, err := ask[int](c, b.orders, wire.Tuple{wire.Atom("order"), item, b.waiting[item]})
		if err != nil {
			return b.away(c, err)
		}
		delete(b.waiting, item)
		b.made++
		c.Log().Info("ordered", "item", item, "number", number)
	}
	return nil
}

// ask is GenServer.call(to, request). A node that is away is an error of Connect; a call to it would also be a dead letter.
func ask[R any](c *genserver.Context, to node.At, request any) (reply R, err error) {
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	c.Blocking(func() { err = c.Node().Connect(ctx, to.Node) })
	if err != nil {
		return reply, err
	}
	return node.Call[R](ctx, c, to, request)
}

// try looks for Shop.Orders.
func (b *buyer) try(c *genserver.Context, _ try) error {
	if _, err := ask[wire.Atom](c, b.orders, wire.Atom("ping")); err != nil {
		return b.away(c, err)
	}
	b.monitor = c.Monitor(b.orders)
	c.Log().Info("the shop is there", "node", b.orders.Node)
	return b.order(c)
}

func (b *buyer) away(c *genserver.Context, why error) error {
	if b.monitor != (node.Ref{}) {
		c.DemonitorFlush(b.monitor)
		b.monitor = node.Ref{}
		c.Log().Warn("the shop is away", "node", b.orders.Node, "reason", why)
	}
	_, err := c.SendAfter(again, c.Self(), try{})
	return err
}

// down handles that Shop.Orders has ended, or its node, or the connection.
func (b *buyer) down(c *genserver.Context, m node.Down) error {
	if m.Ref != b.monitor {
		return nil
	}
	return b.away(c, errors.New(wire.Format(m.Reason)))
}

func (b *buyer) state(*genserver.Context, State) (Buying, error) {
	return Buying{b.monitor != (node.Ref{}), slices.Sorted(maps.Keys(b.waiting)), b.made}, nil
}

var buyers = genserver.Define(genserver.OnCast((*buyer).low), genserver.OnInfo((*buyer).try),
	genserver.OnInfo((*buyer).down), genserver.OnCall((*buyer).state))
