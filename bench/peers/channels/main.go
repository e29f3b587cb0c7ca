package main

import (
	"os"
	"runtime"

	"github.com/actornode/actornode/bench/internal/contract"
)

func main() { os.Exit(system().Main(os.Args[1:], os.Stdout, os.Stderr)) }

// system has the version of Go, whose channels these are.
func system() contract.System {
	return contract.System{Name: "channels", Version: runtime.Version(), Benches: []contract.Bench{
		threadring,
		ring,
		latency,
		mailbox,
		flow,
		chameneos,
		big,
		fib,
		nqueens,
		spawn,
		mixed,
		blocking,
	}}
}
