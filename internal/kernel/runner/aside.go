package runner

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
)

// Aside calls f, which may block, on behalf of the acting process. A process on a stage gives it up before, and continues in
// a later turn; for others it just calls f.
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
