package pack

import (
	"slices"
	"strings"
)

// shape describes the structure of a type's values, for errors.
type shape struct {
	kind   string
	parts  []*shape
	fields map[string]*shape
}

// Kinds of shapes with parts, and the wildcard.
const (
	listShape   = "[]"
	mapShape    = "map[]"
	structShape = "struct"
	anyShape    = "…" // unknown: for a recursive or too deeply nested type
)

// Limits for a shape, in levels and in characters.
const (
	maxShapeDepth = 16
	maxShapeText  = 400
)

// shapeOf returns the shape of a type; open are the enclosing types.
func shapeOf(pl *plan, open []*plan) *shape {
	if len(open) >= maxShapeDepth || slices.Contains(open, pl) {
		return &shape{kind: anyShape}
	}
	open = append(open, pl)
	switch pl.op {
	case opPointer:
		return shapeOf(pl.elem, open)
	case opSlice, opArray:
		return &shape{kind: listShape, parts: []*shape{shapeOf(pl.elem, open)}}
	case opMap:
		return &shape{kind: mapShape, parts: []*shape{shapeOf(pl.key, open), shapeOf(pl.elem, open)}}
	case opStruct:
		s := &shape{kind: structShape, fields: map[string]*shape{}}
		for i := range pl.fields {
			s.fields[pl.fields[i].name] = shapeOf(pl.fields[i].plan, open)
		}
		return s
	}
	return &shape{kind: kindOf(pl)}
}

// kindOf returns the kind of a type without parts.
func kindOf(pl *plan) string {
	switch pl.op {
	case opBool:
		return "bool"
	case opFloat32, opFloat64:
		return "float"
	case opString:
		return "string"
	case opBytes, opByteArray:
		return "bytes"
	case opAny:
		return "any"
	case opError:
		return "error"
	case opTime, opAtom, opPID, opRef, opTerm:
		return builtinNames[pl.typ]
	case opMethod:
		return "by methods"
	}
	return "int"
}

func sortedFields(s *shape) []string {
	names := make([]string, 0, len(s.fields))
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String returns s for people, truncated if it is long.
func (s *shape) String() string {
	var b strings.Builder
	s.write(&b)
	if text := []rune(b.String()); len(text) > maxShapeText {
		return string(text[:maxShapeText]) + "…"
	}
	return b.String()
}

func (s *shape) write(b *strings.Builder) {
	if b.Len() > 4*maxShapeText {
		return
	}
	switch s.kind {
	case listShape:
		b.WriteString("[]")
		s.parts[0].write(b)
	case mapShape:
		b.WriteString("map[")
		s.parts[0].write(b)
		b.WriteString("]")
		s.parts[1].write(b)
	case structShape:
		b.WriteString("{")
		for i, name := range sortedFields(s) {
			b.WriteString([]string{"", ", "}[min(i, 1)] + name + " ")
			s.fields[name].write(b)
		}
		b.WriteString("}")
	default:
		b.WriteString(s.kind)
	}
}
