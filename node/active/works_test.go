package active_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
)

// Adder calls itself, and each call awaits another: listing 1 of the work on ABS.
//
//	Int recursive_m(Int i, Int id) {
//		if (i > 0) { this.recursive_m(i-1, id); Fut<Int> f = this!compute(); await f?; }
//		return 1;
//	}
type Adder struct{}

func (o *Adder) Recursive(c *active.Context, depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	self := active.Self[*Adder](c)
	inner, err := active.Call(c, self, (*Adder).Recursive, depth-1)
	if err != nil {
		return 0, err
	}
	one, err := active.Await(c, active.Do(c, self, (*Adder).Compute))
	return inner + one, err
}

func (o *Adder) Compute(*active.Context) (int, error) { return 1, nil }

// A method calls itself on its own stack, and awaits at each depth.
func ExampleCall() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	adder, err := active.Start(n, &Adder{}, node.Options{})
	if err != nil {
		panic(err)
	}
	f, g := active.Go(n, adder, (*Adder).Recursive, 5), active.Go(n, adder, (*Adder).Recursive, 3)
	fmt.Println(node.Await(context.Background(), n, f))
	fmt.Println(node.Await(context.Background(), n, g))
	// Output:
	// 5 <nil>
	// 3 <nil>
}

// Fibonacci makes an object for each number, as in SALSA:
//
//	pass new Fibonacci(n-1)<-compute() + new Fibonacci(n-2)<-compute();
type Fibonacci struct{ n int }

func (o *Fibonacci) Compute(c *active.Context) (int, error) {
	if o.n < 2 {
		return o.n, nil
	}
	var both [2]*node.Future[int]
	for i := range both {
		of, err := active.Start(c, &Fibonacci{o.n - 1 - i}, node.Options{})
		if err != nil {
			return 0, err
		}
		both[i] = active.Do(c, of, (*Fibonacci).Compute)
	}
	x, y, err := active.Await2(c, both[0], both[1])
	return x + y, err
}

// A tree of objects, in which each awaits two others.
func ExampleAwait() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ten, err := active.Start(n, &Fibonacci{10}, node.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(node.Await(context.Background(), n, active.Do(n, ten, (*Fibonacci).Compute)))
	// Output: 55 <nil>
}

// Runner passes a token on to the next of a ring.
type Runner struct{ next active.Addr[*Runner] }

func (r *Runner) SetNext(_ *active.Context, next active.Addr[*Runner]) (bool, error) {
	r.next = next
	return true, nil
}

// Forward returns how often the token has been passed on.
func (r *Runner) Forward(c *active.Context, hops int) (int, error) {
	if hops == 0 {
		return 0, nil
	}
	made, err := active.Call(c, r.next, (*Runner).Forward, hops-1)
	return made + 1, err
}

// The join director of SALSA's ring of threads: the token starts when each thread knows the next one.
//
//	previous<-setNextThread(next) @ jd<-join();
//	jd<-resolveAfter(threadCount) @ first<-forwardMessage(hopCount);
func ExampleGo() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ring := make([]active.Addr[*Runner], 5)
	for i := range ring {
		if ring[i], err = active.Start(n, &Runner{}, node.Options{}); err != nil {
			panic(err)
		}
	}
	var joined []*node.Future[bool]
	for i, r := range ring {
		joined = append(joined, active.Go(n, r, (*Runner).SetNext, ring[(i+1)%len(ring)]))
	}
	hops := futures.Chain(n, futures.All(n, joined...), func(from node.Caller, _ []bool) *node.Future[int] {
		return active.Go(from, ring[0], (*Runner).Forward, 100)
	})
	fmt.Println(node.Await(context.Background(), n, hops))
	// Output: 100 <nil>
}
