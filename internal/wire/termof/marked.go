package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// TypeMark is the key of the Go type's name in a map that represents a Go value.
const TypeMark wire.Atom = "$type"

// TimeName is the name of time.Time; its map has the text of the time under TimeKey.
const (
	TimeName wire.Atom = "time.Time"
	TimeKey  wire.Atom = "time"
)

// FutureName is the name of a future; its map has the type of its value, as text, under FutureOf and its reference under
// FutureRef.
const (
	FutureName wire.Atom = "node.Future"
	FutureOf   wire.Atom = "value"
	FutureRef  wire.Atom = "ref"
)

// Marked is a Go value whose term must contain the names of types. Package etf accepts it instead of the value: the map of
// a struct, or of a pointer to one, has the name of its type under TypeMark, unless it is in a field whose type determines
// it.
type Marked struct {
	Value any
	Name  func(reflect.Type) string // of a type, or ""
}

// Hosted is a term that is read on a node. Package etf accepts it instead of the term: the references in it (see
// [References]) are made on Host.
type Hosted struct {
	Term any
	Host any
}
