package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// References handles types whose values refer to something on one node, such as a waiting caller or a future, and can be
// sent to other nodes. A Go node gets a name, which is the kind, and a term, from which it remakes the value.
type References struct {
	// Is reports whether a type is such a type.
	Is func(reflect.Type) bool
	// Give returns the name and the term for another Go node, or an error if the value cannot be sent.
	Give func(v any) (name wire.Atom, term any, err error)
	// Take is the reverse; host is the receiving node. It returns an error for an invalid term.
	Take func(host any, name wire.Atom, term any) (v any, err error)
	// Term returns the term for an OTP node, which may forward it to a Go node, or an error if the value cannot be sent.
	Term func(v any) (term any, err error)
	// Read is Take for the term of an OTP node, if the type is known.
	Read func(host any, t reflect.Type, term any) (v any, err error)
}

var references = References{Is: func(reflect.Type) bool { return false }}

// EnterReferences registers the References. It is called by only one init function.
func EnterReferences(r References) { references = r }

// IsReference reports whether t is the type of a reference.
func IsReference(t reflect.Type) bool { return references.Is(t) }

// Give calls Give of the registered References.
func Give(v any) (name wire.Atom, term any, err error) { return references.Give(v) }

// Reference calls Term of the registered References.
func Reference(v any) (term any, err error) { return references.Term(v) }

// Take calls Take of the registered References. ok is false if there are none, or no host.
func Take(host any, name wire.Atom, term any) (v any, ok bool, err error) {
	if references.Take == nil || host == nil {
		return nil, false, nil
	}
	v, err = references.Take(host, name, term)
	return v, true, err
}

// Read calls Read of the registered References. ok is false if there are none, or no host.
func Read(host any, t reflect.Type, term any) (v any, ok bool, err error) {
	if references.Read == nil || host == nil {
		return nil, false, nil
	}
	v, err = references.Read(host, t, term)
	return v, true, err
}
