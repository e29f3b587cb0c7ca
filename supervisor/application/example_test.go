package application_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()
	c, err := application.Start(ctx, n)
	if err != nil {
		panic(err)
	}

	c.Load(application.Spec{
		Name: "shop", Description: "The shop", Version: "1.10",
		Type:    application.Permanent, // the node does not go on without it
		Depends: []wire.Atom{"store"},
		Env:     map[wire.Atom]any{"port": 8080},
		Top:     &supervisor.Spec{Strategy: supervisor.OneForAll},
	})
	c.Load(application.Spec{Name: "store", Description: "The store", Version: "2", Top: &supervisor.Spec{}})

	fmt.Println(c.Start(ctx, "shop", application.Permanent))
	fmt.Println(c.StartAll(ctx))
	all, err := c.Which(ctx)
	fmt.Println(all, err)
	port, _ := c.Env("shop", "port")
	fmt.Println(port)

	// From Erlang: rpc:call(Node, application, which_applications, []).
	answer, err := rpc.Apply(ctx, n, "application", "which_applications", nil)
	fmt.Println(wire.Format(answer), err)
	fmt.Println(c.StopAll(ctx))
	// Output:
	// application: not_started: store
	// <nil>
	// [{shop The shop 1.10} {store The store 2}] <nil>
	// 8080
	// [{shop,"The shop","1.10"},{store,"The store","2"}] <nil>
	// <nil>
}
