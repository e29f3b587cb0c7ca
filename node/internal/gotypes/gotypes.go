// Package gotypes knows which Go types, and which errors, travel to other nodes as themselves, and
// by which names.
//
// Nouns:
//
//   - A [Registry] is what is registered. For each type it has a maker, of type M: what node makes
//     of a type.
//
// Invariants:
//
//  1. What has been registered stays, under the same name.
//  2. A name is that of one error, and an error has one name. Names of types are looked after by the
//     codec.
//
// A Registry may be used from anywhere: it is replaced as a whole when it changes, and read without
// a lock. The package has no clock and no goroutine.
package gotypes

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Registry is the types and errors that are registered. The zero value has none.
type Registry[M any] struct {
	mu    sync.Mutex // held while table is replaced
	table atomic.Pointer[table[M]]
}

// table is what is registered. It is never changed, but replaced.
type table[M any] struct {
	makers map[reflect.Type]M
	byName map[string]reflect.Type
	called map[reflect.Type]string
	errors map[string]error
	names  map[error]string
}

// change replaces the table by a copy that f has changed.
func (r *Registry[M]) change(f func(*table[M])) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := &table[M]{map[reflect.Type]M{}, map[string]reflect.Type{}, map[reflect.Type]string{}, map[string]error{},
		map[error]string{}}
	if old := r.table.Load(); old != nil {
		maps.Copy(next.makers, old.makers)
		maps.Copy(next.byName, old.byName)
		maps.Copy(next.called, old.called)
		maps.Copy(next.errors, old.errors)
		maps.Copy(next.names, old.names)
	}
	f(next)
	r.table.Store(next)
}

// AddTypes adds the makers of types.
func (r *Registry[M]) AddTypes(makers map[reflect.Type]M) {
	r.change(func(t *table[M]) { maps.Copy(t.makers, makers) })
}

// AddNamed is AddTypes for a type that has a name, and those made of it.
func (r *Registry[M]) AddNamed(typ reflect.Type, name string, makers map[reflect.Type]M) {
	r.change(func(t *table[M]) {
		maps.Copy(t.makers, makers)
		t.byName[name], t.called[typ] = typ, name
	})
}

// Type returns the type of a name, nil: there is none.
func (r *Registry[M]) Type(name string) reflect.Type {
	if t := r.table.Load(); t != nil {
		return t.byName[name]
	}
	return nil
}

// NameOf returns the name of a type, "": it has none.
func (r *Registry[M]) NameOf(typ reflect.Type) string {
	if t := r.table.Load(); t != nil {
		return t.called[typ]
	}
	return ""
}

// Error returns the error of a name, nil: there is none.
func (r *Registry[M]) Error(name string) error {
	if t := r.table.Load(); t != nil {
		return t.errors[name]
	}
	return nil
}

// NameOfError returns the name of an error, which can be compared, "": it has none.
func (r *Registry[M]) NameOfError(err error) string {
	if t := r.table.Load(); t != nil {
		return t.names[err]
	}
	return ""
}

// Maker returns the maker of a type, which may be one of builtin; false: it is not registered.
func (r *Registry[M]) Maker(typ reflect.Type, builtin map[reflect.Type]M) (m M, ok bool) {
	if m, ok = builtin[typ]; ok {
		return m, true
	}
	if t := r.table.Load(); t != nil {
		m, ok = t.makers[typ]
	}
	return m, ok
}

// maxErrorName is how many bytes the name of an error has: to other nodes it is an atom.
const maxErrorName = 255

// AddError adds an error that programs compare with, under a name; without one its text is its name.
// The error says what is wrong: it cannot be compared, or a name is taken, or has more than 255 bytes.
func (r *Registry[M]) AddError(err error, name ...string) (wrong error) {
	switch {
	case err == nil:
		return errors.New("the error is nil")
	case !reflect.TypeOf(err).Comparable():
		return fmt.Errorf("errors of type %T cannot be compared: register the type", err)
	case len(name) > 1:
		return fmt.Errorf("%q has %d names: want one", err, len(name))
	}
	as := err.Error()
	if len(name) == 1 {
		as = name[0]
	}
	if len(as) == 0 || len(as) > maxErrorName || !utf8.ValidString(as) {
		return fmt.Errorf("the name %.40q of an error has %d bytes: want UTF-8 of 1 to %d; give it a name of its own", as, len(as),
			maxErrorName)
	}
	r.change(func(t *table[M]) {
		old, named := t.errors[as]
		was, has := t.names[err]
		switch {
		case named && old != err:
			wrong = fmt.Errorf("the name %q is that of another error", as)
		case has && was != as:
			wrong = fmt.Errorf("the error %q has the name %q", err, was)
		default:
			t.errors[as], t.names[err] = err, as
		}
	})
	return wrong
}

// Name returns the name of a type: that which is given, else the last element of the package's path,
// a dot, and the type's name.
func Name(typ reflect.Type, given []string) (string, error) {
	switch {
	case len(given) == 1:
		return given[0], nil
	case len(given) > 1:
		return "", fmt.Errorf("%v has %d names: want one", typ, len(given))
	case typ.Name() == "" || typ.PkgPath() == "":
		return "", fmt.Errorf("%v has no name of its own (for a pointer register what it points to)", typ)
	}
	return path.Base(typ.PkgPath()) + "." + typ.Name(), nil
}
