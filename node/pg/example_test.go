package pg_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

func Example() {
	n, err := node.Start(node.Config{}) // with a Distribution, groups go over all nodes
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()

	scope, err := pg.Start(ctx, n, pg.Config{})
	if err != nil {
		panic(err)
	}
	said := make(chan any)
	room := wire.Tuple{wire.Atom("room"), 7} // as in Erlang, any term names a group
	for range 2 {
		guest, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			said <- msg
			return nil
		}))
		if err != nil {
			panic(err)
		}
		if err := scope.Join(ctx, n, room, guest); err != nil {
			panic(err)
		}
	}
	fmt.Println(len(scope.Members(room)), "in", scope.Groups())
	for guest := range scope.Each(room) {
		n.Send(guest, "hello")
		fmt.Println(<-said)
	}
	// Output:
	// 2 in [{room,7}]
	// hello
	// hello
}
