package values

import (
	"fmt"
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// NotRegistered returns the error for a type that must be registered.
func NotRegistered(typ reflect.Type) error {
	if typ.Name() == "" {
		return fmt.Errorf("values of type %v cannot be sent: give the type a name, and register it: "+
			"node.RegisterTypes(node.TypeOf[Name]())", typ)
	}
	name, _ := TypeName(typ, nil)
	return fmt.Errorf("type %s is not registered; at the start of both programs: node.RegisterTypes(node.TypeOf[%s]())", name, name)
}

var (
	termerType = reflect.TypeFor[wire.Termer]()
	errorType  = reflect.TypeFor[error]()
	wirePath   = reflect.TypeFor[wire.PID]().PkgPath()
)

// Missing returns the type within typ that would have to be registered, or nil if there is none. builtin reports whether
// every node knows a type. A type that defines its term, by a method Term or by tags of package etf, is sent as that.
func (r *Registry) Missing(typ reflect.Type, builtin func(reflect.Type) bool) reflect.Type {
	if typ == nil || termof.Type(typ) != nil || typ.PkgPath() == wirePath {
		return nil
	}
	for _, says := range []reflect.Type{termerType, errorType} {
		if typ.Implements(says) || typ.Kind() != reflect.Interface && reflect.PointerTo(typ).Implements(says) {
			return nil
		}
	}
	if builtin(typ) || r.Has(typ) {
		return nil
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
		if missing := r.Missing(typ.Key(), builtin); missing != nil {
			return missing
		}
		return r.Missing(typ.Elem(), builtin)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return r.Missing(typ.Elem(), builtin)
	}
	return nil
}

// hasTags reports whether a struct defines its term by tags of package etf.
func hasTags(typ reflect.Type) bool {
	for i := range typ.NumField() {
		if _, ok := typ.Field(i).Tag.Lookup("etf"); ok {
			return true
		}
	}
	return false
}
