package pool_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pool"
)

// Four workers behind one name, with at most 100 requests that wait.
func Example() {
	ctx := context.Background()
	n, err := node.Start(node.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	double := func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			r, ok := msg.(node.Request[int])
			if !ok {
				c.Unknown(msg)
				return nil
			}
			if r.Body < 0 {
				return fmt.Errorf("%d is negative", r.Body) // ends the worker, which is replaced
			}
			return r.Reply(2 * r.Body)
		})
	}
	doubles, err := pool.Start(ctx, n, pool.Options{
		Name: "doubles", Workers: 4, New: double,
		Bounds: mailbox.Bounds{Messages: 100, Policy: mailbox.Refuse},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(node.Call[int](ctx, n, doubles.PID(), 21))
	_, err = node.Call[int](ctx, n, node.Atom("doubles"), -1)
	fmt.Println(err != nil)

	if err := doubles.Resize(ctx, n, 2); err != nil {
		panic(err)
	}
	fmt.Println(len(doubles.Workers()))
	// Output:
	// 42 <nil>
	// true
	// 2
}
