package tree_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor/tree"
)

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	demo.Export(n) // the names that the file may use
	file := `
supervisor:
  intensity: 100
  period: 1s
  children:
    - name: total
      start: demo:counter
      restart: transient
`
	f, err := tree.Check("total.yaml", strings.NewReader(file), tree.Known{Behaviours: rpc.Behaviours(n)})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := f.Start(ctx, n); err != nil {
		panic(err)
	}
	total, err := genserver.Call(ctx, n, node.Atom("total"), demo.Add{N: 42})
	fmt.Println(total, err)
	// Output: 42 <nil>
}

func ExampleCheck() {
	file := `
supervisor:
  stratgy: one_for_one
  children:
    - id: a
      start: demo:conter
      restart: temporary
      significant: yes
`
	_, err := tree.Check("shop.yaml", strings.NewReader(file), known)
	fmt.Println(err)
	// Output:
	// shop.yaml:3:3: supervisor.stratgy: unknown field; did you mean strategy? allowed: name, global, strategy, intensity, period, auto_shutdown, children
	// shop.yaml:6:14: supervisor.children[0].start: demo:conter is not exported; did you mean demo:counter/0? allowed: demo:counter/0, demo:echo/0, demo:exit/1
	// shop.yaml:8:20: supervisor.children[0].significant: unknown value "yes"; allowed: false, true
}
