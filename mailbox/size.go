package mailbox

import (
	"reflect"
	"sync"
)

// Size estimates the number of bytes in a message: its own, and those of the strings, byte slices, slices, maps and structs
// in it, up to sizeDepth pointers away. A value whose type contains a lock or an atomic may be written by others meanwhile:
// Size does not look into it and counts only its own bytes. After maxParts parts, the remaining ones are assumed to be of
// the same average size.
func Size(msg any) int {
	switch m := msg.(type) {
	case nil:
		return 0
	case []byte:
		return 24 + len(m)
	case string:
		return 16 + len(m)
	}
	return sizeOf(reflect.ValueOf(msg), sizeDepth)
}

const (
	sizeDepth = 6
	maxParts  = 1024 // examined parts of one slice, array or map
)

var guarded sync.Map // reflect.Type to bool

// isGuarded reports whether a type contains a lock or an atomic, not behind a pointer.
func isGuarded(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isGuarded(t.Elem())
	case reflect.Struct:
	default:
		return false
	}
	if is, ok := guarded.Load(t); ok {
		return is.(bool)
	}
	is := t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic"
	for i := 0; i < t.NumField() && !is; i++ {
		is = guards(t.Field(i).Type)
	}
	guarded.Store(t, is)
	return is
}

// guards reports whether a field of a type guards its struct: a lock, a pointer to one, or a value that contains one.
func guards(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		path := t.Elem().PkgPath()
		return path == "sync" || path == "sync/atomic"
	}
	return isGuarded(t)
}

// rest estimates the size of the remaining parts of n, of which looked parts have size bytes.
func rest(size, looked, n int) int {
	if looked == 0 || looked == n {
		return size
	}
	return size / looked * n
}

// The targets of such values belong to the node, which changes them concurrently; they are not part of the message.
var (
	answerer = reflect.TypeFor[interface { // a request, and the destination of its reply
		Reply(any) error
		Pending() bool
	}]()
	ends = reflect.TypeFor[interface{ Done() <-chan struct{} }]() // a future, a node, a context
)

func sizeOf(v reflect.Value, depth int) int {
	if !v.IsValid() {
		return 0
	}
	n := int(v.Type().Size())
	if depth == 0 || isGuarded(v.Type()) {
		return n
	}
	switch v.Kind() {
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		if plain(v.Type().Elem().Kind()) {
			return n + v.Len()*int(v.Type().Elem().Size())
		}
		parts, looked := 0, min(v.Len(), maxParts)
		for i := range looked {
			parts += sizeOf(v.Index(i), depth-1)
		}
		n += rest(parts, looked, v.Len())
	case reflect.Array, reflect.Struct:
		n = 0
		answers := v.Kind() == reflect.Struct && v.Type().Implements(answerer)
		for i := range fields(v) {
			if answers && !v.Type().Field(i).IsExported() {
				n += int(v.Field(i).Type().Size())
				continue
			}
			n += sizeOf(field(v, i), depth)
		}
	case reflect.Map:
		parts, looked := 0, 0
		for it := v.MapRange(); looked < maxParts && it.Next(); looked++ {
			parts += sizeOf(it.Key(), depth-1) + sizeOf(it.Value(), depth-1)
		}
		n += rest(parts, looked, v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !v.Type().Implements(ends) {
			n += sizeOf(v.Elem(), depth-1)
		}
	}
	return n
}

func plain(k reflect.Kind) bool { return k <= reflect.Complex128 }

func fields(v reflect.Value) int {
	if v.Kind() == reflect.Array {
		return v.Len()
	}
	return v.NumField()
}

func field(v reflect.Value, i int) reflect.Value {
	if v.Kind() == reflect.Array {
		return v.Index(i)
	}
	return v.Field(i)
}
