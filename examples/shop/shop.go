package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/supervisor"
)

// Config of a Shop.
type Config struct {
	Items map[string]Item
	// Pay asks the bank for the money of an order, once for each ID. An error says that it is not paid.
	Pay     func(ctx context.Context, o Order) error
	Timeout time.Duration // of a request
	Idle    time.Duration // after that a cart is forgotten
	Queue   int           // requests that wait for the stock at once, and for the orders
	Cart    int           // requests that wait for a cart
}

// Shop has the servers below a supervisor.
type Shop struct {
	Config
	n        *node.Node
	top      node.PID
	carts    *keyed.Group[string]
	draining atomic.Bool
}

// errBusy says that a server, which all clients share, has too many requests.
var errBusy = errors.New("the shop is busy")

// Start starts the servers of a Shop.
func Start(ctx context.Context, n *node.Node, c Config) (s *Shop, err error) {
	s = &Shop{Config: c, n: n}
	s.carts, err = keyed.New(keyed.Kind[string]{
		Name: "carts", Idle: c.Idle,
		Options: node.Options{Bounds: mailbox.Bounds{Messages: c.Cart}},
		New: func(user string) (node.Actor, error) {
			return carts.New(&cart{user: user, pay: c.Pay, lines: make(Lines)}), nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("describe the carts: %w", err)
	}
	server := func(name node.Atom, start func() node.Actor) supervisor.Child {
		return supervisor.Child{
			ID:      name,
			Start:   func(...any) (node.Actor, error) { return start(), nil },
			Options: node.Options{Name: name, Bounds: mailbox.Bounds{Messages: c.Queue}},
		}
	}
	itemTable, orderTable := &table[Item]{rows: maps.Clone(c.Items)}, &table[Order]{rows: make(map[string]Order)}
	s.top, err = supervisor.Start(ctx, n, supervisor.Spec{
		Intensity: 10, Period: time.Minute,
		Children: []supervisor.Child{ // started in this order, stopped in the reverse
			server("stock", func() node.Actor { return stocks.New(&stock{saved: itemTable}) }),
			server("orders", func() node.Actor { return orderServers.New(&orders{saved: orderTable}) }),
			s.carts.Child(),
		},
	}, node.Options{Name: "shop"})
	if err != nil {
		return nil, fmt.Errorf("start the servers: %w", err)
	}
	return s, nil
}

// ask asks a server by its name, and waits while the server is started again.
func ask[Q genserver.Returning[R], R any](ctx context.Context, from node.Caller, name node.Atom, req Q) (R, error) {
	r, err := node.Retry(ctx, from, func() (R, error) { return genserver.Call(ctx, from, name, req) })
	if errors.Is(err, node.ErrMailboxFull) {
		err = fmt.Errorf("%w: %s", errBusy, name)
	}
	return r, err
}

// table stands for a table of a database: what is in it survives a crash of its server, but not the end of the program.
type table[V any] struct {
	mu   sync.Mutex
	rows map[string]V
}

func (t *table[V]) put(key string, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[key] = v
}

func (t *table[V]) all() map[string]V {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.rows)
}
