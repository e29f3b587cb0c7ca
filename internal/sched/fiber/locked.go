package fiber

import (
	"bytes"
	"runtime"
)

// Thread reports whether the goroutine to which it belongs is locked to its thread by
// [runtime.LockOSThread], or is called from C. Such a goroutine must not resume another:
// Go's runtime ends the program if it does. The zero value is ready.
//
// Go has no function that reports it. It is read where the runtime keeps it, or, where that is not
// found or the program is built with the tag actornode_portable or actornode_no_locked, from the
// goroutine's traceback, which takes some microseconds.
type Thread struct {
	word *uintptr // 0 unless the goroutine is locked; nil: not known where that is
}

// Locked reports whether the calling goroutine, that of t, is locked to its thread.
func (t *Thread) Locked() bool {
	if t.word != nil {
		return *t.word != 0
	}
	return t.search()
}

// search is Locked as long as the word is not known.
func (t *Thread) search() bool {
	if t.word = lockedWord(); t.word != nil {
		return *t.word != 0
	}
	return traceSaysLocked()
}

// Unlock undoes all that [runtime.LockOSThread] has done to the calling goroutine, that of t,
// which has not been called from C.
func (t *Thread) Unlock() {
	for t.Locked() {
		runtime.UnlockOSThread()
	}
}

// traceSaysLocked reads off the first line of the traceback of the calling goroutine whether
// it is locked: "goroutine 1 [running, locked to thread]:".
func traceSaysLocked() bool {
	var buf [128]byte
	line, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte{'\n'})
	return bytes.Contains(line, []byte("locked to thread"))
}
