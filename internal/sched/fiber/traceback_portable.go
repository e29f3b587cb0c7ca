//go:build actornode_portable

package fiber

// GoroutineID returns 0, because only the text of a traceback contains the number.
func GoroutineID() uint64 { return 0 }

// Traceback returns nothing: see GoroutineID.
func Traceback(goroutine, fiber uint64) []byte { return nil }

// TracebackIn returns nothing: see GoroutineID.
func TracebackIn[T any](*T, ...string) []byte { return nil }

// TracebackOf returns nothing: see GoroutineID.
func TracebackOf[T any](*T) []byte { return nil }

// Mark is unused: see GoroutineID.
type Mark struct{}

func markOf(uint64) Mark { return Mark{} }

// MarkOf returns the only mark.
func MarkOf[T any](*T) Mark { return Mark{} }

// Marked returns false: see GoroutineID.
func Marked[T any](*T) bool { return false }

// OnAny returns false: see GoroutineID.
func OnAny() bool { return false }

func (Mark) sign() []byte { return nil }

func onStack([]byte) bool { return false }
