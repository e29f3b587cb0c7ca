package pack

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
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
	if r.d.Strict && r.misfit == nil && !faults.Owns(err) && len(r.why.path) < maxOutlineText {
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
	fmt.Fprintf(&b, ": here %v, what came is %v", outlineOf(m.g.plan), outlineOfTerm(came))
	return r.misfitted(faults.New(ErrShape, "%s", b.String()))
}

// misfitted records the first such error.
func (r *reading) misfitted(err error) error {
	if r.misfit == nil {
		r.misfit = err
	}
	return err
}
