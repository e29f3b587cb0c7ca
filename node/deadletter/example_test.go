package deadletter_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
)

// A message to a process that has ended is lost, and appears among the dead letters.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	gone, err := n.Open()
	if err != nil {
		panic(err)
	}
	to := gone.Self()
	gone.Close(node.Normal)

	letters := n.DeadLetters(10)
	defer letters.Close()
	n.Send(to, "hello")
	l := <-letters.C
	fmt.Println(l.Cause, l.To == to, l.Message)
	fmt.Println(n.Stats().DeadLetters[l.Cause])
	// Output:
	// no_process true hello
	// 1
}
