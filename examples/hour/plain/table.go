package main

import (
	"sync"
	"time"
)

// table has a value for each key, and forgets those that have not been used for some time.
type table[V any] struct {
	idle   time.Duration
	create func() V

	mu   sync.Mutex
	rows map[string]*row[V]
}

type row[V any] struct {
	value  V
	used   time.Time
	forget *time.Timer
}

func newTable[V any](idle time.Duration, create func() V) *table[V] {
	return &table[V]{idle: idle, create: create, rows: map[string]*row[V]{}}
}

// get returns the value of a key.
func (t *table[V]) get(key string) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.rows[key]
	if !ok {
		r = &row[V]{value: t.create()}
		r.forget = time.AfterFunc(t.idle, func() { t.forget(key, r) })
		t.rows[key] = r
	}
	r.used = time.Now()
	r.forget.Reset(t.idle)
	return r.value
}

// forget forgets a row, unless it was used while the timer fired.
func (t *table[V]) forget(key string, r *row[V]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(r.used) >= t.idle {
		delete(t.rows, key)
	}
}

func (t *table[V]) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.rows)
}
