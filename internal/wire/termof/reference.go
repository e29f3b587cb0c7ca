package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// References are types whose values stand for something on one node that others can have, too: a
// caller that waits, a future. To a Go node goes a name, which says which kind it is, and a term, and
// the value is made anew from these there.
type References struct {
	// Is reports whether a type is one of them.
	Is func(reflect.Type) bool
	// Give returns what goes to another node. The error says why the value cannot.
	Give func(v any) (name wire.Atom, term any, err error)
	// Take is the reverse; host is the node that has got it. The error says what is wrong with the term.
	Take func(host any, name wire.Atom, term any) (v any, err error)
	// Term is what goes to a node of OTP, by way of which it may come to a Go node. The error says why
	// the value cannot.
	Term func(v any) (term any, err error)
	// Read is Take for what the value stands for in a term of OTP's nodes, where its type is known.
	Read func(host any, t reflect.Type, term any) (v any, err error)
}

var references = References{Is: func(reflect.Type) bool { return false }}

// EnterReferences says which they are. It is called by one init function only.
func EnterReferences(r References) { references = r }

// IsReference reports whether a type is one of those entered.
func IsReference(t reflect.Type) bool { return references.Is(t) }

// Give is that of the References entered, for a value of their types.
func Give(v any) (name wire.Atom, term any, err error) { return references.Give(v) }

// Reference is Term of the References entered, for a value of their types.
func Reference(v any) (term any, err error) { return references.Term(v) }

// Take is that of the References entered; there is none, or no host: ok is false.
func Take(host any, name wire.Atom, term any) (v any, ok bool, err error) {
	if references.Take == nil || host == nil {
		return nil, false, nil
	}
	v, err = references.Take(host, name, term)
	return v, true, err
}

// Read is that of the References entered; there is none, or no host: ok is false.
func Read(host any, t reflect.Type, term any) (v any, ok bool, err error) {
	if references.Read == nil || host == nil {
		return nil, false, nil
	}
	v, err = references.Read(host, t, term)
	return v, true, err
}
