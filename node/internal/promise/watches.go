package promise

import "sync"

// Watches are what is told, once, that a future is settled. A says on whose behalf that is done.
// The zero value is ready.
type Watches[A any] struct {
	mu   sync.Mutex
	over bool
	ch   chan struct{} // closed when it is over, if somebody asked for it
	then []func(A)     // called when it is over
}

// Then returns the watches of a future whose first watch is f.
func Then[A any](f func(A)) *Watches[A] { return &Watches[A]{then: []func(A){f}} }

// Tell says that it is over. Functions are called in the order in which they were added, with no
// lock held.
func (w *Watches[A]) Tell(a A) {
	w.mu.Lock()
	ch, then := w.ch, w.then
	w.over, w.then = true, nil
	w.mu.Unlock()
	if ch != nil {
		close(ch)
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
