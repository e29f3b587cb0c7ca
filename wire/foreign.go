package wire

import (
	"cmp"
	"reflect"
	"strings"
)

// A foreign value is a Go value that is not a term: a struct that local actors send each other, an error, a channel. A term
// may contain one as long as it stays on its node; encoders refuse it.

// compareForeign orders two foreign values by the name of their type, then, if
// the type's kind is an integer, float or string, by value. Everything else ties.
func compareForeign(a, b any) int {
	ta, tb := reflect.TypeOf(a), reflect.TypeOf(b)
	if ta != tb {
		return strings.Compare(ta.String(), tb.String())
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case va.CanInt():
		return cmp.Compare(va.Int(), vb.Int())
	case va.CanUint():
		return cmp.Compare(va.Uint(), vb.Uint())
	case va.CanFloat():
		return cmp.Compare(va.Float(), vb.Float())
	case va.Kind() == reflect.String:
		return strings.Compare(va.String(), vb.String())
	}
	return 0
}

// sameForeign reports whether two foreign values are equal: by == if they are comparable, slices and maps by identity,
// functions never.
func sameForeign(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	switch va.Kind() {
	case reflect.Slice, reflect.Map:
		return va.Len() == vb.Len() && va.Pointer() == vb.Pointer()
	}
	return va.Comparable() && vb.Comparable() && a == b
}
