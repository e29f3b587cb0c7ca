package mailbox_test

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// A process whose mailbox holds two messages: senders learn that it is full.
func ExampleBounds() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	busy, done := make(chan struct{}), make(chan struct{})
	worker := node.ProcessFunc(func(p *node.Process) error {
		<-busy
		for range 2 {
			fmt.Println("works on", node.ReceiveOf[string](p))
		}
		close(done)
		return nil
	})
	pid, err := n.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: mailbox.Refuse}}, worker)
	if err != nil {
		panic(err)
	}
	for _, task := range []string{"a", "b", "c"} {
		if err := n.Send(pid, task); errors.Is(err, node.ErrMailboxFull) {
			fmt.Println("refused:", task)
		}
	}
	close(busy)
	<-done
	// Output:
	// refused: c
	// works on a
	// works on b
}
