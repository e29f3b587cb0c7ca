package pack

import (
	"sync"
	"sync/atomic"
)

// Map is a typed, add-only [sync.Map]. The zero value is empty.
type Map[K comparable, V any] struct {
	m sync.Map
	n atomic.Int64
}

// Get returns the value of a key, or false if it has none.
func (m *Map[K, V]) Get(key K) (v V, ok bool) {
	if x, ok := m.m.Load(key); ok {
		v, _ = x.(V) // may be nil if V is an interface type
		return v, true
	}
	return v, false
}

// Of is Get, with the zero V for a key without a value.
func (m *Map[K, V]) Of(key K) V {
	v, _ := m.Get(key)
	return v
}

// Add sets the value of a key, unless it has one.
func (m *Map[K, V]) Add(key K, v V) {
	if _, has := m.m.LoadOrStore(key, v); !has {
		m.n.Add(1)
	}
}

// Len returns the number of pairs.
func (m *Map[K, V]) Len() int { return int(m.n.Load()) }
