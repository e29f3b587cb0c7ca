//go:build !actornode_portable

package fiber

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"unsafe"
)

// What stands here reads the text of tracebacks, which Go does not promise: the number of
// a goroutine in its first line, and arguments in hexadecimal digits.

// GoroutineID reads the number of the calling goroutine off its traceback. It is 0 where
// that cannot be read.
func GoroutineID() uint64 {
	var buf [64]byte
	words := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(words) < 2 {
		return 0
	}
	id, _ := strconv.ParseUint(string(words[1]), 10, 64)
	return id
}

// Traceback returns the traceback, as it is now, of the goroutine that does a job of the
// fiber with that number, or if that is 0, of the goroutine with the number goroutine. It is
// empty if there is no such goroutine.
func Traceback(goroutine, fiber uint64) []byte {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	sign := markOf(fiber).sign()
	for _, g := range bytes.Split(buf, []byte("\n\n")) {
		if fiber != 0 && bytes.Contains(g, sign) ||
			fiber == 0 && bytes.HasPrefix(g, []byte("goroutine "+strconv.FormatUint(goroutine, 10)+" ")) {
			return g
		}
	}
	return nil
}

// Mark is an argument that is there for tracebacks to show: an array of more than one element
// is passed in memory, and printed as it is. The number of the goroutine would do, but no other
// goroutine can read it, and to read it off a traceback takes a goroutine longer than to begin.
type Mark [2]uint64

// What distinguishes marks from other arguments that are printed like them.
const (
	tag        uint64 = 0x66696265722e6d6b // of fibers, by their numbers
	pointerTag uint64 = 0x706f696e742e6d6b // of what is pointed to
)

func markOf(id uint64) Mark { return Mark{id, tag} }

// MarkOf is the mark of what p points to: no other has it while that is in use.
func MarkOf[T any](p *T) Mark { return Mark{uint64(uintptr(unsafe.Pointer(p))), pointerTag} }

// Marked reports whether the calling goroutine is in a function that has got MarkOf(p), and that is
// not inlined, among the first fifty or the last fifty of its stack. It takes some microseconds.
func Marked[T any](p *T) bool { return onStack(MarkOf(p).sign()) }

// OnAny reports whether the calling goroutine does a job of any fiber; see [Marked].
func OnAny() bool { return onStack(fmt.Appendf(nil, ", %#x}", tag)) }

// onStack looks for a mark. It does not get the mark itself, as it is on the stack, too.
func onStack(sign []byte) bool {
	buf := make([]byte, 1<<14)
	n := runtime.Stack(buf, false)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, false)
	}
	return bytes.Contains(buf[:n], sign)
}

// sign is m as a traceback prints it.
func (m Mark) sign() []byte { return fmt.Appendf(nil, "{%#x, %#x}", m[0], m[1]) }
