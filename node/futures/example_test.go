package futures_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/futures"
)

// Three calls at once, and one wait.
func ExampleAll() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	square, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r := msg.(node.Request[int])
		return c.Reply(r.From, r.Body*r.Body)
	}))
	if err != nil {
		panic(err)
	}
	ask := func(x int) *node.Future[int] { return node.Async[int](n, square, x) }
	fmt.Println(futures.All(n, ask(1), ask(2), ask(3)).Await(context.Background()))
	// Output: [1 4 9] <nil>
}
