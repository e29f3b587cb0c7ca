package global_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
)

// A process gets a name that all nodes of the cluster know. This node is the first of the cluster.
func Example() {
	n, err := node.Start(node.Config{Name: "till@127.0.0.1", Distribution: &node.Distribution{
		Cookie: "secret", Finder: &discovery.Static{}, Published: global.Join(global.Config{}),
	}})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()
	leader, err := n.Open()
	if err != nil {
		panic(err)
	}
	defer leader.Close(node.Normal)

	fmt.Println(global.Register(ctx, leader, "leader", leader.Self(), global.Options{}))
	pid, ok := global.Whois(n, "leader")
	fmt.Println(pid == leader.Self(), ok)

	n.Send(node.Global("leader"), "hello")
	fmt.Println(node.ReceiveOf[string](leader))

	// One process at a time has the resource, on whichever node.
	err = global.Trans(ctx, leader, global.ID{Resource: "ledger"}, func() error {
		fmt.Println("writes")
		return nil
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// true true
	// hello
	// writes
	// <nil>
}
