package trace_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/trace"
)

// A test sees what a process does without asking it.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if msg == "end" {
			return node.ErrStop
		}
		return c.Node().Register("worker", c.Self())
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.Open(n, trace.Config{}, pid)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	n.Send(pid, "begin")
	n.Send(pid, "end")
	for e := range t.C { // C is closed when the process has exited
		if e.Kind != trace.Receive { // which would come at any time
			fmt.Println(e.Kind, e.Name, e.Message)
		}
	}
	// Output:
	// register worker <nil>
	// exit  normal
}
