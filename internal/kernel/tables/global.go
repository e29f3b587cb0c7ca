package tables

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// GlobalState is what the name server of a published node knows of the others, and how many names and locks there are.
type GlobalState struct {
	Known, Synced, Unreached []wire.Atom
	Names, Locks             int
}

// GlobalNames has the names, for any number of readers. Its one writer is the Machine.
type GlobalNames struct {
	// Alive, if it is set, says of a process that has a name whether it is alive, as far as this node knows.
	Alive func(pid wire.PID) bool
	// Ended is told of the end of each process of this node that the name server watches.
	Ended func(pid wire.PID)
	// Look asks the name server what it knows.
	Look func(ctx context.Context) (GlobalState, error)

	server atomic.Pointer[wire.PID]

	mu    sync.RWMutex
	plain map[any]GlobalEntry // by keys that == compares as wire.Equal does
	terms wire.Map            // those of other terms
}

// GlobalEntry is who has a name, and which function decides about a clash.
type GlobalEntry struct {
	PID    wire.PID
	Method any
}

// Whois returns the process that has a name, if it is alive; false: none is. A nil GlobalNames has no names.
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

// Serve says which process is the name server from now on.
func (t *GlobalNames) Serve(server wire.PID) { t.server.Store(&server) }

// Server returns the name server; zero: there is none yet, or t is nil.
func (t *GlobalNames) Server() wire.PID {
	if t == nil || t.server.Load() == nil {
		return wire.PID{}
	}
	return *t.server.Load()
}

// Get returns what is known of a name, whose process may have ended.
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

// Put gives a name to a process.
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

// Remove takes a name away.
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

// Len returns how many names there are.
func (t *GlobalNames) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.plain) + t.terms.Len()
}

// Names returns all names, in no order. Binaries are strings. A nil GlobalNames has none.
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
