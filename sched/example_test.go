package sched_test

import (
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/sched"
)

// steps runs actors only when it is told to. This one is for a single goroutine; the Schedule of others needs a lock.
type steps struct{ ready []sched.Runnable }

// Schedule is part of sched.Scheduler.
func (s *steps) Schedule(r sched.Runnable) { s.ready = append(s.ready, r) }

// step runs ready actors until none is left.
func (s *steps) step() {
	for len(s.ready) > 0 {
		r := s.ready[0]
		s.ready = s.ready[1:]
		if r.Run() {
			s.Schedule(r)
		}
	}
}

// A test that decides when an actor runs.
func ExampleScheduler() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	var s steps
	echo := node.ActorFunc(func(_ *node.Context, msg any) error {
		fmt.Println("got", msg)
		return nil
	})
	pid, err := n.SpawnOpt(node.Options{Scheduler: &s}, echo)
	if err != nil {
		panic(err)
	}
	n.Send(pid, "hello")
	fmt.Println("nothing has run yet")
	s.step()
	n.Exit(pid, node.Kill)
	s.step()
	fmt.Println(n.IsAlive(pid))
	// Output:
	// nothing has run yet
	// got hello
	// false
}
