package seqtrace_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/seqtrace"
)

// What an order causes carries its label.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	stock, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return nil
		}
		label, _ := seqtrace.Label(c)
		return c.Reply(r.From, label)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	shop, err := n.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.Close(nil)
	seqtrace.SetLabel(shop, "order 17")
	label, err := node.Call[string](context.Background(), shop, stock, "reserve")
	fmt.Println(label, err)
	// Output: order 17 <nil>
}
