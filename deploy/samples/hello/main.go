// Hello is a small program that is a node of a cluster: it calls a server on another
// node, monitors it, and gets its exit.
//
//	actornode cluster
//	ACTORNODE_COOKIE=… go run ./deploy/samples/hello one@127.0.0.1
//
// The server is the demo's counter. Hello has no protocol of its own: a call is a
// function call. There are no goroutines but those of the node.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ACTORNODE_COOKIE=COOKIE hello NAME@HOST")
		os.Exit(2)
	}
	if err := hello(node.Atom(os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hello(there node.Atom) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	mapper, err := epmd.ConfigFromEnv(os.LookupEnv) // ERL_EPMD_PORT, as for Erlang's nodes
	if err != nil {
		return err
	}
	n, err := node.Start(node.Config{
		Name: node.Atom(fmt.Sprintf("hello-%d@127.0.0.1", os.Getpid())), Log: slog.New(slog.DiscardHandler),
		Distribution: &node.Distribution{
			Cookie: os.Getenv("ACTORNODE_COOKIE"), Finder: &discovery.EPMD{Config: mapper},
			Listen: "-", // nobody needs to connect to it
		},
	})
	if err != nil {
		return err
	}
	defer n.Stop()
	if err := n.Connect(ctx, there); err != nil { // else the call would; this says more of what is wrong
		return err
	}
	counter := node.At{Name: "counter", Node: there}
	total, err := node.Call[int](ctx, n, counter, wire.Tuple{wire.Atom("add"), 1})
	if err != nil {
		return err
	}
	fmt.Println("the counter on", there, "says", total)

	// A process that starts another on the other node, and gets its exit.
	me, err := n.Open()
	if err != nil {
		return err
	}
	defer me.Close(nil)
	pid, err := rpc.Spawn(ctx, n, there, "demo", "echo")
	if err != nil {
		return err
	}
	fmt.Println("started", pid)
	me.Monitor(pid)
	n.Exit(pid, node.Atom("tired"))
	down, err := me.ReceiveWithin(10*time.Second, func(m any) bool { _, is := m.(node.Down); return is })
	if err != nil {
		return err
	}
	fmt.Println("it has exited:", down.(node.Down).Reason)
	return nil
}
