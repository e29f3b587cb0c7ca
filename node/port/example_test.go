//go:build unix

package port_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// A program in Python is the child of a supervisor, and Go calls it.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()
	_, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{{
		ID: "pycounter",
		Start: func(...any) (node.Actor, error) {
			return port.New(port.Config{
				Command: "python3", Args: []string{"../../deploy/samples/port/counter.py"},
				Ready: time.Minute,
			}), nil
		},
		Options: node.Options{Name: "pycounter"},
	}}}, node.Options{})
	if err != nil {
		panic(err)
	}
	sum, err := node.Call[int](ctx, n, node.Atom("pycounter"), wire.Tuple{wire.Atom("add"), 5})
	fmt.Println(sum, err)
	// Output: 5 <nil>
}
