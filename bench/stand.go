package main

import (
	"errors"
	"log/slog"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

// quiet is the logger of the benches' nodes: it discards everything.
var quiet = slog.New(slog.DiscardHandler)

// onNode runs body with a new node. main is the process of the bench itself: it spawns the others, releases them and
// receives their results.
func onNode(p contract.Params, body func(main *node.Process) error) error {
	n, err := node.Start(node.Config{Coroutines: p.Style() == contract.Coroutine, Log: quiet})
	if err != nil {
		return err
	}
	main, err := n.Open()
	if err != nil {
		return errors.Join(err, n.Stop())
	}
	return errors.Join(body(main), n.Stop())
}

// must returns the PID of a spawned process. Spawning cannot fail: a bench neither stops its node early nor fills it.
func must(pid node.PID, err error) node.PID {
	if err != nil {
		panic(err)
	}
	return pid
}

// apart returns options that place the i-th of several independent actors on its own stage. A process with its own
// goroutine is on no stage.
func apart(p contract.Params, main *node.Process, i int) node.Options {
	if p.Style() == contract.Process {
		return node.Options{}
	}
	return node.Options{Place: node.OnStage(i % main.Node().Stats().Scheduler.Stages)}
}

// release starts processes that wait for it.
type release struct{}

// releaseAll starts pids, all at once.
func releaseAll(main *node.Process, pids []node.PID) {
	for _, pid := range pids {
		main.Send(pid, release{})
	}
}
