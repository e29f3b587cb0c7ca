package admin_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Ask a node how it does, and watch one of its processes. Here the node asks itself; another one passes its own node,
// or process, in place of n.
func Example() {
	ctx := context.Background()
	n, err := node.Start(node.Config{Name: "go@localhost"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	if err := admin.Start(ctx, n, admin.Config{Version: "1.2"}); err != nil {
		fmt.Println(err)
		return
	}
	counter, _ := n.SpawnOpt(node.Options{Name: "counter"}, node.ActorFunc(func(*node.Context, any) error { return nil }))

	s, err := admin.Status(ctx, n, n.Name())
	fmt.Println(s.Node, s.Version, s.Ready, err)
	l, err := admin.Processes(ctx, n, n.Name(), admin.Query{Text: "counter", Sort: "mailbox", Limit: 20})
	fmt.Println(l.Matched, l.Processes[0].Name, l.Processes[0].State, err)

	trace, err := admin.Trace(ctx, n, n.Name(), admin.TraceQuery{Targets: []any{"counter"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	n.Send(counter, wire.Tuple{wire.Atom("add"), 5})
	n.Exit(counter, node.Kill)
	for e := range trace.C {
		fmt.Println(e.Type, wire.Format(e.Message))
	}
	fmt.Println(trace.Why(), trace.Err())
	// Output:
	// go@localhost 1.2 true <nil>
	// 1 counter idle <nil>
	// receive {add,5}
	// signal kill
	// exit killed
	// exited <nil>
}

// The node decides what an operator may do.
func ExampleConfig() {
	n, err := node.Start(node.Config{Name: "go@localhost"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	ctx := context.Background()
	err = admin.Start(ctx, n, admin.Config{ReadOnly: true})
	fmt.Println(err)
	_, err = admin.Exit(ctx, n, n.Name(), admin.Name, node.Kill)
	fmt.Println(err)
	// Output:
	// <nil>
	// go@localhost: admin: the node does not allow the request: exit: the operator service of the node is read-only
}
