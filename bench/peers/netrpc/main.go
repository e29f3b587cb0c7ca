package main

import (
	"os"
	"runtime"

	"github.com/actornode/actornode/bench/internal/contract"
)

func main() { os.Exit(system().Main(os.Args[1:], os.Stdout, os.Stderr)) }

// system describes this peer, with the version of Go, which net/rpc is part of.
func system() contract.System {
	return contract.System{Name: "netrpc", Version: runtime.Version(), Benches: []contract.Bench{remoteCall}}
}
