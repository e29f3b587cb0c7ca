package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
)

// Errors of this package; callers compare them with errors.Is.
var (
	// ErrTaken: in a unique Registry, a living process has the key. The text has its PID.
	ErrTaken = errors.New("registry: another process has the key")
	// ErrRegistered: the process has an entry below the key already. Update changes its value.
	ErrRegistered = errors.New("registry: the process is registered below the key already")
	// ErrFull: there are as many entries as Options.Max allows.
	ErrFull = errors.New("registry: it has as many entries as Max of its Options allows")
)

// Options of a Registry. The zero value works.
type Options struct {
	Unique bool // one process for each key; default: any number
	Max    int  // entries at once; default: no limit
}

// Process is what can be registered, and can watch: a [*node.Context] or a [*node.Process].
type Process interface {
	node.Caller
	Self() node.PID
	Node() *node.Node
}

// Registry is a table of processes of one node. New makes one, and its process, Start, must run.
type Registry[K comparable, V any] struct {
	o       Options
	unusual bool // a K may be a value that is not comparable after all

	sending sync.Mutex // held while changes are sent: the last process of the Registry may still do that

	mu       sync.RWMutex
	n        *node.Node // nil: nothing has been registered yet
	keys     map[K]map[node.PID]V
	pids     map[node.PID]map[K]bool
	size     int
	server   node.PID            // the process of the Registry; zero: it does not run
	watchers map[node.PID]uint64 // and the number of the first change that each gets
	changes  []Change[K, V]      // that have not been sent
	first    uint64              // the number of changes[0]
	dropped  int                 // since the last log line
}

// Change is a message about an entry. Added and Removed are both false if its value has changed.
type Change[K comparable, V any] struct {
	Key            K
	PID            node.PID
	Value          V // as it is, or was when the entry was removed
	Added, Removed bool
}

// mostChanges is the most changes that wait to be sent.
const mostChanges = 1 << 16

// New returns an empty Registry.
func New[K comparable, V any](o Options) *Registry[K, V] {
	kind := reflect.TypeFor[K]().Kind()
	return &Registry[K, V]{o: o, keys: make(map[K]map[node.PID]V), pids: make(map[node.PID]map[K]bool),
		watchers: make(map[node.PID]uint64),
		unusual:  kind == reflect.Interface || kind == reflect.Struct || kind == reflect.Array}
}

// Start returns a Registry whose process runs, as a daemon without a supervisor. Errors: those of [node.SpawnWait].
func Start[K comparable, V any](ctx context.Context, from node.Caller, o Options) (*Registry[K, V], error) {
	r := New[K, V](o)
	_, err := node.SpawnWait(ctx, from, node.Options{Label: "registry", Daemon: true}, &server[K, V]{r: r})
	return r, err
}

// Start is for the Start of a supervisor's child: it returns the behaviour of the Registry's process. One process at a time
// may run it.
func (r *Registry[K, V]) Start(...any) (node.Actor, error) { return &server[K, V]{r: r}, nil }

// Register adds an entry of the calling process. It goes away with the process. Errors: [ErrTaken], [ErrRegistered],
// [ErrFull], [node.ErrArgument] (the key is a NaN, or an interface that holds something that is not comparable; or the process
// is of another node than the others).
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Register(p Process, key K, value V) error {
	if !r.usable(key) {
		return fmt.Errorf("%w: a key of type %T is not comparable", node.ErrArgument, key)
	}
	pid := p.Self()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ofLocked(p); err != nil {
		return err
	}
	if _, ok := r.keys[key][pid]; ok {
		return ErrRegistered
	}
	if r.o.Unique {
		for other := range r.keys[key] {
			if r.n.IsAlive(other) {
				return fmt.Errorf("%w: %v", ErrTaken, other)
			}
			r.goneLocked(other) // its Down has not come yet
		}
	}
	if r.o.Max > 0 && r.size >= r.o.Max {
		return fmt.Errorf("%w, %d", ErrFull, r.o.Max)
	}
	if r.keys[key] == nil {
		r.keys[key] = make(map[node.PID]V)
	}
	if r.pids[pid] == nil {
		r.pids[pid] = make(map[K]bool)
		r.tellLocked(look{pid})
	}
	r.keys[key][pid], r.pids[pid][key] = value, true
	r.size++
	r.changedLocked(Change[K, V]{Key: key, PID: pid, Value: value, Added: true})
	return nil
}

// Unregister removes the entry of the calling process below a key. It reports whether there was one.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Unregister(p Process, key K) (was bool) {
	if !r.usable(key) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pid := p.Self()
	if !r.removeLocked(pid, key) {
		return false
	}
	if r.pids[pid] == nil {
		r.tellLocked(look{pid})
	}
	return true
}

// Update replaces the value of the calling process below a key by what f makes of it. It returns false if there is no such
// entry. f must be quick, and call nothing of the Registry.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Update(p Process, key K, f func(V) V) bool {
	if !r.usable(key) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pid := p.Self()
	v, ok := r.keys[key][pid]
	if ok {
		v = f(v)
		r.keys[key][pid] = v
		r.changedLocked(Change[K, V]{Key: key, PID: pid, Value: v})
	}
	return ok
}

// Lookup returns the processes below a key, with their values, as they are at the call, in any order.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Lookup(key K) iter.Seq2[node.PID, V] {
	if !r.usable(key) {
		return func(func(node.PID, V) bool) {}
	}
	r.mu.RLock()
	n, found := r.n, maps.Clone(r.keys[key])
	r.mu.RUnlock()
	return func(yield func(node.PID, V) bool) {
		for pid, v := range found {
			if n.IsAlive(pid) && !yield(pid, v) {
				return
			}
		}
	}
}

// Keys returns the keys below which a process is registered, in any order.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Keys(pid node.PID) []K {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.n == nil || !r.n.IsAlive(pid) {
		return nil
	}
	return slices.Collect(maps.Keys(r.pids[pid]))
}

// All returns all keys with their processes, as they are at the call, in any order.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) All() iter.Seq2[K, node.PID] {
	type entry struct {
		key K
		pid node.PID
	}
	r.mu.RLock()
	n, all := r.n, make([]entry, 0, r.size)
	for pid, keys := range r.pids {
		for key := range keys {
			all = append(all, entry{key, pid})
		}
	}
	r.mu.RUnlock()
	return func(yield func(K, node.PID) bool) {
		for _, e := range all {
			if n.IsAlive(e.pid) && !yield(e.key, e.pid) {
				return
			}
		}
	}
}

// Len returns the number of entries. Those of processes that have just ended may be among them.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.size
}

// Dispatch sends msg to all processes below a key, and returns how many have got it. The error joins those of [node.Send].
func (r *Registry[K, V]) Dispatch(from node.Caller, key K, msg any) (sent int, err error) {
	for pid := range r.Lookup(key) {
		if failed := node.Send(from, pid, msg); failed != nil {
			err = errors.Join(err, fmt.Errorf("%v: %w", pid, failed))
		} else {
			sent++
		}
	}
	return sent, err
}

// Watch makes the calling process get a [Change] for each change from now on, until it ends or calls Unwatch. To know what was
// there before, call All after it: what changes between the two is in both. A change for which a bounded mailbox has no space
// is a dead letter. Errors: [node.ErrArgument] (the process is of another node than the others).
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Watch(p Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ofLocked(p); err != nil {
		return err
	}
	if _, watches := r.watchers[p.Self()]; watches {
		return nil
	}
	if r.server.IsZero() || !r.n.IsAlive(r.server) {
		maps.DeleteFunc(r.watchers, func(pid node.PID, _ uint64) bool { return !r.n.IsAlive(pid) }) // nothing else does
	}
	r.watchers[p.Self()] = r.first + uint64(len(r.changes))
	r.tellLocked(look{p.Self()})
	return nil
}

// usable reports whether a key can be compared, with itself, too.
func (r *Registry[K, V]) usable(key K) bool {
	return (!r.unusual || reflect.ValueOf(&key).Elem().Comparable()) && key == key
}

// ofLocked returns an error if p is of another node than the processes before. The first one says which node that is, also
// after that of the others has stopped.
func (r *Registry[K, V]) ofLocked(p Process) error {
	if r.n == nil || r.n != p.Node() && r.isOver() {
		r.beginLocked(p.Node())
	}
	if r.n != p.Node() {
		return fmt.Errorf("%w: %v is no process of %s, as the others of the registry are", node.ErrArgument, p.Self(), r.n.Name())
	}
	return nil
}

// Unwatch ends Watch. Changes that were made before may still come.
//
//actornode:blocks the lock of the table is held for a moment
func (r *Registry[K, V]) Unwatch(p Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, p.Self())
	r.tellLocked(look{p.Self()})
}

// isOver reports whether the node of the processes has stopped.
func (r *Registry[K, V]) isOver() bool {
	select {
	case <-r.n.Done():
		return true
	default:
		return false
	}
}

// beginLocked empties the Registry for the processes of n.
func (r *Registry[K, V]) beginLocked(n *node.Node) {
	r.n, r.server, r.size, r.changes, r.dropped = n, node.PID{}, 0, nil, 0
	clear(r.keys)
	clear(r.pids)
	clear(r.watchers)
}

// removeLocked removes an entry. It reports whether there was one.
func (r *Registry[K, V]) removeLocked(pid node.PID, key K) bool {
	v, ok := r.keys[key][pid]
	if !ok {
		return false
	}
	if delete(r.keys[key], pid); len(r.keys[key]) == 0 {
		delete(r.keys, key)
	}
	if delete(r.pids[pid], key); len(r.pids[pid]) == 0 {
		delete(r.pids, pid)
	}
	r.size--
	r.changedLocked(Change[K, V]{Key: key, PID: pid, Value: v, Removed: true})
	return true
}

// goneLocked removes all of a process that has ended.
func (r *Registry[K, V]) goneLocked(pid node.PID) {
	delete(r.watchers, pid)
	for key := range r.pids[pid] {
		r.removeLocked(pid, key)
	}
}

// changedLocked keeps a change for those who watch.
func (r *Registry[K, V]) changedLocked(c Change[K, V]) {
	if len(r.watchers) == 0 {
		return
	}
	if len(r.changes) == mostChanges {
		r.changes = r.changes[1:]
		r.first++
		r.dropped++
	}
	r.changes = append(r.changes, c)
	if len(r.changes) == 1 {
		r.tellLocked(flush{})
	}
}

// tellLocked sends a message to the process of the Registry, if it runs. Its mailbox has no bound.
func (r *Registry[K, V]) tellLocked(msg any) {
	if !r.server.IsZero() && r.n.IsAlive(r.server) {
		_ = r.n.Send(r.server, msg)
	}
}

func init() { values.Enter(ErrTaken, ErrRegistered, ErrFull) }
