package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// TypeMark is the key under which a map has the name of the Go type whose value it is.
const TypeMark wire.Atom = "$type"

// TimeName is the name of time.Time, whose map has the text of the time under TimeKey.
const (
	TimeName wire.Atom = "time.Time"
	TimeKey  wire.Atom = "time"
)

// FutureName is the name of a future, whose map has the type of its value, as text, under FutureOf and
// its reference under FutureRef.
const (
	FutureName wire.Atom = "node.Future"
	FutureOf   wire.Atom = "value"
	FutureRef  wire.Atom = "ref"
)

// Marked is a Go value that is to become a term with the names of types in it. Package etf
// takes one in place of the value: the map of a struct, and that of a pointer to one, has the name of
// its type under TypeMark unless it is in a field whose type says it.
type Marked struct {
	Value any
	Name  func(reflect.Type) string // of a type; "": it has none
}

// Hosted is a term that is to be read on a node. Package etf takes one in place of the
// term: the references in it (see [References]) are made on Host.
type Hosted struct {
	Term any
	Host any
}
