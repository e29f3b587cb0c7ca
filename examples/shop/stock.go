package main

import (
	"errors"
	"fmt"
	"maps"

	"github.com/actornode/actornode/node/genserver"
)

var errSoldOut = errors.New("sold out")

// Item is what the shop sells.
type Item struct {
	Cents int `json:"cents"`
	Left  int `json:"left"`
}

// Lines are the pieces of each item, in a cart or an order.
type Lines map[string]int

// Requests to the stock.
type (
	// List returns all items.
	List struct {
		genserver.Returns[map[string]Item]
	}
	// Take takes all of the lines, or none. It returns what they cost.
	Take struct {
		genserver.Returns[int]
		Lines Lines
	}
	// PutBack gives back what Take has taken.
	PutBack struct {
		genserver.Returns[int]
		Lines Lines
	}
)

// stock is the server "stock". It works in memory, and saves each change before it answers.
type stock struct {
	saved *table[Item]
	items map[string]Item
}

var stocks = genserver.Define(
	genserver.OnCall((*stock).list),
	genserver.OnCall((*stock).take),
	genserver.OnCall((*stock).putBack),
)

// Init runs at each start, also after a crash.
func (s *stock) Init(*genserver.Context) error {
	s.items = s.saved.all()
	return nil
}

// list returns a copy: the server changes its own map later.
func (s *stock) list(*genserver.Context, List) (map[string]Item, error) {
	return maps.Clone(s.items), nil
}

func (s *stock) take(_ *genserver.Context, t Take) (cents int, err error) {
	for name, pieces := range t.Lines {
		item := s.items[name]
		if item.Left < pieces {
			return 0, fmt.Errorf("%w: %d of %s are left", errSoldOut, item.Left, name)
		}
		cents += pieces * item.Cents
	}
	s.change(t.Lines, -1)
	return cents, nil
}

func (s *stock) putBack(_ *genserver.Context, p PutBack) (int, error) {
	s.change(p.Lines, +1)
	return len(p.Lines), nil
}

func (s *stock) change(lines Lines, sign int) {
	for name, pieces := range lines {
		item := s.items[name]
		item.Left += sign * pieces
		s.items[name] = item
		s.saved.put(name, item)
	}
}
