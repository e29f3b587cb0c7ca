package pack

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/actornode/actornode/wire"
)

// ErrShape means that the term is complete, but a value in it does not fit the type registered under its name, or a
// reference does not have its kind. Only a strict [Decoder] returns it. It can continue with the next term after
// [Decoder.Rescue].
var ErrShape = errors.New("pack: a value that does not fit its type here")

// mismatch describes why a value does not fit its type: where, and the type there.
type mismatch struct {
	path string
	typ  reflect.Type
	text string // further details, or ""
}

// misfit is a value that does not fit its type, and is being read as a term.
type misfit struct {
	g *goType
	mismatch
}

// mismatch returns errMismatch with a text.
func (r *reading) mismatch(format string, args ...any) error {
	if r.d.Strict && r.misfit == nil {
		r.why.text = fmt.Sprintf(format, args...)
	}
	return errMismatch
}

// inPart adds a step to the path of a value that does not fit its type, typ. Only the first such value is explained, and
// only the last steps of a long path are kept.
func (r *reading) inPart(err error, step string, typ reflect.Type) error {
	if r.d.Strict && r.misfit == nil && !faults.Owns(err) && len(r.why.path) < maxShapeText {
		if r.why.typ == nil {
			r.why.typ = typ
		}
		r.why.path = step + r.why.path
	}
	return err
}

// misfits takes the reason why the current value does not fit.
func (r *reading) misfits(g *goType) *misfit {
	m := &misfit{g, r.why}
	r.why = mismatch{}
	return m
}

// doesNotFit returns the replacement for a value that does not fit and has been read as a term.
func (r *reading) doesNotFit(m *misfit, came any) error {
	if r.misfit != nil {
		return r.misfit // one error is enough
	}
	var b strings.Builder
	fmt.Fprintf(&b, "what came as %s does not fit the type of that name here", string(m.g.name))
	if m.path != "" {
		fmt.Fprintf(&b, ", at %s%s, which is of type %v", string(m.g.name), m.path, m.typ)
	}
	if m.text != "" {
		b.WriteString(": " + m.text)
	}
	fmt.Fprintf(&b, ": here %v, what came is %v", shapeOf(m.g.plan, nil), shapeOfTerm(came, 0))
	return r.misfitted(faults.New(ErrShape, "%s", b.String()))
}

// misfitted records the first such error.
func (r *reading) misfitted(err error) error {
	if r.misfit == nil {
		r.misfit = err
	}
	return err
}

// maxCameFields is the maximum number of received fields that are shown.
const maxCameFields = 64

// shapeOfTerm returns the shape of a value that has been read as a term, as far as it is visible.
func shapeOfTerm(t any, depth int) *shape {
	if depth == maxShapeDepth {
		return &shape{kind: anyShape}
	}
	switch t := t.(type) {
	case wire.Map:
		s := &shape{kind: structShape, fields: map[string]*shape{}}
		for k, v := range t.Unordered() {
			if len(s.fields) == maxCameFields {
				break
			}
			name, ok := k.(string)
			if !ok {
				return &shape{kind: "map"}
			}
			s.fields[name] = shapeOfTerm(v, depth+1)
		}
		return s
	case wire.List:
		if len(t) > 0 {
			return &shape{kind: listShape, parts: []*shape{shapeOfTerm(t[0], depth+1)}}
		}
		return &shape{kind: listShape, parts: []*shape{{kind: anyShape}}}
	case nil:
		return &shape{kind: "nil"}
	case []byte:
		return &shape{kind: "bytes"}
	case float32, float64:
		return &shape{kind: "float"}
	case error:
		return &shape{kind: anyShape}
	}
	if name := builtinNames[reflect.TypeOf(t)]; name != "" {
		return &shape{kind: name}
	}
	return &shape{kind: reflect.TypeOf(t).String()}
}
