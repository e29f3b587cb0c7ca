//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_fiber

package fiber

import (
	"bytes"
	"runtime"
)

// Thread reports whether the goroutine to which it belongs is locked to its thread by
// [runtime.LockOSThread], or is called from C. Such a goroutine must not resume another:
// Go's runtime would end the program. The zero value is ready to use.
//
// Go has no function that reports it. It is read from the runtime's data, or, if that is not found, from the goroutine's
// traceback, which takes some microseconds.
type Thread struct {
	word *uintptr // points to 0 unless the goroutine is locked; nil if unknown
}

// Locked reports whether the calling goroutine, to which t belongs, is locked to its thread.
func (t *Thread) Locked() bool {
	if t.word != nil {
		return *t.word != 0
	}
	return t.search()
}

// search is Locked while the word is unknown.
func (t *Thread) search() bool {
	if t.word = lockedWord(); t.word != nil {
		return *t.word != 0
	}
	return traceSaysLocked()
}

// Unlock undoes all calls of [runtime.LockOSThread] by the calling goroutine, to which t belongs and which was not called
// from C.
func (t *Thread) Unlock() {
	for t.Locked() {
		runtime.UnlockOSThread()
	}
}

// traceSaysLocked reads from the first line of the calling goroutine's traceback whether it is locked: "goroutine 1
// [running, locked to thread]:".
func traceSaysLocked() bool {
	var buf [128]byte
	line, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte{'\n'})
	return bytes.Contains(line, []byte("locked to thread"))
}
