package lifetime_test

import (
	"context"
	"fmt"
	"runtime"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
)

// A program ends when all its actors are done, as with the actors of SALSA and of Scala. Here they are the numbers
// below 5, each of which makes the next.
func ExampleWait() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	var count func(i int) node.ProcessFunc
	count = func(i int) node.ProcessFunc {
		return func(p *node.Process) error {
			fmt.Println(i)
			if i == 4 {
				return nil
			}
			_, err := p.Spawn(count(i + 1))
			return err
		}
	}
	if _, err := n.Spawn(count(0)); err != nil {
		panic(err)
	}
	if err := lifetime.Wait(context.Background(), n); err != nil {
		panic(err)
	}
	fmt.Println("all are done")
	// Output:
	// 0
	// 1
	// 2
	// 3
	// 4
	// all are done
}

// A test looks at the effects of messages, without a sleep.
func ExampleIdle() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	sum := 0
	adder, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		sum += msg.(int)
		return nil
	}))
	if err != nil {
		panic(err)
	}
	for i := range 100 {
		if err := n.Send(adder, i); err != nil {
			panic(err)
		}
	}
	if err := lifetime.Idle(context.Background(), n); err != nil {
		panic(err)
	}
	fmt.Println(sum)
	// Output: 4950
}

// cell is an actor that has a value, and may know another cell.
type cell struct {
	value int
	next  *lifetime.Owner
}

func (x *cell) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case *lifetime.Owner:
		x.next = m
	case node.Request[string]:
		return c.Reply(m.From, x.value)
	}
	return nil
}

// Two cells know each other. When nobody else knows one of them, both are collected.
func ExampleOwn() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	pair := func() *lifetime.Owner {
		first, err := lifetime.Own(n, &cell{value: 1}, node.Options{})
		if err != nil {
			panic(err)
		}
		second, err := lifetime.Own(n, &cell{value: 2}, node.Options{})
		if err != nil {
			panic(err)
		}
		first.Send(n, second)
		second.Send(n, first)
		return first
	}
	first := pair()
	value, err := lifetime.Call[int](context.Background(), n, first, "value")
	fmt.Println(value, err, n.Stats().Processes)

	first = nil
	for n.Stats().Processes > 0 {
		runtime.GC() // a real program leaves that to Go
	}
	fmt.Println("both are collected")
	// Output:
	// 1 <nil> 2
	// both are collected
}
