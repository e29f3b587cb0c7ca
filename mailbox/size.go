package mailbox

import "reflect"

// Size estimates how many bytes a message holds: its own, and those of the
// strings, byte slices, slices, maps and structs in it, not further than
// sizeDepth pointers away.
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

const sizeDepth = 6

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
	if depth == 0 {
		return n
	}
	switch v.Kind() {
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		if plain(v.Type().Elem().Kind()) {
			return n + v.Len()*int(v.Type().Elem().Size())
		}
		for i := range v.Len() {
			n += sizeOf(v.Index(i), depth-1)
		}
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
		for it := v.MapRange(); it.Next(); {
			n += sizeOf(it.Key(), depth-1) + sizeOf(it.Value(), depth-1)
		}
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
