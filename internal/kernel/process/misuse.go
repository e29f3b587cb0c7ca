package process

import "github.com/actornode/actornode/internal/sched/fiber"

// advice ends what is said where the Context of an Actor is used by code that it is not for.
const advice = ": it is for the goroutine of the handler, until that returns; give others the PID (Self) and the Node, " +
	"to send by Node.Send, or to have a handle by Node.Open"

// misusedLate is a Context whose handler has returned.
func misusedLate() { panic("node: a Context is used when its handler has returned" + advice) }

// misusedElsewhere is one of a process, that another goroutine uses than the one that runs its handler.
func misusedElsewhere(process string) {
	panic("node: the Context of " + process + " is used by another goroutine" + advice)
}

// onGoroutine reports whether the calling goroutine is the one with a number, or runs a fiber: the methods of active objects do.
// True where goroutines have no numbers.
func onGoroutine(goroutine uint64) bool {
	id := fiber.GoroutineID()
	return id == 0 || id == goroutine || fiber.OnAny()
}
