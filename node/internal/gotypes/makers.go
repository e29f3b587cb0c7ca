package gotypes

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Makers are what is made of types, by the types and by their names. The zero value has none.
type Makers[M any] struct {
	mu    sync.Mutex // held while table is replaced
	table atomic.Pointer[makers[M]]
}

// makers are never changed, but replaced.
type makers[M any] struct {
	byType map[reflect.Type]M
	byName map[string]M
}

// Made is the maker of a type.
type Made[M any] struct {
	Type  reflect.Type
	Name  string
	Maker M
}

// Add adds makers.
func (m *Makers[M]) Add(all ...Made[M]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := &makers[M]{}
	if old := m.table.Load(); old != nil {
		*next = *old
	}
	next.byType, next.byName = with(next.byType), with(next.byName)
	for _, one := range all {
		next.byType[one.Type], next.byName[one.Name] = one.Maker, one.Maker
	}
	m.table.Store(next)
}

// Of returns the maker of a type; false: there is none.
func (m *Makers[M]) Of(typ reflect.Type) (maker M, ok bool) {
	if t := m.table.Load(); t != nil {
		maker, ok = t.byType[typ]
	}
	return maker, ok
}

// Named returns the maker of the type that has a name; false: there is none.
func (m *Makers[M]) Named(name string) (maker M, ok bool) {
	if t := m.table.Load(); t != nil {
		maker, ok = t.byName[name]
	}
	return maker, ok
}
