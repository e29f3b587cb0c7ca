package tables

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// GlobalState is what the name server of a published node knows of the others, and the number of names and locks.
type GlobalState struct {
	Known, Synced, Unreached []wire.Atom
	Names, Locks             int
}

// GlobalNames has the names, for any number of readers. Its only writer is the Machine.
type GlobalNames struct {
	// Alive, if it is set, reports whether a process that has a name is alive, as far as this node knows.
	Alive func(pid wire.PID) bool
	// Ended is called with each exiting process of this node that the name server watches.
	Ended func(pid wire.PID)
	// Look queries the state of the name server.
	Look func(ctx context.Context) (GlobalState, error)

	server atomic.Pointer[wire.PID]

	mu    sync.RWMutex
	plain map[any]GlobalEntry // by keys that == compares like wire.Equal
	terms wire.Map            // by other keys
}

// GlobalEntry is the process that has a name, and the method that resolves a clash.
type GlobalEntry struct {
	PID    wire.PID
	Method any
}

// Whois returns the process that has a name, if it is alive, and false otherwise. A nil GlobalNames has no names.
func (t *GlobalNames) Whois(name any) (wire.PID, bool) {
	if t == nil {
		return wire.PID{}, false
	}
	e, ok := t.Get(name)
	if !ok || t.Alive != nil && !t.Alive(e.PID) {
		return wire.PID{}, false
	}
	return e.PID, true
}

// Serve sets the process that is the name server from now on.
func (t *GlobalNames) Serve(server wire.PID) { t.server.Store(&server) }

// Server returns the name server, or zero if there is none yet, or t is nil.
func (t *GlobalNames) Server() wire.PID {
	if t == nil || t.server.Load() == nil {
		return wire.PID{}
	}
	return *t.server.Load()
}

// Get returns the entry of a name, whose process may have ended.
func (t *GlobalNames) Get(name any) (GlobalEntry, bool) {
	key, plain := TermKey(name)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if plain {
		e, ok := t.plain[key]
		return e, ok
	}
	if v, ok := t.terms.Get(key); ok {
		return v.(GlobalEntry), true
	}
	return GlobalEntry{}, false
}

// Put assigns a name to a process.
func (t *GlobalNames) Put(name any, e GlobalEntry) {
	key, plain := TermKey(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !plain {
		t.terms.Put(key, e)
		return
	}
	if t.plain == nil {
		t.plain = map[any]GlobalEntry{}
	}
	t.plain[key] = e
}

// Remove removes a name.
func (t *GlobalNames) Remove(name any) {
	key, plain := TermKey(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if plain {
		delete(t.plain, key)
		return
	}
	t.terms.Delete(key)
}

// Clear removes all names.
func (t *GlobalNames) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plain, t.terms = nil, wire.Map{}
}

// Len returns the number of names.
func (t *GlobalNames) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.plain) + t.terms.Len()
}

// Names returns all names, in no particular order. Binaries are strings. A nil GlobalNames has none.
func (t *GlobalNames) Names() []any {
	if t == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]any, 0, len(t.plain)+t.terms.Len())
	for name := range t.plain {
		all = append(all, name)
	}
	for name := range t.terms.Unordered() {
		all = append(all, name)
	}
	return all
}

// Each calls f for each name.
func (t *GlobalNames) Each(f func(name any, e GlobalEntry)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name, e := range t.plain {
		f(name, e)
	}
	for name, v := range t.terms.Unordered() {
		f(name, v.(GlobalEntry))
	}
}
