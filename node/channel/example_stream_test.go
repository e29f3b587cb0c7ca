package channel_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
)

// The asynchronous stream of "Pondering Actor Design Trades": a process of its own computes the squares, while the loop
// works with those that are there.
func ExampleAhead() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	squares := func(yield func(int) bool) {
		for i := 1; yield(i * i); i++ {
		}
	}
	for square, err := range channel.Ahead(n, 8, squares) {
		if err != nil || square > 30 {
			break
		}
		fmt.Println(square)
	}
	// Output:
	// 1
	// 4
	// 9
	// 16
	// 25
}
