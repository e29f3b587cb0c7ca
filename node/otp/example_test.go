package otp_test

import (
	"context"
	"fmt"
	"os"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// A function prints where its caller is: here, without another node, through the node's own process user.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	if err := otp.Serve(n, otp.Config{Output: os.Stdout}); err != nil {
		panic(err)
	}
	greet := func(ctx context.Context, args []any) (any, error) {
		_, err := fmt.Fprintf(otp.Writer(ctx), "hello %s\n", wire.Format(args[0]))
		return wire.AtomOK, err
	}
	if err := rpc.Export(n, wire.Export{Module: "greeter", Function: "greet", Arity: 1}, greet); err != nil {
		panic(err)
	}
	done := make(chan error)
	n.Spawn(node.ProcessFunc(func(p *node.Process) error { // as rpc:call('go@host', greeter, greet, [world]) does
		_, err := rpc.Apply(p.Context(), n, "greeter", "greet", []any{wire.Atom("world")})
		done <- err
		return nil
	}))
	fmt.Println(<-done)
	// Output:
	// hello world
	// <nil>
}
