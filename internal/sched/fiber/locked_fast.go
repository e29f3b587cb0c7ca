//go:build (amd64 || arm64) && !actornode_portable && !actornode_no_locked

package fiber

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// lockedAt is where in the runtime's g the thread stands that a goroutine is locked to, in
// bytes; 0: not found, or not looked for yet. See find.
var lockedAt atomic.Uintptr

// g returns what the runtime keeps of the calling goroutine.
func g() unsafe.Pointer

// lockedWord returns where the word is that is 0 unless the calling goroutine is locked; nil:
// not known.
func lockedWord() *uintptr {
	at := lockedAt.Load()
	if at == 0 {
		return nil
	}
	return (*uintptr)(unsafe.Add(g(), at))
}

// find looks for lockedAt, the first time that it is called. It is not done when the program
// begins, as the first call of LockOSThread makes the runtime start another thread.
var find = sync.OnceFunc(func() {
	found := make(chan uintptr)
	for range 2 {
		go func() { found <- search() }()
	}
	if a, b := <-found, <-found; a == b {
		lockedAt.Store(a)
	}
})

// searched is how much of a g is searched, in words: less than there is of it in any version.
const searched = 48

// search returns the one place in the g of the calling goroutine, which is not locked, where
// there is something but 0 whenever it is; 0 if there is none, or more than one.
func search() uintptr {
	var differs [searched]bool
	for i := range differs {
		differs[i] = true
	}
	look := func(locked bool) {
		words := (*[searched]uintptr)(g())
		for i := range words {
			if (words[i] != 0) != locked {
				differs[i] = false
			}
		}
	}
	for range 8 {
		look(false)
		runtime.LockOSThread()
		look(true)
		runtime.LockOSThread()
		look(true)
		runtime.UnlockOSThread()
		look(true)
		runtime.UnlockOSThread()
	}
	look(false)
	at, n := uintptr(0), 0
	for i, d := range differs {
		if d {
			at, n = uintptr(i)*unsafe.Sizeof(at), n+1
		}
	}
	if n != 1 || at == 0 {
		return 0
	}
	return at
}
