package trace

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/wire"
)

// Registry is who is traced by whom. Init comes first; then it traces nobody.
type Registry struct {
	now   atomic.Pointer[View]
	mu    sync.Mutex // of those who change now
	ended bool
	host  *Host
	guard Guard // nil: none
}

// Host is what a registry needs of its node.
type Host struct {
	Now func() time.Time
	// Find finds a process that is alive, and what says whether it still is.
	Find func(pid wire.PID) (Ended, error)
	// IsOwn reports whether a message is one that nodes make themselves, which Show is not
	// called for.
	IsOwn func(msg any) bool
	// ErrorTerm is what a caller on another node would see of an error.
	ErrorTerm func(err error) any
}

// Ended reports whether a process has exited, and why.
type Ended func() (reason any, ended bool)

// View is what a Registry says at one moment. A nil *View is that of nobody.
type View struct {
	mask     uint64 // has the bits of all processes: see bit
	of       map[wire.PID][]*Trace
	quiet    map[wire.PID]struct{}
	host     *Host
	registry *Registry
	guard    Guard
}

// Trace is one trace. What is exported is set before it is used.
type Trace struct {
	Feed     Feed
	Kinds    Kind
	Max      int  // how many processes it may have at a time
	Children bool // they are traced, too
	Show     func(msg any) any
	Quiet    wire.PID // whose messages are not shown, to anybody; zero: nobody's

	// Guarded by Registry.mu.
	n    int  // processes
	over bool // it traces no more
}

// Feed takes the events of a trace. See package feed.
type Feed interface {
	Send(e Event)
	Full() bool
	Miss()
	Close()
}

// Errors of Add.
var (
	ErrOver = errors.New("trace: it is over")
	ErrFull = errors.New("trace: it has as many processes as it may")
)

// bit makes most questions about processes that are not traced cost one look.
func bit(pid wire.PID) uint64 { return 1 << (pid.Number() & 63) }

// Init is called before anything else.
func (r *Registry) Init(h Host) { r.host = &h }

// Host returns what Init was given.
func (r *Registry) Host() *Host { return r.host }

// View returns who is traced now; nil: nobody.
func (r *Registry) View() *View { return r.now.Load() }

// by returns the traces of a process, nil: of none. p may be zero.
func (v *View) by(p wire.PID) []*Trace {
	if v == nil || v.mask&bit(p) == 0 {
		return nil
	}
	return v.of[p]
}

// isQuiet reports whether the messages of a process are not to be shown.
func (v *View) isQuiet(p wire.PID) bool {
	if v == nil || len(v.quiet) == 0 {
		return false
	}
	_, quiet := v.quiet[p]
	return quiet
}

// Add has processes traced by t, all or, with an error, none that was not before: one of
// Host.Find, ErrFull or ErrOver.
func (r *Registry) Add(t *Trace, pids ...wire.PID) error {
	all := make([]Ended, len(pids))
	for i, pid := range pids {
		var err error
		if all[i], err = r.host.Find(pid); err != nil {
			return err
		}
	}
	if err := r.add(t, pids...); err != nil {
		return err
	}
	for i, pid := range pids { // it may have died before it was in there
		r.check(pid, all[i])
	}
	return nil
}

func (r *Registry) add(t *Trace, pids ...wire.PID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.copy()
	fresh := 0
	for _, pid := range pids {
		if by := next.of[pid]; !slices.Contains(by, t) {
			next.of[pid] = append(slices.Clip(by), t)
			fresh++
		}
	}
	switch {
	case r.ended || t.over:
		return ErrOver
	case t.n+fresh > t.Max:
		return ErrFull
	}
	t.n += fresh
	r.set(next)
	return nil
}

// check ends the traces of a process that has exited.
func (r *Registry) check(pid wire.PID, ended Ended) {
	if reason, ended := ended(); ended {
		r.Gone(pid, reason)
	}
}

// copy returns a View to be changed.
func (r *Registry) copy() *View {
	next := &View{host: r.host, registry: r, guard: r.guard}
	if was := r.now.Load(); was != nil {
		next.of = maps.Clone(was.of)
	} else {
		next.of = make(map[wire.PID][]*Trace)
	}
	return next
}

// set makes next what counts. The caller holds mu.
func (r *Registry) set(next *View) {
	if len(next.of) == 0 && r.guard == nil {
		r.now.Store(nil)
		return
	}
	next.quiet = make(map[wire.PID]struct{})
	for pid, by := range next.of {
		next.mask |= bit(pid)
		for _, t := range by {
			if !t.Quiet.IsZero() {
				next.quiet[t.Quiet] = struct{}{}
			}
		}
	}
	r.now.Store(next)
}

// Gone ends the traces of a process, which has exited: the last event of it is that. A trace
// that has no process any more is over.
func (r *Registry) Gone(pid wire.PID, reason any) {
	if v := r.now.Load(); v != nil {
		r.gone(pid, reason)
		if v.guard != nil {
			v.guard.Gone(pid)
		}
	}
}

func (r *Registry) gone(pid wire.PID, reason any) {
	if !r.now.Load().Traced(pid) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	by := r.now.Load().by(pid)
	if by == nil {
		return
	}
	for _, t := range by {
		t.show(Event{Kind: Exit, Process: pid, Message: reason})
		if t.n--; t.n == 0 {
			t.over = true
			t.Feed.Close()
		}
	}
	next := r.copy()
	delete(next.of, pid)
	r.set(next)
}

// Remove has t trace a process no longer. It reports whether it did.
func (r *Registry) Remove(t *Trace, pid wire.PID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.now.Load().by(pid), t) {
		return false
	}
	next := r.copy()
	next.drop(pid, t)
	t.n--
	r.set(next)
	return true
}

// drop takes t off a process.
func (v *View) drop(pid wire.PID, t *Trace) {
	by := slices.DeleteFunc(slices.Clone(v.of[pid]), func(o *Trace) bool { return o == t })
	if v.of[pid] = by; len(by) == 0 {
		delete(v.of, pid)
	}
}

// End ends t.
func (r *Registry) End(t *Trace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.copy()
	for pid, by := range next.of {
		if slices.Contains(by, t) {
			next.drop(pid, t)
		}
	}
	t.n, t.over = 0, true
	r.set(next)
	t.Feed.Close()
}

// Stop ends all traces.
func (r *Registry) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if now := r.now.Swap(nil); now != nil {
		for _, by := range now.of {
			for _, t := range by {
				t.Feed.Close()
			}
		}
	}
}
