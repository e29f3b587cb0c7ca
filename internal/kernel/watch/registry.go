package watch

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/wire"
)

// Traces is what is traced by which traces. It must be initialized by Init; then nothing is traced.
type Traces struct {
	now   atomic.Pointer[TraceView]
	mu    sync.Mutex // held while now is changed
	ended bool
	host  *TraceHost
	guard Guard // may be nil
}

// TraceHost is the node of a registry.
type TraceHost struct {
	Now func() time.Time
	// Find finds a live process, and returns a function that reports whether it has exited.
	Find func(pid wire.PID) (EndedFunc, error)
	// IsOwn reports whether a message is one that nodes make themselves, for which Show is not called.
	IsOwn func(msg any) bool
	// ErrorTerm returns an error as seen by a caller on another node.
	ErrorTerm func(err error) any
}

// EndedFunc reports whether a process has exited, with its exit reason.
type EndedFunc func() (reason any, ended bool)

// TraceView is the state of Traces, from when a process is traced until none is. A nil *TraceView traces nothing.
type TraceView struct {
	mask     atomic.Uint64 // the bits of all processes: see bit
	of       index[[]*Trace]
	quiet    index[int]  // the number of traces that want a process quiet, if any
	loud     atomic.Bool // there is no such process
	host     *TraceHost
	registry *Traces
	guard    Guard

	bits [64]int // number of processes per bit; guarded by Traces.mu
}

// Trace is one trace. The exported fields are set before it is used.
type Trace struct {
	Feed     TraceFeed
	Kinds    TraceKind
	Max      int  // maximum number of concurrent processes
	Children bool // children are traced, too
	Show     func(msg any) any
	Quiet    wire.PID // a process whose messages are shown to no trace, or zero

	// Guarded by Traces.mu.
	pids map[wire.PID]struct{}
	over bool // it has ended
}

// TraceFeed receives the events of a trace. See package watch.
type TraceFeed interface {
	Send(e TraceEvent)
	Full() bool
	Miss()
	Close()
}

// Errors of Add.
var (
	ErrTraceOver = errors.New("trace: it is over")
	ErrTraceFull = errors.New("trace: it has as many processes as it may")
)

// bit makes most checks of processes that are not traced cost one load.
func bit(pid wire.PID) uint64 { return 1 << (pid.Number() & 63) }

// Init must be called before anything else.
func (r *Traces) Init(h TraceHost) { r.host = &h }

// Host returns the argument of Init.
func (r *Traces) Host() *TraceHost { return r.host }

// View returns what is traced now, or nil if nothing is.
func (r *Traces) View() *TraceView { return r.now.Load() }

// by returns the traces of a process, or nil. p may be zero.
func (v *TraceView) by(p wire.PID) []*Trace {
	if v == nil || v.mask.Load()&bit(p) == 0 {
		return nil
	}
	by, _ := v.of.get(p)
	return by
}

// isQuiet reports whether the messages of a process must not be shown.
func (v *TraceView) isQuiet(p wire.PID) bool {
	if v == nil || v.loud.Load() {
		return false
	}
	_, quiet := v.quiet.get(p)
	return quiet
}

// Add makes t trace processes, all of them or, with an error, none that it did not trace before: an error of TraceHost.Find,
// ErrTraceFull or ErrTraceOver.
func (r *Traces) Add(t *Trace, pids ...wire.PID) error {
	all := make([]EndedFunc, len(pids))
	for i, pid := range pids {
		var err error
		if all[i], err = r.host.Find(pid); err != nil {
			return err
		}
	}
	if err := r.add(t, pids...); err != nil {
		return err
	}
	for i, pid := range pids { // it may have died before it was added
		r.check(pid, all[i])
	}
	return nil
}

func (r *Traces) add(t *Trace, pids ...wire.PID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || t.over {
		return ErrTraceOver
	}
	fresh := make(map[wire.PID]struct{}, few)
	for _, pid := range pids {
		if _, has := t.pids[pid]; !has {
			fresh[pid] = struct{}{}
		}
	}
	if len(t.pids)+len(fresh) > t.Max {
		return ErrTraceFull
	}
	for pid := range fresh {
		r.need().add(t, pid)
	}
	return nil
}

// few is the number of processes that are added at a time without an allocation.
const few = 8

// check ends the traces of a process that has exited.
func (r *Traces) check(pid wire.PID, ended EndedFunc) {
	if reason, ended := ended(); ended {
		r.Gone(pid, reason)
	}
}

// need returns the view, creating it if no process is traced. The caller holds mu, and adds something.
func (r *Traces) need() *TraceView {
	v := r.now.Load()
	if v == nil {
		v = r.newView()
		r.now.Store(v)
	}
	return v
}

func (r *Traces) newView() *TraceView {
	v := &TraceView{host: r.host, registry: r, guard: r.guard}
	v.loud.Store(true)
	return v
}

// tidy drops the view if it is no longer used. The caller holds mu.
func (r *Traces) tidy(v *TraceView) {
	if v.of.n == 0 && r.guard == nil {
		r.now.Store(nil)
	}
}

// add makes t trace a process that it does not trace yet. The caller holds Traces.mu.
func (v *TraceView) add(t *Trace, pid wire.PID) {
	if t.pids == nil {
		t.pids = make(map[wire.PID]struct{})
	}
	if len(t.pids) == 0 {
		v.hush(t, 1)
	}
	t.pids[pid] = struct{}{}
	by, traced := v.of.get(pid)
	if v.of.put(pid, append(slices.Clip(by), t)); !traced {
		v.count(pid, 1)
	}
}

// drop removes a process from t, which traces it. The caller holds Traces.mu.
func (v *TraceView) drop(t *Trace, pid wire.PID) {
	if delete(t.pids, pid); len(t.pids) == 0 {
		v.hush(t, -1)
	}
	by, _ := v.of.get(pid)
	if by = slices.DeleteFunc(slices.Clone(by), func(o *Trace) bool { return o == t }); len(by) > 0 {
		v.of.put(pid, by)
		return
	}
	v.of.remove(pid)
	v.count(pid, -1)
}

// count counts processes by bit.
func (v *TraceView) count(pid wire.PID, d int) {
	n := &v.bits[pid.Number()&63]
	if *n += d; *n == 0 {
		v.mask.And(^bit(pid))
	} else {
		v.mask.Or(bit(pid))
	}
}

// hush counts the traces that want a process quiet.
func (v *TraceView) hush(t *Trace, d int) {
	if t.Quiet.IsZero() {
		return
	}
	n, _ := v.quiet.get(t.Quiet)
	if n += d; n > 0 {
		v.quiet.put(t.Quiet, n)
	} else {
		v.quiet.remove(t.Quiet)
	}
	v.loud.Store(v.quiet.n == 0)
}

// Gone ends the traces of a process that has exited, with the exit as its last event. A trace that has no process left ends.
func (r *Traces) Gone(pid wire.PID, reason any) {
	if v := r.now.Load(); v != nil {
		r.gone(pid, reason)
		if v.guard != nil {
			v.guard.Gone(pid)
		}
	}
}

func (r *Traces) gone(pid wire.PID, reason any) {
	if !r.now.Load().Traced(pid) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.now.Load()
	by := v.by(pid)
	if by == nil {
		return
	}
	for _, t := range by {
		v.drop(t, pid)
		t.show(TraceEvent{Kind: TraceExit, Process: pid, Message: reason})
		if len(t.pids) == 0 {
			t.over = true
			t.Feed.Close()
		}
	}
	r.tidy(v)
}

// Remove makes t stop tracing a process. It reports whether t did trace it.
func (r *Traces) Remove(t *Trace, pid wire.PID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, has := t.pids[pid]; !has {
		return false
	}
	v := r.now.Load()
	v.drop(t, pid)
	r.tidy(v)
	return true
}

// End ends t.
func (r *Traces) End(t *Trace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.now.Load(); v != nil {
		for pid := range t.pids {
			v.drop(t, pid)
		}
		r.tidy(v)
	}
	t.over = true
	t.Feed.Close()
}

// Stop ends all traces.
func (r *Traces) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if now := r.now.Swap(nil); now != nil {
		for e := range now.of.all() {
			for _, t := range e.value {
				t.Feed.Close()
			}
		}
	}
}
