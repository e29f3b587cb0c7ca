package wire

import (
	"cmp"
	"reflect"
	"strings"
)

// A foreign value is a Go value that is no term: a struct that local actors
// send each other, an error, a channel. It may stand inside a term as long as
// the term stays on its node; no encoder takes it.

// compareForeign orders two foreign values by the name of their type, then, if
// the type's kind is an integer, float or string, by value. All else ties.
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

// sameForeign reports whether two foreign values are one: by == where Go
// allows it, slices and maps by identity, functions never.
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
