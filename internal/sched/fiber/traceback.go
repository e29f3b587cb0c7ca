//go:build !actornode_portable

package fiber

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"unsafe"
)

// This file parses tracebacks, whose format Go does not guarantee: the number of a goroutine in the first line, and
// arguments in hexadecimal.

// GoroutineID reads the number of the calling goroutine from its traceback. It returns 0 if that fails.
func GoroutineID() uint64 {
	var buf [64]byte
	words := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(words) < 2 {
		return 0
	}
	id, _ := strconv.ParseUint(string(words[1]), 10, 64)
	return id
}

// Traceback returns the current traceback of the goroutine that runs a job of the fiber with number fiber or, if that is 0,
// of the goroutine with number goroutine. It is empty if there is no such goroutine.
func Traceback(goroutine, fiber uint64) []byte {
	if fiber != 0 {
		return tracebackWith(markOf(fiber).sign())
	}
	head := []byte("goroutine " + strconv.FormatUint(goroutine, 10) + " ")
	return findTraceback(func(g []byte) bool { return bytes.HasPrefix(g, head) })
}

// TracebackOf returns the current traceback of a goroutine that is in a function with the argument MarkOf(p); see [Marked].
func TracebackOf[T any](p *T) []byte { return tracebackWith(MarkOf(p).sign()) }

// tracebackWith finds a mark, which it gets as text for the same reason as onStack.
func tracebackWith(sign []byte) []byte {
	return findTraceback(func(g []byte) bool { return bytes.Contains(g, sign) })
}

// TracebackIn returns the current traceback of a goroutine that is in one of the methods of p, named as in a traceback, such as
// "(*pump).run". They must not be inlined, and must have the receiver in use when they call others.
func TracebackIn[T any](p *T, methods ...string) []byte {
	return findTraceback(func(g []byte) bool {
		return slices.ContainsFunc(methods, func(method string) bool {
			_, after, found := bytes.Cut(g, fmt.Appendf(nil, ".%s(%p", method, p))
			return found && len(after) > 0 && (after[0] == ')' || after[0] == ',')
		})
	})
}

// traceSize is how many bytes of a traceback are expected of each goroutine, and traceSizes the least and the most for all.
// What is longer is not searched.
const traceSize = 2 << 10

var traceSizes = [2]int{1 << 20, 32 << 20}

// findTraceback returns the first traceback that is wanted, or nil. The program stands still while they are made.
func findTraceback(wanted func([]byte) bool) []byte {
	buf := make([]byte, min(max(traceSizes[0], runtime.NumGoroutine()*traceSize), traceSizes[1]))
	buf = buf[:runtime.Stack(buf, true)]
	for g := range bytes.SplitSeq(buf, []byte("\n\n")) {
		if wanted(g) {
			return g
		}
	}
	return nil
}

// Mark is an argument that shows up in tracebacks: an array of more than one element is passed in memory, and printed with
// its values. The number of the goroutine would do, too, but no other goroutine can read it, and reading it from a
// traceback takes longer than starting a goroutine.
type Mark [2]uint64

// The tags that distinguish marks from other arguments.
const (
	tag        uint64 = 0x66696265722e6d6b // of fibers, by their numbers
	pointerTag uint64 = 0x706f696e742e6d6b // of pointers
)

func markOf(id uint64) Mark { return Mark{id, tag} }

// MarkOf returns the mark of p, which is unique while the target of p is in use.
func MarkOf[T any](p *T) Mark { return Mark{uint64(uintptr(unsafe.Pointer(p))), pointerTag} }

// Marked reports whether the calling goroutine is in a function with the argument MarkOf(p), which must not be inlined and
// must be among the first or last fifty of its stack. It takes some microseconds.
func Marked[T any](p *T) bool { return onStack(MarkOf(p).sign()) }

// OnAny reports whether the calling goroutine runs a job of any fiber; see [Marked].
func OnAny() bool { return onStack(fmt.Appendf(nil, ", %#x}", tag)) }

// onStack looks for a mark, which it gets as text, because the mark itself would then be on the stack.
func onStack(sign []byte) bool {
	buf := make([]byte, 1<<14)
	n := runtime.Stack(buf, false)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, false)
	}
	return bytes.Contains(buf[:n], sign)
}

// sign returns m as printed in a traceback.
func (m Mark) sign() []byte { return fmt.Appendf(nil, "{%#x, %#x}", m[0], m[1]) }
