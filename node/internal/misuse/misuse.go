// Package misuse says what is wrong where the Context of an Actor is used by code that it is not for: by a panic, of the
// goroutine that does so. It has no state and no goroutine.
package misuse

import "github.com/actornode/actornode/internal/fiber"

const advice = ": it is for the goroutine of the handler, until that returns; give others the PID (Self) and the Node, " +
	"to send by Node.Send, or to have a handle by Node.Open"

// Late is a Context whose handler has returned.
func Late() { panic("node: a Context is used when its handler has returned" + advice) }

// Elsewhere is one of a process, that another goroutine uses than the one that runs its handler.
func Elsewhere(process string) {
	panic("node: the Context of " + process + " is used by another goroutine" + advice)
}

// Here reports whether the calling goroutine is the one with a number, or runs a fiber: the methods of active objects do.
// True where goroutines have no numbers.
func Here(goroutine uint64) bool {
	id := fiber.GoroutineID()
	return id == 0 || id == goroutine || fiber.OnAny()
}
