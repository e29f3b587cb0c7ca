package active_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

// Buffer holds at most two items.
type Buffer struct{ items []string }

// Put waits until there is space.
func (b *Buffer) Put(c *active.Context, item string) (int, error) {
	c.Until(func() bool { return len(b.items) < 2 })
	b.items = append(b.items, item)
	return len(b.items), nil
}

// Get waits until there is an item.
func (b *Buffer) Get(c *active.Context) (string, error) {
	c.Until(func() bool { return len(b.items) > 0 })
	item := b.items[0]
	b.items = b.items[1:]
	return item, nil
}

// The bounded buffer: methods wait for conditions, and others run meanwhile.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	buffer, err := active.Start(n, &Buffer{}, node.Options{})
	if err != nil {
		panic(err)
	}
	for _, item := range []string{"a", "b", "c"} { // the third call waits
		active.Go(n, buffer, (*Buffer).Put, item)
	}
	for range 3 {
		fmt.Println(node.Await(context.Background(), n, active.Do(n, buffer, (*Buffer).Get)))
	}
	// Output:
	// a <nil>
	// b <nil>
	// c <nil>
}
