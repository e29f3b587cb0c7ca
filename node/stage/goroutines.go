package stage

import (
	"sync"

	"github.com/actornode/actornode/sched"
)

// Goroutines returns a scheduler for node.Options.Scheduler that runs actors whose handlers block, each turn on a
// goroutine: up to most at a time, but at least one, and none while there is nothing to do. Actors wait
// for one in the order in which they were woken. Several nodes may share it.
func Goroutines(most int) sched.Scheduler { return &goroutines{most: max(1, most)} }

// goroutines is what Goroutines returns. The list holds each process at most once.
type goroutines struct {
	most int

	mu      sync.Mutex
	running int
	due     []sched.Runnable
}

// Schedule is part of sched.Scheduler.
func (g *goroutines) Schedule(r sched.Runnable) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = append(g.due, r)
	g.startLocked()
}

// startLocked starts a goroutine if one may run. It ends when nothing is due: nobody waits for it.
func (g *goroutines) startLocked() {
	if g.running < g.most && len(g.due) > 0 {
		g.running++
		go g.run()
	}
}

func (g *goroutines) run() {
	defer func() { // a handler may call runtime.Goexit
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running--
		g.startLocked()
	}()
	for r := g.next(nil); r != nil; {
		if r.Run() {
			r = g.next(r)
		} else {
			r = g.next(nil)
		}
	}
}

// next returns the actor that is due next, or nil. again, if it is not nil, becomes the last that is due.
func (g *goroutines) next(again sched.Runnable) sched.Runnable {
	g.mu.Lock()
	defer g.mu.Unlock()
	if again != nil {
		g.due = append(g.due, again)
	}
	if len(g.due) == 0 {
		return nil
	}
	r := g.due[0]
	g.due[0] = nil
	g.due = g.due[1:]
	return r
}
