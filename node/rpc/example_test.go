package rpc_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Call a function by name, on this node or another.
func ExampleCall() {
	n, err := node.Start(node.Config{Name: "go@here"})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	rpc.Export(n, wire.Export{Module: "math", Function: "div", Arity: 2}, func(_ context.Context, args []any) (any, error) {
		if args[1] == 0 {
			return nil, rpc.Raise(node.Atom("badarith"))
		}
		return args[0].(int) / args[1].(int), nil
	})
	ctx := context.Background()
	fmt.Println(rpc.Call[int](ctx, n, "go@here", "math", "div", 84, 2))
	for _, r := range rpc.Multi[int](ctx, n, []node.Atom{"go@here", "go@there"}, "math", "div", 1, 0) {
		var raised *rpc.Error
		fmt.Println(r.Node, errors.As(r.Err, &raised), errors.Is(r.Err, node.ErrNoConnection))
	}
	// Output:
	// 42 <nil>
	// go@here true false
	// go@there false true
}
