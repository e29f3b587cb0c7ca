package keyed_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
)

// cart is the process of one user.
type cart struct {
	user string
	sum  int
}

type buy struct{ Cents int }

func (s *cart) Receive(c *node.Context, msg any) error {
	r, ok := msg.(node.Request[buy])
	if !ok {
		c.Unknown(msg)
		return nil
	}
	s.sum += r.Body.Cents
	return r.Reply(fmt.Sprintf("%s: %d", s.user, s.sum))
}

// Each user has a cart as long as it is used.
func Example() {
	ctx := context.Background()
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	carts, err := keyed.Start(ctx, n, keyed.Kind[string]{
		Name: "carts",
		Idle: 10 * time.Minute,
		New:  func(user string) (node.Actor, error) { return &cart{user: user}, nil },
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(keyed.Call[string](ctx, n, carts, "ann", buy{250}))
	fmt.Println(keyed.Call[string](ctx, n, carts, "bob", buy{100}))
	fmt.Println(keyed.Call[string](ctx, n, carts, "ann", buy{50}))
	fmt.Println(carts.Stats().Processes)
	fmt.Println(carts.End(ctx, n, "ann"))
	fmt.Println(carts.Stats().Processes)
	// Output:
	// ann: 250 <nil>
	// bob: 100 <nil>
	// ann: 300 <nil>
	// 2
	// <nil>
	// 1
}
