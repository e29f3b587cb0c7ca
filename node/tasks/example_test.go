package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/tasks"
)

// A supervisor of tasks, and a map over some words.
func Example() {
	ctx := context.Background()
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	sup, err := tasks.Start(ctx, n, tasks.Options{Max: 10}, node.Options{Name: "tasks"})
	if err != nil {
		panic(err)
	}

	sum := tasks.Go(n, sup, func(*node.Process) (int, error) { return 1 + 2, nil })
	fmt.Println(node.Await(ctx, n, sum))

	length := func(_ *node.Process, word string) (int, error) {
		if word == "" {
			return 0, errors.New("no word")
		}
		return len(word), nil
	}
	for v, err := range tasks.Map(ctx, n, 2, slices.Values([]string{"one", "", "three"}), length) {
		fmt.Println(v, err)
	}
	// Output:
	// 3 <nil>
	// 3 <nil>
	// 0 no word
	// 5 <nil>
}
