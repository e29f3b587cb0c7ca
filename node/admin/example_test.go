package admin_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/admin"
	"github.com/actornode/actornode/wire"
)

// Ask a node how it does. Here the node asks itself; another one passes its own node, or process, in place of n.
func Example() {
	ctx := context.Background()
	n, err := node.Start(node.Config{Name: "go@localhost"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	if err := admin.Start(ctx, n, admin.Config{Version: "1.2", ReadOnly: true}); err != nil {
		fmt.Println(err)
		return
	}
	service := node.At{Name: "actornode", Node: "go@localhost"}

	status, err := node.Call[wire.Tuple](ctx, n, service, wire.Atom("status"))
	if err != nil {
		fmt.Println(err)
		return
	}
	version, _ := status[1].(wire.Map).Get(wire.Atom("version"))
	fmt.Println(wire.Format(status[0]), wire.Format(version))

	refused, err := node.Call[wire.Tuple](ctx, n, service, wire.Tuple{wire.Atom("exit"), wire.Atom("actornode"), node.Kill})
	if err != nil {
		fmt.Println(err)
		return
	}
	why := refused[1].(wire.Tuple)
	text, _ := wire.AsText(why[1])
	fmt.Println(wire.Format(refused[0]), wire.Format(why[0]))
	fmt.Println(text)
	// Output:
	// ok <<"1.2">>
	// error not_allowed
	// admin: the node does not allow the request: exit: the operator service of the node is read-only
}
