package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// Shape is the tuple that the values of a Go type are: its first atom, and how many elements it has, that
// atom included.
type Shape struct {
	First wire.Atom
	Arity int
}

var shapeOf = func(reflect.Type) (Shape, bool) { return Shape{}, false }

// EnterShapes says how Shape finds out. It is called by one init function only.
func EnterShapes(f func(reflect.Type) (Shape, bool)) { shapeOf = f }

// ShapeOf returns the tuple that the values of a struct are, as its etf tag says; false: they are no tuple that
// begins with an atom of their own.
func ShapeOf(t reflect.Type) (Shape, bool) { return shapeOf(t) }
