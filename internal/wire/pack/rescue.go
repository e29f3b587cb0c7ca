package pack

import (
	"errors"

	"github.com/actornode/actornode/wire"
)

// IsWhole reports whether an error of [Decoder.Term] says that all bytes of the term are there and well-formed as far as
// that matters to what follows, and only the term cannot be taken: [ErrLimit], [ErrShared] or [ErrShape]. Then
// [Decoder.Rescue] must be called before the decoder can go on.
func IsWhole(err error) bool {
	return errors.Is(err, ErrLimit) || errors.Is(err, ErrShared) || errors.Is(err, ErrShape)
}

// maxRescued is how many elements of a tuple are looked at: a request has three.
const maxRescued = 3

// Rescue reads again a term for which Term has returned an error of [IsWhole], takes the definitions in it into Dict, and
// returns the bytes behind it. It returns what can be said of the term, too: all but what wrong references stand for, which is
// nil; where it is beyond a limit, of a tuple of 2 or 3 elements those before the first that cannot be read, and nil for the
// others; else nil. It takes no memory for what it passes over, whatever the depth. With an error, which says that the term is
// malformed after all, it returns the same.
func (d *Decoder) Rescue(b []byte) (term any, rest []byte, err error) {
	r := reading{d: d, b: b}
	if term, err = r.all(); err == nil {
		return term, b[r.pos:], nil
	}
	term = d.beginning(b) // before the definitions behind it, which may replace those in it
	if rest, err = d.pass(b); err != nil {
		return term, b, err
	}
	return term, rest, nil
}

// beginning reads the elements of a tuple up to the first that cannot be read. It is nil if b begins with no tuple.
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

// pass finds the end of a term, and does what is defined in it.
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

// definition reads what comes next if it gives an atom or a node a place in the dictionary.
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
