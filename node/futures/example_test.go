package futures_test

import (
	"context"
	"fmt"
	"time"

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
	fmt.Println(node.Await(context.Background(), n, futures.All(n, ask(1), ask(2), ask(3))))
	// Output: [1 4 9] <nil>
}

// An actor asks another, with a minute of patience, and handles other messages meanwhile.
func ExampleAsk() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	prices, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r := msg.(node.Request[string])
		return c.Reply(r.From, 250)
	}))
	if err != nil {
		panic(err)
	}
	told := make(chan string)
	buyer, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		item := msg.(string)
		futures.Ask[int](c, prices, item).Within(time.Minute).Then(func(c *node.Context, cents int, err error) error {
			told <- fmt.Sprint(item, ": ", cents, " ", err)
			return nil
		})
		return nil
	}))
	if err != nil {
		panic(err)
	}
	if err := n.Send(buyer, "tea"); err != nil {
		panic(err)
	}
	fmt.Println(<-told)
	// Output: tea: 250 <nil>
}
