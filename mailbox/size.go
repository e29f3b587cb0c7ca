package mailbox

import (
	"reflect"
	"sync"
)

// Size estimates how many bytes a message holds: its own, and those of the
// strings, byte slices, slices, maps and structs in it, not further than
// sizeDepth pointers away. A value whose type holds a lock or an atomic belongs to those who share it, who may write it
// meanwhile: nothing in it is looked at, and it counts with its own bytes. Of more than maxParts parts the rest is
// taken to be as large as those before.
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
	maxParts  = 1024 // of one slice, array or map that are looked at
)

var guarded sync.Map // reflect.Type to bool

// isGuarded reports whether a value of a type has a lock or an atomic in it, not behind a pointer.
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

// guards reports whether a field of a type guards its struct: a lock, or a pointer to one, or what has one in it.
func guards(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		path := t.Elem().PkgPath()
		return path == "sync" || path == "sync/atomic"
	}
	return isGuarded(t)
}

// rest is the size of n parts of which so many have been looked at, and have size bytes.
func rest(size, looked, n int) int {
	if looked == 0 || looked == n {
		return size
	}
	return size / looked * n
}

// What such values point to belongs to the node, which changes it meanwhile, and is no part of the
// message.
var (
	answerer = reflect.TypeFor[interface { // a request, and what its reply goes to
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
