package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
)

var fib = contract.Bench{
	Name:   "fib",
	About:  "a goroutine a call",
	Params: []contract.Param{contract.Int("n", 25).Range(0, 40)},
	Ops:    func(p contract.Params) int { return 2*fibonacci(p.Int("n")+1) - 1 },
	Run: func(p contract.Params, m *contract.Meter) error {
		n := p.Int("n")
		out := make(chan int, 1)
		m.Start()
		go call(n, out) // ends when it has sent its value
		got := <-out
		m.Stop()
		if want := fibonacci(n); got != want {
			return fmt.Errorf("fib(%d) is %d, not %d", n, got, want)
		}
		return nil
	},
}

func call(n int, out chan<- int) {
	if n < 2 {
		out <- n
		return
	}
	values := make(chan int, 2) // two children, a value each
	go call(n-1, values)        // both end when they have sent theirs
	go call(n-2, values)
	out <- <-values + <-values
}

func fibonacci(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
