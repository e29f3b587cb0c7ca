package watch

import (
	"reflect"
	"runtime"
)

// CodeOf returns where the code of a behaviour is: the name of a function, otherwise the package of a type. A wrapper with a
// method Own that returns the wrapped behaviour has that one's. It returns "" if nothing is known, as for nil.
func CodeOf(behaviour any) string {
	if behaviour == nil {
		return ""
	}
	if b, ok := behaviour.(interface{ Own() any }); ok {
		return CodeOf(b.Own())
	}
	v := reflect.ValueOf(behaviour)
	if v.Kind() == reflect.Func {
		if f := runtime.FuncForPC(v.Pointer()); f != nil { // nil if there is no function
			return f.Name()
		}
		return ""
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
