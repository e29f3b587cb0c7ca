package native

import (
	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/internal/pack"
)

func init() { linkopt.Codec = func(types any) any { return &types.(*Types).types } }

// Types are the Go types that travel as they are: a value of one that is sent
// arrives as a value of the type that has the same name at the other end, and a
// pointer to one as a pointer. Its zero value is ready to use; it may be used by
// many goroutines at once, and must not be copied.
type Types struct{ types pack.Types }

// RegisterType makes T, and a pointer to T, travel under a name that says the same on
// every node, such as "shop.Order". Its exported fields travel, under their names or
// their tags `msgpack:"…"`, and may be of all types but channels,
// functions, complex numbers and interfaces other than any and error; those of type any may
// hold terms and values of registered types. Package pack has the details.
//
// A node that does not know the name, or knows another type by it, gets a wire.Map: the
// fields, under their names as strings, and the name of the type under the atom $type. A
// value that is no struct stands under the atom $value. An OTP node gets the term that the
// value stands for.
//
// It is an error, which says why, if the name or the type is taken, or the type holds what
// cannot travel.
func RegisterType[T any](t *Types, name string) error {
	return pack.Register[T](&t.types, name)
}
