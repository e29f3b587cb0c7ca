package calls

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Watches are what is told, once, that a future is settled. A says on whose behalf that is done.
// The zero value is ready.
type Watches[A any] struct {
	mu   sync.Mutex
	over bool
	ch   chan struct{} // closed when it is over, if somebody asked for it

	waiter Waiter[A] // told before then is called; for one who waits no list is made
	then   []func(A) // called when it is over

	wanted bool    // somebody has asked for the value, or may yet, by what was given out
	unread *unread // set by WhenUnread
}

// Waiter is who waits, and is told by a method: no function is made for it.
type Waiter[A any] interface{ Completed(a A) }

// unread is what is done if nobody wants the value. It does not lead to the future.
type unread struct {
	tell   func()
	wanted atomic.Bool
}

func (u *unread) over() {
	if !u.wanted.Load() {
		u.tell()
	}
}

// Want notes that somebody wants the value.
func (w *Watches[A]) Want() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = true
	if w.unread != nil {
		w.unread.wanted.Store(true)
	}
}

// WhenUnread has tell called if nobody has called Want when the future that w is part of can no longer
// be reached. The garbage collector finds that out, so it may take long, and need not happen before the
// program ends. tell runs on a goroutine of the runtime, and must not lead to the future.
func (w *Watches[A]) WhenUnread(tell func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wanted || w.unread != nil {
		return
	}
	w.unread = &unread{tell: tell}
	runtime.AddCleanup(w, (*unread).over, w.unread)
}

// Then returns the watches of a future whose first watch is f.
func Then[A any](f func(A)) *Watches[A] { return &Watches[A]{then: []func(A){f}} }

// Tell says that it is over. Functions are called in the order in which they were added, with no
// lock held.
func (w *Watches[A]) Tell(a A) {
	w.mu.Lock()
	ch, waiter, then := w.ch, w.waiter, w.then
	w.over, w.waiter, w.then = true, nil, nil
	w.mu.Unlock()
	if ch != nil {
		close(ch)
	}
	if waiter != nil {
		waiter.Completed(a)
	}
	for _, f := range then {
		if f != nil {
			f(a)
		}
	}
}

// Signal returns a channel that is closed when it is over.
func (w *Watches[A]) Signal() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
		if w.over {
			close(w.ch)
		}
	}
	return w.ch
}

// Add has f called when it is over, with the argument of Tell; now, with from, if it is over. Remove
// takes the number that it returns.
func (w *Watches[A]) Add(from A, f func(A)) (number int) {
	w.mu.Lock()
	if !w.over {
		w.then = append(w.then, f)
		number = len(w.then) - 1
		w.mu.Unlock()
		return number
	}
	w.mu.Unlock()
	f(from)
	return 0
}

// Wait is Add of a method, for one who waits to the end.
func (w *Watches[A]) Wait(from A, who Waiter[A]) {
	w.mu.Lock()
	if !w.over && w.waiter == nil && len(w.then) == 0 {
		w.waiter = who
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	w.Add(from, who.Completed)
}

// Remove takes a function away, if it is not over. It is called once for each.
func (w *Watches[A]) Remove(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.then[number] = nil
	for n := len(w.then); n > 0 && w.then[n-1] == nil; n-- {
		w.then = w.then[:n-1]
	}
}

// HasSignal reports whether Signal has been called.
func (w *Watches[A]) HasSignal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ch != nil
}
