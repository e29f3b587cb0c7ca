package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var (
	errEmpty  = errors.New("the cart is empty")
	errPieces = fmt.Errorf("%w: pieces must be from 1 to 1000", errBadRequest)
)

// Requests to a cart.
type (
	// Look returns what is in the cart.
	Look struct{ genserver.Returns[Lines] }
	// Add puts something into the cart, and returns what is in it.
	Add struct {
		genserver.Returns[Lines]
		Item   string `json:"item"`
		Pieces int    `json:"pieces"`
	}
	// Checkout buys what is in the cart.
	Checkout struct{ genserver.Returns[Order] }
)

// cart is the server of one user.
type cart struct {
	user  string
	pay   func(ctx context.Context, o Order) error
	lines Lines
}

var carts = genserver.Define(
	genserver.OnCall((*cart).look),
	genserver.OnCall((*cart).add),
	genserver.OnCall((*cart).checkout),
)

func (s *cart) look(*genserver.Context, Look) (Lines, error) { return maps.Clone(s.lines), nil }

func (s *cart) add(_ *genserver.Context, a Add) (Lines, error) {
	if a.Pieces < 1 || a.Pieces > 1000 {
		return nil, errPieces
	}
	s.lines[a.Item] += a.Pieces
	return maps.Clone(s.lines), nil
}

// checkout places an order, pays it, and closes it. The cart handles nothing else meanwhile, so nothing is bought twice.
func (s *cart) checkout(c *genserver.Context, _ Checkout) (Order, error) {
	if len(s.lines) == 0 {
		return Order{}, errEmpty
	}
	ctx := c.CallContext() // it ends when the client gives up
	id := rand.Text()
	order, err := ask(ctx, c, "orders", Place{ID: id, User: s.user, Lines: maps.Clone(s.lines)})
	switch {
	case errors.Is(err, errSoldOut), errors.Is(err, errBusy): // it is not placed
		return Order{}, err
	case err == nil:
		c.Blocking(func() { err = s.pay(ctx, order) })
	}
	order, failed := closeOrder(c, Close{ID: id, Paid: err == nil})
	switch {
	case failed != nil: // the cart ends with it, and the order is unclear
		return Order{}, node.ExitWith(node.Atom("order_not_closed"))
	case err != nil:
		return Order{}, fmt.Errorf("order %s: %w", id, err)
	}
	clear(s.lines)
	return order, nil
}

// closeOrder has a time of its own: it also runs when the client has given up.
func closeOrder(c *genserver.Context, r Close) (Order, error) {
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	for {
		order, err := ask(ctx, c, "orders", r)
		if err == nil || ctx.Err() != nil {
			return order, err
		}
		c.Blocking(func() { time.Sleep(100 * time.Millisecond) })
	}
}
