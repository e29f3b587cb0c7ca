// Package readmap has a map that grows seldom and is read all the time: what is registered.
//
// To read it takes no lock, but now and then after something was added. To add to it costs the same
// however much it has: it is not copied each time.
package readmap

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Map is a map from which nothing is taken out, and of which no value is replaced. The zero value is empty.
// Any number of goroutines may use it at once.
//
// Invariants:
//
//  1. What read leads to never changes.
//  2. added has all pairs, those of read too; nil: read has all. behind is set exactly if it is not nil.
//  3. The misses since added was made are fewer than its pairs: so all that is copied is paid for by
//     as many that had to look into added, or by as many that were added.
type Map[K comparable, V any] struct {
	read   atomic.Pointer[map[K]V]
	behind atomic.Bool

	mu     sync.Mutex
	added  map[K]V
	misses int
}

// Get returns the value of a key; false: it has none.
func (m *Map[K, V]) Get(key K) (v V, ok bool) {
	if read := m.read.Load(); read != nil {
		if v, ok = (*read)[key]; ok {
			return v, true
		}
	}
	if !m.behind.Load() {
		return v, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.all()[key]
	if m.added == nil {
		return v, ok
	}
	if m.misses++; m.misses >= len(m.added) {
		read := m.added
		m.read.Store(&read)
		m.added, m.misses = nil, 0
		m.behind.Store(false)
	}
	return v, ok
}

// Of is Get, with the zero V for a key that has none.
func (m *Map[K, V]) Of(key K) V {
	v, _ := m.Get(key)
	return v
}

// all returns all pairs. The caller holds mu.
func (m *Map[K, V]) all() map[K]V {
	if m.added != nil {
		return m.added
	}
	if read := m.read.Load(); read != nil {
		return *read
	}
	return nil
}

// Add gives a key its value, unless it has one.
func (m *Map[K, V]) Add(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, has := m.all()[key]; has {
		return
	}
	if m.added == nil {
		m.added = maps.Clone(m.all())
		if m.added == nil {
			m.added = make(map[K]V)
		}
	}
	m.added[key] = v
	m.behind.Store(true)
}

// Len returns the number of pairs.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all())
}
