package termof

// held returns the contents of values that only wrap another one.
var held = func(any) (any, bool) { return nil, false }

// EnterHolder registers types whose values only wrap another one, by an interface that they implement: the wrapped value is
// sent to other nodes instead. It is called by only one init function.
func EnterHolder[I any](f func(I) any) {
	held = func(v any) (any, bool) {
		if v, ok := v.(I); ok {
			return f(v), true
		}
		return nil, false
	}
	EnterAll(f) // for values inside terms
}

// Held returns the value that v wraps, if v is a wrapper.
func Held(v any) (any, bool) { return held(v) }
