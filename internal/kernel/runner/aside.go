package runner

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
)

// Aside calls f, which may block, for the code of the process that acts. A process on a stage gives that up
// first, and has its turn again afterwards; another just calls f.
func Aside(a *process.Acting, f func()) {
	p := a.Own()
	p.WaitsFor(calls.WaitBlocking, nil)
	defer p.WaitsNoMore()
	switch r := a.Blocks.(type) {
	case *Coroutine:
		r.Blocking(f)
	default:
		if a.Worker != nil {
			a.Worker.Blocking(f)
		} else {
			f()
		}
	}
	a.Unwind()
}
