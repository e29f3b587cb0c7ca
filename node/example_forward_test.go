package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/node"
)

// A front hands requests on to a worker. The worker fails, and the caller of the front is told at once.
func ExampleForward() {
	n, err := node.Start(node.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	divider, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := msg.(node.Request[int]); ok {
			if r.Body == 0 {
				return node.ExitWith(node.Atom("badarith"))
			}
			return c.Reply(r.From, 100/r.Body)
		}
		return nil
	}))
	if err != nil {
		panic(err)
	}
	front, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := msg.(node.Request[int]); ok {
			return node.Forward(c, r, divider)
		}
		return nil
	}))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	fmt.Println(node.Call[int](ctx, n, front, 4))
	_, err = node.Call[int](ctx, n, front, 0)
	var exit *node.ExitError
	fmt.Println(errors.As(err, &exit) && exit.Reason == node.Atom("badarith"))
	_, err = node.Call[int](ctx, n, front, 4)
	fmt.Println(errors.Is(err, node.ErrNoProcess))
	// Output:
	// 25 <nil>
	// true
	// true
}
