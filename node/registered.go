package node

import (
	"fmt"
	"path"
	"reflect"

	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/wire"
)

// standIn is the term that a Go value stands for in a message to another node of this kind, if
// its type says one: by a method Term, or by tags of package etf. A value of another type
// would arrive as something else than it is, so its type must be registered.
func (t *Types) standIn(v any) (any, error) {
	if _, isError := v.(error); !isError {
		if typ := t.missing(reflect.TypeOf(v)); typ != nil {
			return nil, notRegistered(typ)
		}
	}
	return foreignTerm(v)
}

// notRegistered is the error for a type that is to be registered.
func notRegistered(typ reflect.Type) error {
	if typ.Name() == "" {
		return fmt.Errorf("values of type %v cannot be sent: give the type a name, and register it: "+
			"node.RegisterTypes(node.TypeOf[Name]())", typ)
	}
	name := path.Base(typ.PkgPath()) + "." + typ.Name()
	return fmt.Errorf("type %s is not registered; at the start of both programs: node.RegisterTypes(node.TypeOf[%s]())", name, name)
}

var (
	termerType = reflect.TypeFor[wire.Termer]()
	errorType  = reflect.TypeFor[error]()
	wirePath   = reflect.TypeFor[wire.PID]().PkgPath()
)

// missing returns the type within typ that would have to be registered; nil: there is none.
func (t *Types) missing(typ reflect.Type) reflect.Type {
	if typ == nil || termof.Type(typ) != nil || typ.PkgPath() == wirePath {
		return nil
	}
	for _, says := range []reflect.Type{termerType, errorType} {
		if typ.Implements(says) || typ.Kind() != reflect.Interface && reflect.PointerTo(typ).Implements(says) {
			return nil
		}
	}
	if _, ok := builtin[typ]; ok {
		return nil
	}
	if table := t.table.Load(); table != nil {
		if _, ok := table.makers[typ]; ok {
			return nil
		}
	}
	switch typ.Kind() {
	case reflect.Struct:
		if hasTags(typ) {
			return nil
		}
		return typ
	case reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128,
		reflect.Uintptr:
		return nil // package etf says what is wrong with them, if anything is
	}
	if typ.Name() != "" && typ.PkgPath() != "" {
		return typ
	}
	switch typ.Kind() {
	case reflect.Map:
		if missing := t.missing(typ.Key()); missing != nil {
			return missing
		}
		return t.missing(typ.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.missing(typ.Elem())
	}
	return nil
}

// hasTags reports whether a struct says by tags of package etf which term it is.
func hasTags(typ reflect.Type) bool {
	for i := range typ.NumField() {
		if _, ok := typ.Field(i).Tag.Lookup("etf"); ok {
			return true
		}
	}
	return false
}
