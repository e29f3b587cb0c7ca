package report

import (
	"reflect"
	"runtime"
)

// Code says where the code of a behaviour is: the name of a function, else the package of a type.
func Code(behaviour any) string {
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
