package main

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// stock is a server for Elixir and Go: GenServer.call({:stock, go}, {:reserve, "tea", 2}).
type stock struct {
	left  map[string]int
	holds map[node.PID]hold
}

func newStock() *stock {
	return &stock{left: map[string]int{"tea": 10, "coffee": 10}, holds: map[node.PID]hold{}}
}

// Reserve takes goods: {reserve, Item, Count}. The reply is how many are left.
type Reserve struct {
	_ struct{} `etf:"reserve,tuple"`
	genserver.Returns[int]
	Item  string
	Count int
}

// Level asks how many are left: {level, Item}.
type Level struct {
	_ struct{} `etf:"level,tuple"`
	genserver.Returns[int]
	Item string
}

// Hold takes goods until the calling process ends; only processes of this node ask for it.
type Hold struct {
	genserver.Returns[int]
	Item  string
	Count int
}

// Errors of a stock: Elixir gets {:error, :sold_out} and {:error, :bad_count}.
var (
	errSoldOut = term{errors.New("not so many are left"), "sold_out"}
	errCount   = term{errors.New("a count must be above 0"), "bad_count"}
)

// term is an error that is an atom for Elixir.
type term struct {
	error
	atom wire.Atom
}

func (t term) Term() any { return t.atom }

// few is when a good must be ordered again.
const few = 3

func (s *stock) Init(c *genserver.Context) error {
	c.TrapExit(true) // for the links to holds
	return nil
}

func (s *stock) take(c *genserver.Context, item string, count int) (int, error) {
	if count < 1 {
		return 0, errCount
	} else if s.left[item] < count {
		return 0, errSoldOut
	}
	s.left[item] -= count
	if left := s.left[item]; left < few {
		if err := genserver.Cast(c, node.Atom("buyer"), Low{Item: item, Left: left}); err != nil {
			c.Log().Warn("not ordered", "item", item, "error", err) // the buyer is being restarted
		}
	}
	return s.left[item], nil
}

func (s *stock) reserve(c *genserver.Context, r Reserve) (int, error) {
	return s.take(c, r.Item, r.Count)
}

func (s *stock) level(_ *genserver.Context, l Level) (int, error) { return s.left[l.Item], nil }

// hold links the stock to the process that asks. If the stock fails, that ends, too, and with it the basket in Elixir.
func (s *stock) hold(c *genserver.Context, h Hold) (int, error) {
	left, err := s.take(c, h.Item, h.Count)
	if err == nil {
		holder := c.From().Caller()
		c.Link(holder)
		s.holds[holder] = hold{item: h.Item, count: h.Count}
	}
	return left, err
}

// exited takes back what a process has held.
func (s *stock) exited(c *genserver.Context, m node.Exited) error {
	h, ok := s.holds[m.From]
	if !ok {
		return node.ExitWith(m.Reason) // not a hold: somebody wants this process to end
	}
	delete(s.holds, m.From)
	s.left[h.item] += h.count
	c.Log().Info("taken back", "item", h.item, "count", h.count, "reason", fmt.Sprint(m.Reason))
	return nil
}

var stocks = genserver.Define(genserver.OnCall((*stock).reserve), genserver.OnCall((*stock).level),
	genserver.OnCall((*stock).hold), genserver.OnInfo((*stock).exited))

// hold is the process between a basket in Elixir and the stock: linked to both, it ends with each of them.
//
//	Shop.Basket ── link, between nodes ── hold ── link ── stock
type hold struct {
	item  string
	count int
}

func (h *hold) Init(c *node.Context) error {
	_, err := genserver.Call(c.Context(), c, node.Atom("stock"), Hold{Item: h.item, Count: h.count})
	if reason, ok := errors.AsType[term](err); ok {
		return node.ExitWith(reason.atom) // the exit reason of the basket, too
	}
	return err
}

// Receive answers GenServer.call(hold, :held), which a basket makes to know that it has the goods.
func (h *hold) Receive(c *node.Context, msg any) error {
	if r, ok := msg.(node.Request[node.Atom]); ok && r.Body == "held" {
		return r.Reply(true)
	}
	c.Unknown(msg)
	return nil
}
