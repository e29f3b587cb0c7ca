package etf

import (
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
)

func init() { termof.EnterShapes(shapeOf) }

// shapeOf is termof.ShapeOf.
func shapeOf(t reflect.Type) (termof.Shape, bool) {
	if t.Kind() != reflect.Struct || t == timeType || termTypes[t] || reflect.PointerTo(t).Implements(receiverType) {
		return termof.Shape{}, false
	}
	c := compiler{}
	s, err := c.structure(t)
	if err != nil || s.shape != shapeTuple || !s.tagged {
		return termof.Shape{}, false
	}
	return termof.Shape{First: s.tag, Arity: 1 + len(s.fields)}, true
}
