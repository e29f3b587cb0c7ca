//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_fiber

package fiber

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// lockedAt is the offset in bytes, within the runtime's g, of the thread that a goroutine is locked to, or 0 if it was not
// found or not searched for yet. See find.
var lockedAt atomic.Uintptr

// g returns the runtime's g of the calling goroutine.
func g() unsafe.Pointer

// lockedWord returns the address of the word that is 0 unless the calling goroutine is locked, or nil if unknown.
func lockedWord() *uintptr {
	at := lockedAt.Load()
	if at == 0 {
		return nil
	}
	return (*uintptr)(unsafe.Add(g(), at))
}

// find searches for lockedAt when it is first called, not at startup, because the first call of LockOSThread makes the
// runtime start another thread.
var find = sync.OnceFunc(func() {
	found := make(chan uintptr)
	for range 2 {
		go func() { found <- search() }()
	}
	if a, b := <-found, <-found; a == b {
		lockedAt.Store(a)
	}
})

// searched is the number of words of a g that are searched: less than the size of a g in any version.
const searched = 48

// search returns the only offset in the g of the calling goroutine, which is not locked, whose word is nonzero exactly
// while the goroutine is locked. It returns 0 if there is none, or more than one.
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
