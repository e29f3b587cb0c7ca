// Package gotypes knows which Go types, and which errors, travel to other nodes as themselves, and
// by which names.
//
// Nouns:
//
//   - A [Registry] is what is registered.
//   - [Makers] have, for types and those composed of them, what node makes of a type.
//
// Invariants:
//
//  1. What has been registered stays, under the same name.
//  2. A name is that of one error, and an error has one name. Names of types are looked after by the
//     codec.
//
// Both may be used from anywhere: a table is replaced as a whole when it changes, and read without
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

	"github.com/actornode/actornode/internal/pack"
)

// Registry is the types and errors that are registered. The zero value has none.
type Registry struct {
	// Codec has the types, too, for the values that Go nodes send each other.
	Codec pack.Types

	mu    sync.Mutex // held while table is replaced
	table atomic.Pointer[table]
}

// table is what is registered. It is never changed, but replaced.
type table struct {
	types     map[string]reflect.Type
	typeNames map[reflect.Type]string
	errors    map[string]error
	names     map[error]string
}

// none is the table of a Registry that has nothing.
var none table

func (r *Registry) load() *table {
	if t := r.table.Load(); t != nil {
		return t
	}
	return &none
}

// change replaces the table by a copy that f has changed.
func (r *Registry) change(f func(*table)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.load()
	next := &table{with(old.types), with(old.typeNames), with(old.errors), with(old.names)}
	f(next)
	r.table.Store(next)
}

// with is a copy of m, or an empty map, to which more is added.
func with[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// Add adds the type T under the name that is given, or its default, and returns the name.
func Add[T any](r *Registry, given ...string) (name string, err error) {
	typ := reflect.TypeFor[T]()
	if name, err = Name(typ, given); err != nil {
		return "", err
	}
	if err := pack.Register[T](&r.Codec, name); err != nil {
		return "", err
	}
	r.change(func(t *table) { t.types[name], t.typeNames[typ] = typ, name })
	return name, nil
}

// Type returns the type of a name, nil: there is none.
func (r *Registry) Type(name string) reflect.Type { return r.load().types[name] }

// NameOf returns the name of a type, "": it has none.
func (r *Registry) NameOf(typ reflect.Type) string { return r.load().typeNames[typ] }

// Has reports whether a type is registered, or is the pointer to one that is, or a slice or a map[string] of one.
func (r *Registry) Has(typ reflect.Type) bool {
	names := r.load().typeNames
	switch {
	case typ == nil:
		return false
	case names[typ] != "":
		return true
	case typ.Name() != "":
		return false
	}
	switch typ.Kind() {
	case reflect.Map:
		return typ.Key() == reflect.TypeFor[string]() && names[typ.Elem()] != ""
	case reflect.Pointer, reflect.Slice:
		return names[typ.Elem()] != ""
	}
	return false
}

// Error returns the error of a name, nil: there is none.
func (r *Registry) Error(name string) error { return r.load().errors[name] }

// NameOfError returns the name of an error, which can be compared, "": it has none.
func (r *Registry) NameOfError(err error) string { return r.load().names[err] }

// maxErrorName is how many bytes the name of an error has: to other nodes it is an atom.
const maxErrorName = 255

// AddError adds an error that programs compare with, under a name; without one its text is its name.
// The error says what is wrong: it cannot be compared, or a name is taken, or has more than 255 bytes.
func (r *Registry) AddError(err error, name ...string) (wrong error) {
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
	r.change(func(t *table) {
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
