package etf

import (
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
)

// Check validates the field names and tags of t, and of the types in it. It returns the error that [ToTerm] would return
// for each value, such as for two fields with one name. It does not report types that are not terms, such as channels.
func Check(t reflect.Type) error {
	return checkType(t, map[reflect.Type]bool{})
}

func checkType(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] || t == timeType || termTypes[t] || termof.IsReference(t) || t.Implements(termerType) ||
		reflect.PointerTo(t).Implements(termerType) || termof.Type(t) != nil {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Map:
		if err := checkType(t.Key(), seen); err != nil {
			return err
		}
		return checkType(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return checkType(t.Elem(), seen)
	case reflect.Struct:
		s, err := compiler{}.structure(t)
		if err != nil {
			return err
		}
		for _, f := range s.fields {
			if err := checkType(t.FieldByIndex(f.index).Type, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
