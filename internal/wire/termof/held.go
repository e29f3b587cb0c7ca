package termof

// Key is the argument of methods that are only for packages of this module: others cannot name it.
type Key struct{}

// Holder is a value that only wraps another one, which is sent to other nodes instead.
type Holder interface{ Inside(Key) any }

// Held returns the value that v wraps, if v is a Holder.
func Held(v any) (any, bool) {
	h, ok := v.(Holder)
	if !ok {
		return nil, false
	}
	return h.Inside(Key{}), true
}
