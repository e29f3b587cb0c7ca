//go:build actornode_portable

package fiber

// GoroutineID returns 0: nothing says which goroutine runs but the text of a traceback.
func GoroutineID() uint64 { return 0 }

// Traceback returns nothing: see GoroutineID.
func Traceback(goroutine, fiber uint64) []byte { return nil }

type mark struct{}

func markOf(uint64) mark { return mark{} }
