package main

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var errNoOrder = errors.New("there is no such order")

// What an order can be.
const (
	open      = "open" // being paid
	paid      = "paid"
	cancelled = "cancelled"
	unclear   = "unclear" // something crashed while it was paid: ask the bank
)

// Order is what somebody has bought.
type Order struct {
	ID     string `json:"id"`
	User   string `json:"user"`
	Lines  Lines  `json:"lines"`
	Cents  int    `json:"cents"`
	Status string `json:"status"`
}

// Requests to the orders.
type (
	// Place takes the goods out of the stock, and opens an order.
	Place struct {
		genserver.Returns[Order]
		ID, User string
		Lines    Lines
	}
	// Close ends an order. One that is not paid is cancelled, and its goods go back. To close one twice changes nothing.
	Close struct {
		genserver.Returns[Order]
		ID   string
		Paid bool
	}
	// Show returns an order.
	Show struct {
		genserver.Returns[Order]
		ID string
	}
)

// orders is the server "orders".
type orders struct {
	saved *table[Order]
	all   map[string]Order
	last  map[node.PID]string // the last order of each cart
}

var orderServers = genserver.Define(
	genserver.OnCall((*orders).place),
	genserver.OnCall((*orders).close),
	genserver.OnCall((*orders).show),
	genserver.OnInfo((*orders).down),
)

// Init runs at each start. An order that was open at a crash is unclear until its cart closes it.
func (o *orders) Init(*genserver.Context) error {
	o.all, o.last = o.saved.all(), make(map[node.PID]string)
	for id := range o.all {
		o.lose(id)
	}
	return nil
}

func (o *orders) place(c *genserver.Context, p Place) (Order, error) {
	cents, err := ask(c.CallContext(), c, "stock", Take{Lines: p.Lines})
	if err != nil {
		return Order{}, fmt.Errorf("take the goods: %w", err)
	}
	cart := c.From().Caller()
	if _, known := o.last[cart]; !known {
		c.Monitor(cart)
	}
	o.last[cart] = p.ID
	return o.save(Order{ID: p.ID, User: p.User, Lines: p.Lines, Cents: cents, Status: open}), nil
}

func (o *orders) close(c *genserver.Context, r Close) (Order, error) {
	order, ok := o.all[r.ID]
	if !ok || order.Status == paid || order.Status == cancelled {
		return order, nil
	}
	order.Status = paid
	if !r.Paid {
		if _, err := ask(c.CallContext(), c, "stock", PutBack{Lines: order.Lines}); err != nil {
			return Order{}, fmt.Errorf("put the goods back: %w", err)
		}
		order.Status = cancelled
	}
	return o.save(order), nil
}

func (o *orders) show(_ *genserver.Context, s Show) (Order, error) {
	order, ok := o.all[s.ID]
	if !ok {
		return Order{}, errNoOrder
	}
	return order, nil
}

// down says that a cart has ended: it closes no order any more.
func (o *orders) down(_ *genserver.Context, d node.Down) error {
	o.lose(o.last[d.PID])
	delete(o.last, d.PID)
	return nil
}

func (o *orders) lose(id string) {
	if order := o.all[id]; order.Status == open {
		order.Status = unclear
		o.save(order)
	}
}

func (o *orders) save(order Order) Order {
	o.all[order.ID] = order
	o.saved.put(order.ID, order)
	return order
}
