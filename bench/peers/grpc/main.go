package main

import (
	"os"

	"google.golang.org/grpc"

	"github.com/actornode/actornode/bench/internal/contract"
)

func main() { os.Exit(system().Main(os.Args[1:], os.Stdout, os.Stderr)) }

// system describes this peer, with the version of gRPC-Go.
func system() contract.System {
	return contract.System{Name: "grpc", Version: grpc.Version, Benches: []contract.Bench{remoteCall}}
}
