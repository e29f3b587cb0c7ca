package stage_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/stage"
)

// fib is an actor that computes a Fibonacci number by a tree of actors: it spawns one for each of the two
// numbers before, adds what they send, and sends the sum to its parent.
type fib struct {
	parent node.PID
	n      int
	sum    int
	left   int
}

func (f *fib) Init(c *node.Context) error {
	if f.n < 2 {
		return f.done(c, f.n)
	}
	f.left = 2
	for k := 1; k <= 2; k++ {
		if _, err := c.Spawn(&fib{parent: c.Self(), n: f.n - k}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fib) Receive(c *node.Context, msg any) error {
	f.sum += msg.(int)
	if f.left--; f.left == 0 {
		return f.done(c, f.sum)
	}
	return nil
}

func (f *fib) done(c *node.Context, n int) error {
	if err := c.Send(f.parent, n); err != nil {
		return err
	}
	return node.ErrStop
}

// Fibonacci trees on stages, of which the program has as many as it wants at run time. The actors do not know about
// stages: the rest of each tree is on the stage of its root.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	me, _ := n.Open()
	defer me.Close(node.Normal)

	const stages = 4
	var all []*stage.Stage
	for range stages {
		s, err := stage.New(n, stage.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		all = append(all, s)
	}
	for k, s := range all { // four trees, each on a stage of its own
		if _, err := me.SpawnOpt(node.Options{Place: s.Place()}, &fib{parent: me.Self(), n: 10 + k}); err != nil {
			fmt.Println(err)
			return
		}
	}
	sum := 0
	for range stages {
		sum += me.Receive().(int)
	}
	fmt.Println(sum)
	for _, s := range all {
		if err := s.Close(context.Background(), n); err != nil {
			fmt.Println(err)
		}
	}
	// Output: 521
}

// A handler that waits for something other than a message gives up its stage meanwhile.
func ExampleGoroutines() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	slow := make(chan string)
	once, _ := n.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
		c.Blocking(func() { fmt.Println(<-slow) }) // the neighbours go on
		return node.ErrStop
	}))
	always, _ := n.SpawnOpt(node.Options{Scheduler: stage.Goroutines(16)}, node.ActorFunc(func(c *node.Context, _ any) error {
		slow <- "after a while" // each handler may block
		return node.ErrStop
	}))
	_ = n.Send(once, "begin")
	_ = n.Send(always, "begin")
	_, _ = node.AwaitExit(context.Background(), n, once)
	// Output: after a while
}
