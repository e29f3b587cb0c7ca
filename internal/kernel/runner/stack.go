package runner

import (
	"fmt"
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// looks is how often Stack looks for the stack of an Actor whose handler returns meanwhile.
const looks = 3

// Stack returns the current traceback of the goroutine that runs the code of p, or a sentence that says why it has no stack. Like
// Messages it takes the stage of p for a moment. The program stands still while all tracebacks are made, some 10 µs for each
// goroutine.
func Stack(p *process.Process) (traceback, why string) {
	if fiber.GoroutineID() == 0 {
		return "", "the program is built with actornode_portable, and cannot find the stack of a process"
	}
	if n := runtime.NumGoroutine(); n > watch.MaxStacksToFind {
		return "", fmt.Sprintf("the program has %d goroutines: above %d no stack is searched, since that stops the program", n,
			watch.MaxStacksToFind)
	}
	var stack []byte
	switch r := p.Runner().(type) {
	case *Coroutine:
		if id := r.Fiber(); id != 0 {
			stack = fiber.Traceback(0, id)
		}
		why = "its function has not begun, or has returned"
	case *goroutine:
		stack = fiber.TracebackIn(r, "(*goroutine).run")
		why = "its function has not begun, or has returned"
	case handle:
		stack = fiber.TracebackIn(r.goroutine, "(*Blocking).Receive", "(*goroutine).receive", "(*goroutine).Await")
		why = "it is a handle: the goroutine that uses it is known only while it waits in a receive or a call"
	default:
		if p.Kind == process.External {
			return string(fiber.TracebackOf(p)), "no handler is running: an Actor has no stack while it waits for a message"
		}
		stack, why = ofHandler(p)
	}
	return string(stack), why
}

// ofHandler is Stack for an Actor on a stage. What runs on the goroutine may be the handler of another by the time that the
// traceback is made, so it looks twice.
func ofHandler(p *process.Process) (stack []byte, why string) {
	for range looks {
		turn := p.System.Pool.Turn(&p.Entity)
		if turn == (executor.TurnID{}) {
			return nil, "no handler is running: an Actor has no stack while it waits for a message"
		}
		if stack = fiber.Traceback(turn.Goroutine, 0); p.System.Pool.Turn(&p.Entity) == turn {
			return stack, ""
		}
	}
	return nil, "its handlers return before their stack is found: a CPU profile shows where they spend their time"
}
