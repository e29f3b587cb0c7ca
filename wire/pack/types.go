package pack

// Types are the Go types that travel as they are: a value of one that is sent
// arrives as a value of the type that has the same name at the other end, and a
// pointer to one as a pointer. Its zero value is ready to use; it may be used by
// many goroutines at once.
type Types struct{}

// Register makes T travel by name, which says the same type on every node, such
// as "shop.Order".
func Register[T any](t *Types, name string) error { return nil }

// TypeKey is the key under which the name of a type stands, as a string, in the
// wire.Map that a value of it arrives as where the type is not known. ValueKey is
// that of the value itself, if it is no struct.
const (
	TypeKey  = "$type"
	ValueKey = "$value"
)

type openValue struct{}

func (w *writing) registered(t any) (done bool, err error) { return false, nil }

func (r *reading) value(at int, pointer bool, next *level) (left int, v any, err error) {
	return 0, nil, r.failAt(at, ErrMalformed, "not yet")
}
func (r *reading) closeValue(l *level) (any, error) { return nil, nil }

// Bytes in their place until registered types are written.
func (r *reading) inner1(n int, next *level) (v any, open bool, err error) {
	return nil, false, r.failAt(r.pos, ErrMalformed, "not yet")
}
