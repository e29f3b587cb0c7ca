package termof

// held says what is in values that only hold another one.
var held = func(any) (any, bool) { return nil, false }

// EnterHolder says which types have values that only hold another one, by an interface that they have: to other
// nodes goes what is held, as if it were sent itself. It is called by one init function only.
func EnterHolder[I any](f func(I) any) {
	held = func(v any) (any, bool) {
		if v, ok := v.(I); ok {
			return f(v), true
		}
		return nil, false
	}
	EnterAll(f) // in the middle of a term
}

// Held returns what v holds, if that is all that it does.
func Held(v any) (any, bool) { return held(v) }
