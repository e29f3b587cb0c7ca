package pack

import (
	"errors"

	"github.com/actornode/actornode/wire"
)

// IsWhole reports whether an error of [Decoder.Term] concerns only the term, whose bytes are complete and well-formed as
// far as the following data is concerned: [ErrLimit] or [ErrShape]. Then [Decoder.Rescue] must be called before the decoder
// can continue.
func IsWhole(err error) bool { return errors.Is(err, ErrLimit) || errors.Is(err, ErrShape) }

// maxRescued is the maximum number of examined elements of a tuple: a request has three.
const maxRescued = 3

// Rescue reads a term again after Term has returned an error of [IsWhole], adds its definitions to Dict, and returns the
// bytes after it. It also returns the readable part of the term: with a value that does not fit its type, everything, with
// an error for the value; for a tuple of 2 or 3 elements that exceeds a limit, the elements before the first unreadable one,
// and nil for the others; otherwise nil. It allocates no memory for skipped data of any depth. An error means that the term is
// malformed after all; the other results are the same.
func (d *Decoder) Rescue(b []byte) (term any, rest []byte, err error) {
	r := reading{d: d, b: b}
	if term, err = r.all(); err == nil {
		return term, b[r.pos:], nil
	}
	term = d.beginning(b) // before later definitions, which may replace those in it
	if rest, err = d.pass(b); err != nil {
		return term, b, err
	}
	return term, rest, nil
}

// beginning reads the elements of a tuple up to the first unreadable one. It returns nil if b does not begin with a tuple.
func (d *Decoder) beginning(b []byte) any {
	if len(b) < 2 || b[0] < fixArray+1+2 || b[0] > fixArray+1+maxRescued || b[1] != tagNil {
		return nil
	}
	t := make(wire.Tuple, b[0]-fixArray-1)
	b = b[2:]
	for i := range t {
		var err error
		if t[i], b, err = d.Term(b); err != nil {
			t[i] = nil
			break
		}
	}
	return t
}

// pass finds the end of a term, and applies the definitions in it.
func (d *Decoder) pass(b []byte) (rest []byte, err error) {
	r := reading{d: d, b: b}
	for objects := 1; objects > 0; objects-- {
		if done, err := r.definition(); err != nil {
			return nil, err
		} else if done {
			continue
		}
		n, err := r.skipHead()
		if err != nil {
			return nil, err
		}
		if n > len(b)-r.pos-(objects-1) {
			return nil, r.cut(n, "the elements of an array or a map")
		}
		objects += n
	}
	return b[r.pos:], nil
}

// definition reads the next object if it assigns an atom or a node a place in the dictionary.
func (r *reading) definition() (done bool, err error) {
	if r.d.Dict == nil || r.pos >= len(r.b) {
		return false, nil
	}
	kind, ok := extKind(r.b[r.pos:])
	if !ok || kind != extAtomNew && kind != extPID && kind != extRef && kind != extPort {
		return false, nil
	}
	_, n, err := r.anyExt("a definition")
	if err != nil {
		return false, err
	}
	end := r.pos + n
	switch {
	case kind == extAtomNew:
		_, err = r.atom(kind, n)
	case n > 0 && r.b[r.pos] == originNew:
		_, _, err = r.origin(n)
	}
	r.pos = end
	return true, err
}
