package process

import "github.com/actornode/actornode/internal/sched/fiber"

// advice ends the panic messages for a Context of an Actor that is used by the wrong code.
const advice = ": it is for the goroutine of the handler, until that returns; give others the PID (Self) and the Node, " +
	"to send by Node.Send, or to have a handle by Node.Open"

// misusedLate panics for a Context whose handler has returned.
func misusedLate() { panic("node: a Context is used when its handler has returned" + advice) }

// misusedElsewhere panics for a Context that is used by another goroutine than the one that runs its handler.
func misusedElsewhere(process string) {
	panic("node: the Context of " + process + " is used by another goroutine" + advice)
}

// onGoroutine reports whether the calling goroutine has the given number, or runs a fiber, as methods of active objects do.
// It returns true if goroutines have no numbers.
func onGoroutine(goroutine uint64) bool {
	id := fiber.GoroutineID()
	return id == 0 || id == goroutine || fiber.OnAny()
}
