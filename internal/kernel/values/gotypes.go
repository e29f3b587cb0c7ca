package values

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/wire/pack"

	"github.com/actornode/actornode/wire/etf"
)

// Registry is the set of registered types and errors. The zero value is empty.
type Registry struct {
	// Codec also has the types, for the values that Go nodes send each other.
	Codec pack.Types

	mu        sync.Mutex // held while an error is added
	types     pack.Map[string, reflect.Type]
	typeNames pack.Map[reflect.Type, string]
	errors    pack.Map[string, error]
	names     pack.Map[error, string]
}

// AddType adds the type T under the given name, or its default, and returns the name.
func AddType[T any](r *Registry, given ...string) (name string, err error) {
	typ := reflect.TypeFor[T]()
	if name, err = TypeName(typ, given); err != nil {
		return "", err
	}
	if err := etf.Check(typ); err != nil {
		return "", fmt.Errorf("%v as %.40q: %w", typ, name, err)
	}
	if err := pack.Register[T](&r.Codec, name); err != nil {
		return "", err
	}
	r.types.Add(name, typ)
	r.typeNames.Add(typ, name)
	return name, nil
}

// Type returns the type with a name, or nil if there is none.
func (r *Registry) Type(name string) reflect.Type { return r.types.Of(name) }

// NameOf returns the name of a type, or "" if it has none.
func (r *Registry) NameOf(typ reflect.Type) string { return r.typeNames.Of(typ) }

// Has reports whether a type is registered, or is a pointer to one that is, or a slice or a map[string] of one.
func (r *Registry) Has(typ reflect.Type) bool {
	switch {
	case typ == nil:
		return false
	case r.typeNames.Of(typ) != "":
		return true
	case typ.Name() != "":
		return false
	}
	switch typ.Kind() {
	case reflect.Map:
		return typ.Key() == reflect.TypeFor[string]() && r.typeNames.Of(typ.Elem()) != ""
	case reflect.Pointer, reflect.Slice:
		return r.typeNames.Of(typ.Elem()) != ""
	}
	return false
}

// Error returns the error with a name, or nil if there is none.
func (r *Registry) Error(name string) error { return r.errors.Of(name) }

// NameOfError returns the name of an error, which must be comparable, or "" if it has none.
func (r *Registry) NameOfError(err error) string { return r.names.Of(err) }

// maxErrorName is the maximum number of bytes of an error's name: to other nodes it is an atom.
const maxErrorName = 255

// AddError adds an error that programs compare with, under a name; without one its text is its name. It fails if err is not
// comparable, or a name is taken, or has more than 255 bytes.
func (r *Registry) AddError(err error, name ...string) error {
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
	r.mu.Lock()
	defer r.mu.Unlock()
	old, named := r.errors.Get(as)
	was, has := r.names.Get(err)
	switch {
	case named && old != err:
		return fmt.Errorf("the name %q is that of another error", as)
	case has && was != as:
		return fmt.Errorf("the error %q has the name %q", err, was)
	}
	r.errors.Add(as, err)
	r.names.Add(err, as)
	return nil
}

// TypeName returns the name of a type: the given one, otherwise the last element of the package's path, a dot, and the type's
// name.
func TypeName(typ reflect.Type, given []string) (string, error) {
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
