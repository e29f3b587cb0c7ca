package command

import (
	"reflect"
	"strings"

	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/wire"
)

// shownValue returns a copy of an answer of another node in which every text is safe to print: names, labels, states. It is
// for people; programs get the original answer. Terms, PIDs and references stay: wire.Format and shownAt format them.
func shownValue[T any](v T) T {
	if out := reflect.ValueOf(&v).Elem(); hasText(out.Type(), nil) {
		out.Set(shownOf(out))
	}
	return v
}

// hasText reports whether a value of type t contains a settable text outside of interfaces. above holds the enclosing
// types.
func hasText(t reflect.Type, above []reflect.Type) bool {
	for _, a := range above {
		if a == t {
			return false
		}
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hasText(t.Elem(), above)
	case reflect.Map:
		return hasText(t.Key(), above) || hasText(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && hasText(f.Type, above) {
				return true
			}
		}
	}
	return false
}

// shownOf is shownValue by reflection.
func shownOf(v reflect.Value) reflect.Value {
	if !hasText(v.Type(), nil) {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(printable.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(shownOf(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(shownOf(v.Index(i)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(shownOf(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for key, value := range v.Seq2() {
				out.SetMapIndex(shownOf(key), shownOf(value))
			}
		}
	case reflect.Struct:
		out.Set(v) // for unexported fields
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(shownOf(v.Field(i)))
			}
		}
	}
	return out
}

// quotedName formats a name that was made safe to print as an atom in Erlang's syntax.
func quotedName(name wire.Atom) string {
	if wire.Format(name) == string(name) {
		return string(name)
	}
	return "'" + strings.ReplaceAll(string(name), "'", `\'`) + "'"
}

// shownTerm formats a term in Erlang's syntax, safe to print: wire.Format does not escape the names of nodes in PIDs.
func shownTerm(t any) string { return printable.Text(wire.Format(t)) }

// shownReason is shownTerm for an exit reason: a binary that holds text is shown as that text.
func shownReason(t any) string {
	switch t.(type) {
	case string, []byte:
		if text, ok := wire.AsText(t); ok {
			return printable.Text(text)
		}
	}
	return shownTerm(t)
}
