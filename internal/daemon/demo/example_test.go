package demo_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()
	if _, err := demo.Start(ctx, n); err != nil {
		panic(err)
	}
	const counter, echo = node.Atom("counter"), node.Atom("echo")

	// A call from Go: the reply has a type.
	genserver.Cast(n, counter, demo.Add{N: 2})
	total, err := genserver.Call(ctx, n, counter, demo.Add{N: 40})
	fmt.Println(total, err)

	// A call from Erlang.
	reply, err := node.Call[any](ctx, n, counter, wire.Tuple{wire.Atom("add"), 1})
	fmt.Println(reply, err)
	state, err := sys.GetState(ctx, n, counter)
	fmt.Println(state, err)

	// A call of echo, and a message to it.
	text, err := node.Call[string](ctx, n, echo, "hello")
	fmt.Println(text, err)
	self, err := n.Open()
	if err != nil {
		panic(err)
	}
	self.Send(echo, wire.Tuple{self.Self(), "hello again"})
	answer := self.Receive().(wire.Tuple)
	fmt.Println(answer[1])

	// A crash: the supervisor starts the counter again.
	_, err = node.Call[any](ctx, n, counter, wire.Atom("crash"))
	fmt.Println(err)
	// Output:
	// 42 <nil>
	// 43 <nil>
	// 43 <nil>
	// hello <nil>
	// hello again
	// node: the process exited: crash
}
