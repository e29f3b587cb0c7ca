package termof

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// Shape describes the tuples of a Go type's values: the first atom, and the number of elements including that atom.
type Shape struct {
	First wire.Atom
	Arity int
}

var shapeOf = func(reflect.Type) (Shape, bool) { return Shape{}, false }

// EnterShapes registers the function behind ShapeOf. It is called by only one init function.
func EnterShapes(f func(reflect.Type) (Shape, bool)) { shapeOf = f }

// ShapeOf returns the shape of a struct's tuples, according to its etf tag, or false if they are not tuples with a fixed
// first atom.
func ShapeOf(t reflect.Type) (Shape, bool) { return shapeOf(t) }
