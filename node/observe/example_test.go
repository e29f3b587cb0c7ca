package observe_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// busiest returns the process with the most messages waiting.
func busiest(n *node.Node) (most observe.Process) {
	for p := range n.Infos() {
		if p.Mailbox > most.Mailbox {
			most = p
		}
	}
	return most
}

// The process with the longest mailbox.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	h, err := n.Open()
	if err != nil {
		panic(err)
	}
	defer h.Close(node.Normal)
	n.Register("till", h.Self())
	n.Send(node.Atom("till"), "a")
	n.Send(node.Atom("till"), "b")

	p := busiest(n)
	fmt.Println(p.Name, p.State, p.Mailbox)
	fmt.Println(n.Stats().Names)
	// Output:
	// till running 2
	// 1
}
