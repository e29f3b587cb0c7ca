package tasks

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
)

// Map calls f for each item, in processes of the node, at most limit at once, and yields the results in the order of the
// items. A limit of 0 or less means GOMAXPROCS. The error of a pair is what f returned, or a [*node.ExitError] if its
// process ended: it panicked, say. The other items go on.
//
//	for page, err := range tasks.Map(ctx, n, 8, slices.Values(urls), fetch) {
//		…
//	}
//
// The items are taken in the calling goroutine, between two pairs, and at most limit items ahead of the pair that is due.
// So a sequence that waits for its next item holds up the pairs that are ready.
//
// If the loop is left, ctx ends or the calling process ends, no item is taken any more, and the processes of all calls are
// killed, which cancels their contexts. The loop ends when the calls have returned. Unless it was left, its last pair has
// the error of ctx, or [node.ErrExited]. So it has the error of Spawn if no process can be started.
//
// A process may call f for several items, one after the other: what f leaves in its mailbox, or links, monitors and
// registers, is still there for the next one. A process that ended is replaced.
//
// Map waits: in a process pass the process, in a handler its Context. An Actor gives up its stage meanwhile, but
// handles no other message before the loop is over.
func Map[T, R any](ctx context.Context, from node.Caller, limit int, items iter.Seq[T],
	f func(p *node.Process, item T) (R, error)) iter.Seq2[R, error] {
	return mapped(ctx, from, limit, true, items, f)
}

// MapUnordered is Map, but yields the results as they come: an item that takes long does not hold up others.
func MapUnordered[T, R any](ctx context.Context, from node.Caller, limit int, items iter.Seq[T],
	f func(p *node.Process, item T) (R, error)) iter.Seq2[R, error] {
	return mapped(ctx, from, limit, false, items, f)
}

func mapped[T, R any](ctx context.Context, from node.Caller, limit int, ordered bool, items iter.Seq[T],
	f func(p *node.Process, item T) (R, error)) iter.Seq2[R, error] {
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0)
	}
	return func(yield func(R, error) bool) {
		i := from.Inside(process.Key{})
		m := &mapping[T, R]{from: from, node: i.Node(), by: i.Acting(), limit: limit, ordered: ordered, f: f,
			yield: yield, wake: make(chan struct{}, 1)}
		inner, cancel := context.WithCancelCause(ctx)
		m.ctx = inner
		defer cancel(nil)
		defer m.end()
		if p, ok := from.(interface{ Context() context.Context }); ok {
			defer context.AfterFunc(p.Context(), func() { cancel(node.ErrExited) })()
		}
		defer context.AfterFunc(inner, m.kill)()
		m.run(items)
	}
}

// mapping is a loop over Map.
//
// Invariants:
//
//  1. count is the number of items that were taken and not yielded: at most limit.
//  2. An outcome is settled once, by the one that makes its worker's busy false: the worker when f returns, or else the end
//     of the worker's process.
//  3. From then until the loop takes it, an outcome is in settled. wake holds a token if settled is not empty, unless the
//     loop has taken the token and not yet looked.
//  4. A worker in workers that is neither idle, nor busy, nor in settled by its outcome, has ended.
type mapping[T, R any] struct {
	from    node.Caller
	node    *node.Node
	by      *process.Acting
	ctx     context.Context // ends with that of the caller, and with the calling process
	limit   int
	ordered bool
	f       func(p *node.Process, item T) (R, error)
	yield   func(R, error) bool

	// owned by the calling goroutine
	count       int
	idle        []*worker[T, R]
	first, last *outcome[T, R] // if ordered: of the items that were not yielded
	free        *outcome[T, R]

	settled atomic.Pointer[outcome[T, R]] // a stack
	wake    chan struct{}

	mu      sync.Mutex
	workers map[*worker[T, R]]bool
	killed  bool
	left    sync.WaitGroup // the functions and the processes of workers
}

// outcome is the result of an item.
type outcome[T, R any] struct {
	value R
	err   error
	done  bool
	by    *worker[T, R]
	next  *outcome[T, R] // in settled or free
	later *outcome[T, R] // in order
}

// worker calls f in a process.
type worker[T, R any] struct {
	pid    node.PID
	items  chan T         // holds one; closed by the loop
	out    *outcome[T, R] // of the item that was handed to it last
	busy   atomic.Bool    // out is not settled
	begun  atomic.Bool    // the function of the process has begun, or never will
	ended  atomic.Bool    // the process has
	reason error          // set before ended
}

// run takes the items and yields the results.
func (m *mapping[T, R]) run(items iter.Seq[T]) {
	for item := range items {
		for m.count >= m.limit {
			if !m.await() {
				return
			}
		}
		if m.over() {
			return
		}
		if err := m.submit(item); err != nil {
			m.fail(err)
			return
		}
		if !m.collect() {
			return
		}
	}
	for m.count > 0 {
		if !m.await() {
			return
		}
	}
}

// over reports whether the loop must end, and then yields why.
func (m *mapping[T, R]) over() bool {
	if m.ctx.Err() == nil {
		return false
	}
	m.fail(cause.Of(m.ctx))
	return true
}

func (m *mapping[T, R]) fail(err error) {
	var none R
	m.yield(none, err)
}

// submit hands an item to a worker that is idle, or new.
func (m *mapping[T, R]) submit(item T) (err error) {
	var w *worker[T, R]
	for last := len(m.idle) - 1; last >= 0 && w == nil; last-- {
		w, m.idle = m.idle[last], m.idle[:last]
		if w.ended.Load() {
			m.drop(w)
			w = nil
		}
	}
	if w == nil {
		if w, err = m.spawn(); err != nil {
			return err
		}
	}
	o := m.free
	if o == nil {
		o = new(outcome[T, R])
	} else {
		m.free = o.next
	}
	o.by, w.out = w, o
	m.count++
	if m.ordered && m.first == nil {
		m.first, m.last = o, o
	} else if m.ordered {
		m.last.later, m.last = o, o
	}
	w.busy.Store(true)
	w.items <- item
	if w.ended.Load() { // perhaps before it was busy
		m.abandon(w)
	}
	return nil
}

// await waits until an outcome is settled, and yields what it can. It returns false if the loop is over.
func (m *mapping[T, R]) await() bool {
	if m.settled.Load() == nil {
		m.aside(func() {
			select {
			case <-m.wake:
			case <-m.ctx.Done():
			}
		})
	}
	return !m.over() && m.collect()
}

// aside calls wait without the stage that the caller may be on.
func (m *mapping[T, R]) aside(wait func()) {
	if m.by.Process == nil || m.by.Process.Gone() {
		wait()
	} else {
		runner.Aside(m.by, wait)
	}
}

// collect yields the outcomes that are settled and due. It returns false if the loop was left.
func (m *mapping[T, R]) collect() bool {
	for o := m.batch(); o != nil; {
		next := o.next
		o.done = true
		if o.by.ended.Load() {
			m.drop(o.by)
		} else {
			m.idle = append(m.idle, o.by)
		}
		if !m.ordered && !m.yielded(o) {
			return false
		}
		o = next
	}
	for o := m.first; o != nil && o.done; o = m.first {
		m.first = o.later
		if !m.yielded(o) {
			return false
		}
	}
	return true
}

// batch takes what is settled, the first one first.
func (m *mapping[T, R]) batch() (first *outcome[T, R]) {
	for o := m.settled.Swap(nil); o != nil; {
		next := o.next
		o.next, first = first, o
		o = next
	}
	return first
}

// yielded yields an outcome, which is used again. It returns false if the loop was left.
func (m *mapping[T, R]) yielded(o *outcome[T, R]) bool {
	v, err := o.value, o.err
	*o = outcome[T, R]{next: m.free}
	m.free = o
	m.count--
	return m.yield(v, err)
}

// settle hands an outcome to the loop, whose it is from then on.
func (m *mapping[T, R]) settle(o *outcome[T, R]) {
	head := m.settled.Load()
	for o.next = head; !m.settled.CompareAndSwap(head, o); o.next = head {
		head = m.settled.Load()
	}
	if head == nil { // else there is a token, or the loop has not looked yet
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// spawn starts a worker.
func (m *mapping[T, R]) spawn() (*worker[T, R], error) {
	w := &worker[T, R]{items: make(chan T, 1)}
	by := m.from.(interface {
		SpawnOpt(node.Options, node.Actor) (node.PID, error)
	})
	m.left.Add(2)
	pid, err := by.SpawnOpt(node.Options{Label: label, Place: node.Detached()}, node.ProcessFunc(func(p *node.Process) error {
		if !w.begun.CompareAndSwap(false, true) {
			return nil
		}
		defer m.left.Done()
		return m.work(w, p)
	}))
	if err != nil {
		m.left.Add(-2)
		return nil, err
	}
	w.pid = pid
	m.mu.Lock()
	if m.workers == nil {
		m.workers = make(map[*worker[T, R]]bool)
	}
	m.workers[w] = true
	killed := m.killed
	m.mu.Unlock()
	if killed {
		m.node.Exit(pid, node.Kill)
	}
	if p := m.by.System.Lookup(pid); p != nil {
		own := p.Context()
		context.AfterFunc(own, func() { m.exited(w, context.Cause(own)) }) // left waits for it
	} else {
		m.exited(w, &node.ExitError{Reason: node.NoProc})
	}
	return w, nil
}

// work is the process of a worker.
func (m *mapping[T, R]) work(w *worker[T, R], p *node.Process) error {
	for item := range w.items {
		v, err := m.f(p, item)
		if err != nil && exits(err) {
			return err
		}
		if !w.busy.CompareAndSwap(true, false) {
			break // the process has ended
		}
		w.out.value, w.out.err = v, err
		m.settle(w.out)
	}
	return nil
}

// exited is told the end of a worker's process.
func (m *mapping[T, R]) exited(w *worker[T, R], reason error) {
	w.reason = reason
	w.ended.Store(true)
	m.abandon(w)
	if w.begun.CompareAndSwap(false, true) {
		m.left.Done()
	}
	m.left.Done()
}

// abandon settles the item of a worker whose process has ended.
func (m *mapping[T, R]) abandon(w *worker[T, R]) {
	if w.busy.CompareAndSwap(true, false) {
		w.out.err = w.reason
		m.settle(w.out)
	}
}

// drop forgets a worker that has ended. Its function may still run.
func (m *mapping[T, R]) drop(w *worker[T, R]) {
	close(w.items)
	m.mu.Lock()
	delete(m.workers, w)
	m.mu.Unlock()
}

// kill ends the processes of all workers.
func (m *mapping[T, R]) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.killed = true
	for w := range m.workers {
		m.node.Exit(w.pid, node.Kill)
	}
}

// end ends all workers and waits for them.
func (m *mapping[T, R]) end() {
	if m.count > 0 {
		m.kill()
	}
	for w := range m.workers { // only this goroutine changes it
		close(w.items)
	}
	m.aside(m.left.Wait)
}
