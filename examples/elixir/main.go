// Elixir is a Go node beside an Elixir application: each calls the other, links and monitors cross, and each side is supervised
// and survives the restart of the other.
//
//	go run ./examples/elixir start --name go@127.0.0.1
//	cd examples/elixir/shop && elixir --name shop@127.0.0.1 -S mix run --no-halt
//
// README.md says what to read first.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// settings are the section stock of the configuration.
type settings struct {
	Shop string // node of the Elixir application
}

func main() {
	s := settings{Shop: "shop@127.0.0.1"}
	start := func(ctx context.Context, p *node.Process) (node.PID, error) { // when the settings have been read
		return supervisor.Start(ctx, p, tree(s), node.Options{Name: "warehouse", Link: true})
	}
	actornode.Main(actornode.Program{
		Name: "warehouse", About: "A warehouse in Go for a shop in Elixir",
		Export: export, Sections: map[string]any{"stock": &s},
		Applications: []application.Spec{{Name: "warehouse", Type: application.Permanent, Start: start}},
	})
}

// export is what other nodes may start here: Node.spawn_link(go, :stock, :hold, ["tea", 2]).
func export(n *node.Node) error {
	return rpc.ExportBehaviour(n, wire.Export{Module: "stock", Function: "hold", Arity: 2}, newHold)
}

// tree is one for one: neither server needs the other's state.
func tree(s settings) supervisor.Spec {
	orders := node.At{Name: "Elixir.Shop.Orders", Node: node.Atom(s.Shop)} // the atom that Shop.Orders is
	return supervisor.Spec{Intensity: 10, Period: time.Minute, Children: []supervisor.Child{
		{ID: "buyer", Options: node.Options{Name: "buyer"},
			Start: func(...any) (node.Actor, error) {
				return buyers.New(&buyer{orders: orders, waiting: map[string]int{}}), nil
			}},
		{ID: "stock", Options: node.Options{Name: "stock"},
			Start: func(...any) (node.Actor, error) { return stocks.New(newStock()), nil }},
	}}
}

// newHold makes a process that keeps goods for the process that it is linked to.
func newHold(args []any) (node.Actor, error) {
	item, isText := wire.AsText(args[0])
	count, isInt := wire.AsInt(args[1])
	if !isText || !isInt || count < 1 {
		return nil, fmt.Errorf("hold: want a text and a number, not %v", args)
	}
	return &hold{item: item, count: int(count)}, nil
}
