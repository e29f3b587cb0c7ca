package main

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

func main() { os.Exit(system().Main(os.Args[1:], os.Stdout, os.Stderr)) }

// system describes this peer, with the version of Proto.Actor.
func system() contract.System {
	return contract.System{Name: "protoactor", Version: version(), Benches: []contract.Bench{
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
		gencall,
		restart,
		supertree,
	}}
}

// version returns the version of Proto.Actor's module, "unknown" in a program without build information.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/asynkron/protoactor-go" {
			return dep.Version
		}
	}
	return "unknown"
}

// quiet is the logger of the benches' systems: it discards everything.
var quiet = slog.New(slog.DiscardHandler)

// onSystem runs body with a new actor system, whose actors are dropped with it.
func onSystem(body func(root *actor.RootContext) error) error {
	s := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	defer s.Shutdown()
	return body(s.Root)
}

// noTimeout makes RequestFuture start no timer: the calls of the other systems have no deadline either.
const noTimeout = -1

// release starts actors that wait for it.
type release struct{}

// releaseAll starts pids, all at once.
func releaseAll(root *actor.RootContext, pids []*actor.PID) {
	for _, pid := range pids {
		root.Send(pid, &release{})
	}
}
