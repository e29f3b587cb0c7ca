package values

import (
	"cmp"
	"reflect"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/termof"

	"github.com/actornode/actornode/wire/etf"
)

// Codec converts values between nodes that have registered the same types, and for others. Its fields are set before it is
// used; it may be used concurrently.
type Codec struct {
	Types *Registry
	Public
}

// Public has what package node defines about the types that programs see.
type Public struct {
	// Builtin reports whether every node knows a type.
	Builtin func(reflect.Type) bool
	// Form returns a crash as a [*Crash], and the error for the exit of a process as a [*Exit]; other values unchanged.
	Form func(v any) any
	// OfForm is the inverse of Form.
	OfForm func(v any) any
	// RegisterForms registers the two types with package pack.
	RegisterForms func(*pack.Types, pack.Conversion) error
	// Own is [calls.OwnReason] with the error for the exit of a process.
	Own func(error) (term any, ok bool)
	// References are its types that are references.
	References *References
}

// Register registers errors and crashes, so that they are sent to other Go nodes as themselves.
func (c *Codec) Register() error {
	types := &c.Types.Codec
	return cmp.Or(
		pack.RegisterAs[Error](types, "$error", pack.Conversion{In: c.arrived, Lenient: true}),
		pack.RegisterAs[Reply](types, "$reply", pack.Conversion{Lenient: true}),
		pack.Register[Panic](types, "$panic"),
		c.RegisterForms(types, pack.Conversion{Out: c.Outward, In: c.Inward, Lenient: true}))
}

// arrived handles an error of another node in a message.
func (c *Codec) arrived(v any) any {
	if e, ok := v.(*Error); ok {
		e.Arrived(c)
	}
	return v
}

// Name implements Known, like Sentinel and Value.
func (c *Codec) Name(err error) string {
	if !reflect.ValueOf(err).Comparable() {
		return ""
	}
	return cmp.Or(c.Types.NameOfError(err), SentinelName(err))
}

// Sentinel returns the error with a name, or nil if there is none.
func (c *Codec) Sentinel(name string) error {
	return cmp.Or(c.Types.Error(name), Sentinel(name))
}

// Value returns what is sent for an error, or for the value of a panic.
func (c *Codec) Value(v any) (any, bool) {
	switch c.Form(v).(type) {
	case *Exit, *Crash:
		return c.Outward(v), true
	}
	if !c.Types.Has(reflect.TypeOf(v)) {
		return nil, false
	}
	enc := pack.Encoder{Types: &c.Types.Codec, Foreign: c.trial}
	_, err := enc.Append(nil, v)
	return v, err == nil
}

// trial is foreign when nothing will be sent: an error in a field is its text, because otherwise the check of what it wraps
// would start again in each.
func (c *Codec) trial(v any) (any, error) {
	if err, ok := v.(error); ok {
		return err.Error(), nil
	}
	return c.foreign(v)
}

// Foreign returns the term that a Go value represents in a message to another Go node, if its type defines one: by a method
// Term, or by tags of package etf. A value of another type would arrive as something else, so its type must be registered.
func (c *Codec) Foreign(v any) (any, error) {
	if in, ok := termof.Held(v); ok {
		return in, nil
	}
	if _, isError := v.(error); !isError {
		if typ := c.Types.Missing(reflect.TypeOf(v), c.Builtin); typ != nil {
			return nil, NotRegistered(typ)
		}
	}
	return c.foreign(v)
}

// foreign returns the representation, for a Go node, of a Go value that is neither a term nor of a registered type.
func (c *Codec) foreign(v any) (any, error) {
	if err, ok := v.(error); ok {
		if _, stands := termof.Of(err); !stands {
			return ErrorOf(err, c), nil
		}
	}
	return etf.ToTerm(v)
}
