package values

import (
	"cmp"
	"reflect"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/termof"

	"github.com/actornode/actornode/wire/etf"
)

// Codec is how values cross between the nodes that have registered the same, and others. Its fields are set
// before it is used; many goroutines may use it at once.
type Codec struct {
	Types *Registry
	Public
}

// Public is what package node says of the types that programs see.
type Public struct {
	// Builtin reports whether every node knows a type.
	Builtin func(reflect.Type) bool
	// Form returns a crash as a [*Crash], and the error that says how a process has exited as a
	// [*Exit]; another value as it is.
	Form func(v any) any
	// OfForm is the reverse.
	OfForm func(v any) any
	// RegisterForms makes the two types known to package pack.
	RegisterForms func(*pack.Types, pack.Conversion) error
	// Own is [calls.OwnReason] of the error that says how a process has exited.
	Own func(error) (term any, ok bool)
	// References are those of its types that are references.
	References *References
}

// Register has errors and crashes cross as they are to nodes of this kind.
func (c *Codec) Register() error {
	types := &c.Types.Codec
	return cmp.Or(
		pack.RegisterAs[Error](types, "$error", pack.Conversion{In: c.arrived, Lenient: true}),
		pack.RegisterAs[Reply](types, "$reply", pack.Conversion{Lenient: true}),
		pack.Register[Panic](types, "$panic"),
		c.RegisterForms(types, pack.Conversion{Out: c.Outward, In: c.Inward, Lenient: true}))
}

// arrived is an error of another node in a message.
func (c *Codec) arrived(v any) any {
	if e, ok := v.(*Error); ok {
		e.Arrived(c)
	}
	return v
}

// Name is part of Known, and so are the next two.
func (c *Codec) Name(err error) string {
	if !reflect.ValueOf(err).Comparable() {
		return ""
	}
	return cmp.Or(c.Types.NameOfError(err), SentinelName(err))
}

// Sentinel returns the error of a name, nil: there is none.
func (c *Codec) Sentinel(name string) error {
	return cmp.Or(c.Types.Error(name), Sentinel(name))
}

// Value returns what crosses in the place of an error, or of the value of a panic.
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

// trial is foreign where nothing will be sent: an error in a field is its text, or to look at what
// it wraps would begin anew in each.
func (c *Codec) trial(v any) (any, error) {
	if err, ok := v.(error); ok {
		return err.Error(), nil
	}
	return c.foreign(v)
}

// Foreign is the term that a Go value stands for in a message to another node of this kind, if
// its type says one: by a method Term, or by tags of package etf. A value of another type
// would arrive as something else than it is, so its type must be registered.
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

// foreign is what stands for a Go value that is neither a term nor of a registered type, towards
// a node of this kind.
func (c *Codec) foreign(v any) (any, error) {
	if err, ok := v.(error); ok {
		if _, stands := termof.Of(err); !stands {
			return ErrorOf(err, c), nil
		}
	}
	return etf.ToTerm(v)
}
