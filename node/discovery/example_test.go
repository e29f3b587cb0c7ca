package discovery_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// Two lists of nodes: the second may know a node that the first does not.
func ExampleChain() {
	at := func(text string) []discovery.Endpoint {
		e, err := discovery.ParseEndpoint(text)
		if err != nil {
			panic(err)
		}
		return []discovery.Endpoint{e}
	}
	finder := discovery.Chain(
		&discovery.Static{Nodes: map[wire.Atom][]discovery.Endpoint{"shop@a.example": at("tcp://10.0.0.7:9100")}},
		&discovery.Static{Nodes: map[wire.Atom][]discovery.Endpoint{"till@b.example": at("tcp://10.0.0.8:9100")}},
	)
	for _, name := range []wire.Atom{"shop@a.example", "till@b.example", "cart@c.example"} {
		where, err := finder.Find(context.Background(), name)
		fmt.Println(name, where, errors.Is(err, discovery.ErrUnknownNode))
	}
	// Output:
	// shop@a.example [tcp://10.0.0.7:9100] false
	// till@b.example [tcp://10.0.0.8:9100] false
	// cart@c.example [] true
}
