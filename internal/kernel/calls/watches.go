package calls

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Watches are notified, once, when a future is settled. A is on whose behalf that is done. The zero value is ready.
type Watches[A any] struct {
	mu     sync.Mutex
	over   bool
	wanted bool          // the value was requested, or may be, through what was given out
	ch     chan struct{} // closed when over, if requested

	waiter Waiter[A] // notified before then is called; a single waiter needs no list
	then   []func(A) // called when it is over

	unread *unread // set by WhenUnread
}

// Waiter is notified by a method: that needs no closure.
type Waiter[A any] interface{ Completed(a A) }

// unread is called if the value is never read. It does not refer to the future.
type unread struct {
	tell   func()
	wanted atomic.Bool
}

func (u *unread) over() {
	if !u.wanted.Load() {
		u.tell()
	}
}

// Want records that the value is wanted.
func (w *Watches[A]) Want() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = true
	if w.unread != nil {
		w.unread.wanted.Store(true)
	}
}

// WhenUnread makes tell be called if Want was not called before the future that w is part of becomes unreachable. The garbage
// collector detects that, so it may take long, and need not happen before the program ends. tell runs on a goroutine of the
// runtime, and must not refer to the future.
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

// Tell notifies that it is over. Functions are called in the order in which they were added, with no lock held.
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

// Add makes f be called when it is over, with the argument of Tell; or at once, with from, if it is over. The returned number
// is for Remove.
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

// Wait is Add of a method, for a waiter that does not give up.
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

// Remove removes a function, if it is not over. It is called once for each.
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

// Watching returns how many wait for the end: those of Add that were not removed, and of Wait.
func (w *Watches[A]) Watching() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiter != nil {
		n++
	}
	for _, f := range w.then {
		if f != nil {
			n++
		}
	}
	return n
}
