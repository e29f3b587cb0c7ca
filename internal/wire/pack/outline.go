package pack

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/actornode/actornode/wire"
)

// Limits for an outline, in levels, characters, and fields of a received value.
const (
	maxOutlineDepth  = 16
	maxOutlineText   = 400
	maxOutlineFields = 64
)

// outline writes the structure of a type or a value, for errors. It stops when it has written enough.
type outline struct{ b strings.Builder }

// String returns what has been written, truncated if it is long.
func (o *outline) String() string {
	if text := []rune(o.b.String()); len(text) > maxOutlineText {
		return string(text[:maxOutlineText]) + "…"
	}
	return o.b.String()
}

// ends reports whether no more is to be written: … stands for the rest.
func (o *outline) ends(depth int) bool {
	ends := depth == maxOutlineDepth || o.b.Len() > 4*maxOutlineText
	if ends {
		o.b.WriteString("…")
	}
	return ends
}

// outlineOf returns the outline of the values of a type.
func outlineOf(pl *plan) string {
	var o outline
	o.plan(pl, nil)
	return o.String()
}

// plan writes the outline of a type; open are the types around it.
func (o *outline) plan(pl *plan, open []*plan) {
	if slices.Contains(open, pl) {
		o.b.WriteString("…")
		return
	}
	if o.ends(len(open)) {
		return
	}
	open = append(open, pl)
	switch pl.op {
	case opPointer:
		o.plan(pl.elem, open)
	case opSlice, opArray:
		o.b.WriteString("[]")
		o.plan(pl.elem, open)
	case opMap:
		o.b.WriteString("map[")
		o.plan(pl.key, open)
		o.b.WriteString("]")
		o.plan(pl.elem, open)
	case opStruct:
		fields := map[string]*plan{}
		for i := range pl.fields {
			fields[pl.fields[i].name] = pl.fields[i].plan
		}
		writeFields(o, fields, func(pl *plan) { o.plan(pl, open) })
	default:
		o.b.WriteString(kindOf(pl))
	}
}

// writeFields writes the outline of a struct, with its fields in order of their names.
func writeFields[F any](o *outline, fields map[string]F, write func(F)) {
	o.b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			o.b.WriteString(", ")
		}
		o.b.WriteString(name + " ")
		write(fields[name])
	}
	o.b.WriteString("}")
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

// outlineOfTerm returns the outline of a value that has been read as a term, as far as it is visible.
func outlineOfTerm(t any) string {
	var o outline
	o.term(t, 0)
	return o.String()
}

func (o *outline) term(t any, depth int) {
	if o.ends(depth) {
		return
	}
	switch t := t.(type) {
	case wire.Map:
		fields := map[string]any{}
		for k, v := range t.Unordered() {
			name, ok := k.(string)
			if !ok {
				o.b.WriteString("map")
				return
			}
			if fields[name] = v; len(fields) == maxOutlineFields {
				break
			}
		}
		writeFields(o, fields, func(v any) { o.term(v, depth+1) })
	case wire.List:
		o.b.WriteString("[]")
		if len(t) == 0 {
			o.b.WriteString("…")
			return
		}
		o.term(t[0], depth+1)
	case nil:
		o.b.WriteString("nil")
	case []byte:
		o.b.WriteString("bytes")
	case float32, float64:
		o.b.WriteString("float")
	case error:
		o.b.WriteString("…")
	default:
		if name := builtinNames[reflect.TypeOf(t)]; name != "" {
			o.b.WriteString(name)
		} else {
			o.b.WriteString(reflect.TypeOf(t).String())
		}
	}
}
