package trace

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Registry is who is traced by whom. P is a process, T a trace. Its zero value traces nobody.
type Registry[P, T any] struct {
	now   atomic.Pointer[View[P, T]]
	mu    sync.Mutex // of those who change now
	ended bool
}

// View is what a Registry says at one moment. A nil *View is that of nobody.
type View[P, T any] struct {
	mask  uint64 // has the bits of all processes: see bit
	of    map[*P]traced[T]
	quiet map[uint64]struct{} // numbers of processes
}

// traced is a process that is traced.
type traced[T any] struct {
	number uint64
	by     []*Watch[T]
}

// Watch is a trace as the registry knows it. What is exported is set before it is used.
type Watch[T any] struct {
	Of  *T
	Max int // how many processes it may have at a time
	// Quiet is the number of a process whose messages are not shown, to anybody; HasQuiet
	// says that there is one.
	Quiet    uint64
	HasQuiet bool

	// Guarded by Registry.mu.
	n    int  // processes
	over bool // it traces no more
}

// Process is a process with its number.
type Process[P any] struct {
	P      *P
	Number uint64
}

// Errors of Add.
var (
	ErrOver = errors.New("trace: it is over")
	ErrFull = errors.New("trace: it has as many processes as it may")
)

// bit makes most questions about processes that are not traced cost one look.
func bit(number uint64) uint64 { return 1 << (number & 63) }

// Now returns who is traced now; nil: nobody.
func (r *Registry[P, T]) Now() *View[P, T] { return r.now.Load() }

// By returns the traces of a process, nil: of none. p may be nil.
func (v *View[P, T]) By(p *P, number uint64) []*Watch[T] {
	if v == nil || p == nil || v.mask&bit(number) == 0 {
		return nil
	}
	return v.of[p].by
}

// IsQuiet reports whether the messages of the process with a number are not to be shown.
func (v *View[P, T]) IsQuiet(number uint64) bool {
	if len(v.quiet) == 0 {
		return false
	}
	_, quiet := v.quiet[number]
	return quiet
}

// Add has processes traced by w, all or, with an error, none that was not before.
func (r *Registry[P, T]) Add(w *Watch[T], procs ...Process[P]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.copy()
	fresh := 0
	for _, p := range procs {
		t := next.of[p.P]
		if !slices.Contains(t.by, w) {
			next.of[p.P] = traced[T]{p.Number, append(slices.Clip(t.by), w)}
			fresh++
		}
	}
	switch {
	case r.ended || w.over:
		return ErrOver
	case w.n+fresh > w.Max:
		return ErrFull
	}
	w.n += fresh
	r.set(next)
	return nil
}

// copy returns a View to be changed.
func (r *Registry[P, T]) copy() *View[P, T] {
	if was := r.now.Load(); was != nil {
		return &View[P, T]{of: maps.Clone(was.of)}
	}
	return &View[P, T]{of: make(map[*P]traced[T])}
}

// set makes next what counts. The caller holds mu.
func (r *Registry[P, T]) set(next *View[P, T]) {
	if len(next.of) == 0 {
		r.now.Store(nil)
		return
	}
	next.quiet = make(map[uint64]struct{})
	for _, t := range next.of {
		next.mask |= bit(t.number)
		for _, w := range t.by {
			if w.HasQuiet {
				next.quiet[w.Quiet] = struct{}{}
			}
		}
	}
	r.now.Store(next)
}

// Gone ends the traces of a process, which has exited. tell is called for each of them; last
// says that it has no process any more, and traces none from then on.
func (r *Registry[P, T]) Gone(p Process[P], tell func(t *T, last bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now.Load()
	by := now.By(p.P, p.Number)
	if by == nil {
		return
	}
	for _, w := range by {
		w.n--
		w.over = w.over || w.n == 0
		tell(w.Of, w.n == 0)
	}
	next := r.copy()
	delete(next.of, p.P)
	r.set(next)
}

// Remove has w trace the process with a number no longer. It reports whether it did.
func (r *Registry[P, T]) Remove(w *Watch[T], number uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.copy()
	for p, t := range next.of {
		if t.number == number && slices.Contains(t.by, w) {
			next.drop(p, w)
			w.n--
			r.set(next)
			return true
		}
	}
	return false
}

// drop takes w off p.
func (v *View[P, T]) drop(p *P, w *Watch[T]) {
	t := v.of[p]
	t.by = slices.DeleteFunc(slices.Clone(t.by), func(o *Watch[T]) bool { return o == w })
	if v.of[p] = t; len(t.by) == 0 {
		delete(v.of, p)
	}
}

// End has w trace nobody any more.
func (r *Registry[P, T]) End(w *Watch[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.copy()
	for p, t := range next.of {
		if slices.Contains(t.by, w) {
			next.drop(p, w)
		}
	}
	w.n, w.over = 0, true
	r.set(next)
}

// Stop ends all traces; end is called for each, perhaps several times.
func (r *Registry[P, T]) Stop(end func(*T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if now := r.now.Swap(nil); now != nil {
		for _, t := range now.of {
			for _, w := range t.by {
				end(w.Of)
			}
		}
	}
}
