package main

import (
	"os"
	"runtime"

	"github.com/actornode/actornode/bench/internal/contract"
)

func main() { os.Exit(system().Main(os.Args[1:], os.Stdout, os.Stderr)) }

// system has the version of Go, whose package net/rpc is.
func system() contract.System {
	return contract.System{Name: "netrpc", Version: runtime.Version(), Benches: []contract.Bench{remoteCall}}
}
