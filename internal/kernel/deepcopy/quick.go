package deepcopy

import (
	"maps"
	"reflect"
	"unsafe"
)

// quickMap returns the function that copies a map of a common type with plain keys and values, or nil. Reflection takes twice
// the time.
func quickMap(t reflect.Type) func(unsafe.Pointer) {
	for _, q := range quicks {
		if t == q.typ || t.ConvertibleTo(q.typ) && t.Key() == q.typ.Key() && t.Elem() == q.typ.Elem() {
			return q.copy
		}
	}
	return nil
}

var quicks = []struct {
	typ  reflect.Type
	copy func(unsafe.Pointer)
}{
	{reflect.TypeFor[map[string]string](), quick[string, string]},
	{reflect.TypeFor[map[string]int](), quick[string, int]},
	{reflect.TypeFor[map[string]int64](), quick[string, int64]},
	{reflect.TypeFor[map[string]float64](), quick[string, float64]},
	{reflect.TypeFor[map[string]bool](), quick[string, bool]},
	{reflect.TypeFor[map[string]struct{}](), quick[string, struct{}]},
	{reflect.TypeFor[map[int]string](), quick[int, string]},
	{reflect.TypeFor[map[int]int](), quick[int, int]},
	{reflect.TypeFor[map[int]bool](), quick[int, bool]},
	{reflect.TypeFor[map[int]float64](), quick[int, float64]},
	{reflect.TypeFor[map[int64]int64](), quick[int64, int64]},
	{reflect.TypeFor[map[int64]string](), quick[int64, string]},
	{reflect.TypeFor[map[uint64]uint64](), quick[uint64, uint64]},
	{reflect.TypeFor[map[uint64]string](), quick[uint64, string]},
}

func quick[K comparable, V any](p unsafe.Pointer) {
	m := (*map[K]V)(p)
	*m = maps.Clone(*m)
}
