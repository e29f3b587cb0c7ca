package watch

import (
	"reflect"
	"runtime"
)

// CodeOf says where the code of a behaviour is: the name of a function, else the package of a type. One that
// stands before another, and has a method Own that returns that, has that one's. "" where nothing is known, as of nil.
func CodeOf(behaviour any) string {
	if behaviour == nil {
		return ""
	}
	if b, ok := behaviour.(interface{ Own() any }); ok {
		return CodeOf(b.Own())
	}
	v := reflect.ValueOf(behaviour)
	if v.Kind() == reflect.Func {
		if f := runtime.FuncForPC(v.Pointer()); f != nil { // nil: there is no function
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
