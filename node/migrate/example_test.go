package migrate_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/migrate"
)

// cart is the state of a server that moves.
type cart struct{ Items []string }

// add is a request.
type add struct {
	genserver.Returns[int]
	Item string
}

func (c *cart) add(_ *genserver.Context, a add) (int, error) {
	c.Items = append(c.Items, a.Item)
	return len(c.Items), nil
}

var carts = genserver.Define(genserver.OnCall((*cart).add))

func init() { node.RegisterTypes(node.TypeOf[cart]("shop.cart"), node.TypeOf[add]("shop.add")) }

func ExampleTo() {
	ctx := context.Background()
	places := new(clustertest.Places) // a real program has discovery.EPMD, or another finder
	start := func(name node.Atom) *node.Node {
		n, err := node.Start(node.Config{Name: name, Distribution: &node.Distribution{Cookie: "secret", Finder: places}})
		if err != nil {
			panic(err)
		}
		err = migrate.Start(ctx, n, migrate.Kind{Name: "shop.cart", New: func() node.Actor { return carts.New(nil) }})
		if err != nil {
			panic(err)
		}
		return n
	}
	a, b := start("a@127.0.0.1"), start("b@127.0.0.1")
	defer a.Stop()
	defer b.Stop()

	pid, _ := carts.Start(ctx, a, &cart{}, node.Options{})
	n, _ := genserver.Call(ctx, a, pid, add{Item: "tea"})
	fmt.Println(n)
	there, err := migrate.To(ctx, a, pid, b.Name())
	fmt.Println(there.Node(), err)
	n, _ = genserver.Call(ctx, a, pid, add{Item: "milk"}) // by the old PID
	fmt.Println(n)
	n, _ = genserver.Call(ctx, b, there, add{Item: "bread"})
	fmt.Println(n)
	// Output:
	// 1
	// b@127.0.0.1 <nil>
	// 2
	// 3
}
