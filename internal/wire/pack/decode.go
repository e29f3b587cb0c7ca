package pack

import (
	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/wire"
)

// Decoder reads terms. The zero value is ready to use for standalone terms. It belongs to one goroutine at a time.
type Decoder struct {
	// Dict holds the peer's definitions so far; the decoder adds to it. If Dict is nil, terms that use a cache are
	// malformed.
	Dict *DecodeDict
	// Types are the Go types that may occur besides terms.
	Types *Types
	// Limits bounds the memory and time that the input can require.
	Limits Limits
	// Alias lets binaries and texts of at least [Large] bytes share the memory of the input, which must not be changed
	// afterwards. Everything else is copied.
	Alias bool
	// Erlang makes the decoder return the types of Erlang terms: see the package's documentation.
	Erlang bool
	// Strict makes it an error, [ErrShape], if a value does not fit the type registered under its name, or a reference's
	// term does not have its kind. [Decoder.Rescue] then returns the term with an error in the value's place.
	Strict bool
	// Host is the node for which references are made, or nil if none are made.
	Host any

	plain wire.Origin // the last one without a place
	ints  box.Ints    // preallocated for later integers
}

// Decode reads the standalone term at the beginning of b, like a [Decoder] without types.
func Decode(b []byte) (term any, rest []byte, err error) { return new(Decoder).Term(b) }

// Term reads the term at the beginning of b and returns the bytes after it. The error is [ErrCut], [ErrMalformed],
// [ErrLimit] or [ErrShape]; it has the offset in b.
func (d *Decoder) Term(b []byte) (term any, rest []byte, err error) {
	if len(b) > 1 && b[0] == tagBin8 && int(b[1]) <= len(b)-2 { // fast path for short binaries
		data := b[2 : 2+int(b[1])]
		return box.Bytes(data), b[2+len(data):], nil
	}
	var r reading // set field by field, because Go would copy a literal
	r.d, r.b = d, b
	if term, err = r.all(); err == nil {
		err = r.misfit
	}
	if err != nil {
		return nil, b, err
	}
	return term, b[r.pos:], nil
}

// Atom is [Decoder.Term] for an atom.
func (d *Decoder) Atom(b []byte) (a wire.Atom, rest []byte, err error) {
	r := reading{d: d, b: b}
	if a, err = r.atomHere("an atom"); err != nil {
		return "", b, err
	}
	return a, b[r.pos:], nil
}

// PID is [Decoder.Term] for a pid.
func (d *Decoder) PID(b []byte) (p wire.PID, rest []byte, err error) {
	r := reading{d: d, b: b}
	if p, err = r.pidHere("a pid"); err != nil {
		return wire.PID{}, b, err
	}
	return p, b[r.pos:], nil
}

// Ref is [Decoder.Term] for a reference.
func (d *Decoder) Ref(b []byte) (ref wire.Ref, rest []byte, err error) {
	r := reading{d: d, b: b}
	n, err := r.extHere(extRef, "a reference")
	if err == nil {
		ref, err = r.ref(n)
	}
	if err != nil {
		return wire.Ref{}, b, err
	}
	return ref, b[r.pos:], nil
}

// Int reads an integer that fits.
func Int(b []byte) (n int64, rest []byte, err error) {
	r := reading{b: b}
	if n, err = r.intHere("an integer"); err != nil {
		return 0, b, err
	}
	return n, b[r.pos:], nil
}

// Uint reads a non-negative integer that fits.
func Uint(b []byte) (n uint64, rest []byte, err error) {
	if len(b) > 0 && b[0] == tagUint64 {
		r := reading{b: b, pos: 1}
		x, err := r.take(8, "an integer")
		if err != nil {
			return 0, b, err
		}
		return uint64(bigEndian(x)), b[r.pos:], nil
	}
	i, rest, err := Int(b)
	if err == nil && i < 0 {
		return 0, b, faults.New(ErrMalformed, "offset 0: expected an integer that is not negative, not %d", i)
	}
	return uint64(i), rest, err
}

// reading is one term being read.
//
//  1. Every term that an open level waits for is counted in pending, and pending never exceeds the remaining bytes. So the
//     slots of all levels together take at most 16 bytes per byte of input, regardless of the lengths in it.
//  2. Nothing is allocated before the corresponding bytes are known to be present.
type reading struct {
	d          *Decoder
	b          []byte
	pos        int // of the byte to read next
	pending    int // terms that open levels wait for
	slots      int // made so far
	weight     int // additional elements for values that take more memory
	limits     Limits
	standalone bool // inside a registered value, where the cache is not used
	inner      int  // registered values around this one
	// untyped is set inside a value that does not fit its type. Values in it are not tried again, because the time would
	// double with each level of nesting.
	untyped bool

	misfit error    // the first value that does not fit its type, if the decoder is strict
	why    mismatch // why the current value does not fit
}

// level is a partly read compound term.
type level struct {
	kind  levelKind
	keys  int32    // how many keys of maps it is inside of
	slots []any    // its parts; not for a map
	i     int      // filled slots; for a map, remaining terms
	pairs wire.Map // of a map
	key   any      // of a map: the key that waits for its value
	fun   *wire.Fun
	value *openValue // of a value or a term inside one
}

// all reads one term with all its parts.
func (r *reading) all() (any, error) {
	var next level
	v, open, err := r.head(&next)
	switch {
	case err != nil:
		return nil, err
	case open:
		return r.compound(&next)
	case r.d.Erlang:
		return r.fromErlang(0, v)
	}
	return v, nil
}

// compound reads the parts of a term, keeping its depth on the heap.
func (r *reading) compound(next *level) (any, error) {
	r.limits = r.d.Limits.filled()
	if err := r.nest(nil, next); err != nil {
		return nil, err
	}
	var buf [4]level
	stack := append(buf[:0], *next)
	for {
		r.pending--
		at := r.pos
		v, open, err := r.head(next)
		if r.d.Erlang && !open && err == nil {
			v, err = r.fromErlang(at, v)
		}
		if err != nil {
			return nil, err
		}
		if open {
			if err := r.nest(stack, next); err != nil {
				return nil, err
			}
			stack = append(stack, *next)
			continue
		}
		for {
			top := &stack[len(stack)-1]
			done, err := r.fill(top, v)
			if err != nil {
				return nil, err
			}
			if !done {
				break
			}
			if v, err = r.close(top); err != nil {
				return nil, err
			}
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return v, nil
			}
		}
	}
}

// nest checks that another level may be opened within those of stack.
func (r *reading) nest(stack []level, next *level) error {
	if len(stack) >= r.limits.Depth {
		return r.failAt(r.pos, ErrLimit, "terms nested deeper than %d levels", r.limits.Depth)
	}
	if r.slots > r.limits.Elements {
		return r.failAt(r.pos, ErrLimit, "more than %d elements", r.limits.Elements)
	}
	if len(stack) > 0 {
		top := &stack[len(stack)-1]
		next.keys = top.keys
		if top.kind == inMap && top.i%2 == 0 {
			next.keys++
		}
		if next.kind == inMap && int(next.keys) > r.limits.Keys {
			return r.failAt(r.pos, ErrLimit, "maps nested in keys of maps deeper than %d", r.limits.Keys)
		}
		if next.kind == inMap && next.i > 2*maxSorted && int(next.keys) > r.limits.LargeKeys {
			return r.failAt(r.pos, ErrLimit, "a map of more than %d pairs nested in keys of maps deeper than %d", maxSorted,
				r.limits.LargeKeys)
		}
	}
	return nil
}

// maxSorted is the size up to which package wire keeps a map sorted.
const maxSorted = 32

// maxPrealloc is the maximum number of pairs of a map for which memory is allocated before they have been read.
const maxPrealloc = 1 << 12

// fill puts v where l waits for it and reports whether l is complete.
func (r *reading) fill(l *level, v any) (done bool, err error) {
	if l.kind != inMap {
		l.slots[l.i] = v
		l.i++
		return l.i == len(l.slots), nil
	}
	l.i--
	if l.i%2 == 1 {
		l.key = v
		return false, nil
	}
	n := l.pairs.Len()
	l.pairs.Put(l.key, v)
	if l.pairs.Len() == n {
		return false, r.failAt(r.pos, ErrMalformed, "a map has a key twice; the second pair ends here")
	}
	l.key = nil
	return l.i == 0, nil
}

// close returns the term of a complete level.
func (r *reading) close(l *level) (any, error) {
	switch l.kind {
	case inTuple:
		return wire.Tuple(l.slots), nil
	case inList:
		return wire.List(l.slots), nil
	case inMap:
		return l.pairs, nil
	case inImproper:
		switch l.slots[0].(type) {
		case nil, wire.List, wire.ImproperList:
			return nil, r.failAt(r.pos, ErrMalformed, "a list in the tail of a list that ends here")
		}
		return wire.ImproperList{Head: l.slots[1:], Tail: l.slots[0]}, nil
	case inFun:
		l.fun.Free = l.slots
		return *l.fun, nil
	case inReference:
		return r.closeReference(l), nil
	}
	return r.closeValue(l)
}

// head reads a term without parts, or else opens a level for the parts.
func (r *reading) head(next *level) (v any, open bool, err error) {
	if r.pos >= len(r.b) {
		return nil, false, r.cut(1, "a term")
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	switch {
	case tag <= fixIntMax:
		return int(tag), false, nil
	case tag >= negFixInt:
		return r.boxed(int(int8(tag))), false, nil
	case tag < fixArray:
		return r.mapping(at, int(tag&15), next)
	case tag < fixStr:
		return r.array(at, int(tag&15), next)
	case tag < tagNil:
		v, err = r.str(int(tag & 31))
		return v, false, err
	}
	return r.tagged(at, tag, next)
}

// tagged reads the rest after a first byte that is only a type.
func (r *reading) tagged(at int, tag byte, next *level) (v any, open bool, err error) {
	var n int
	switch tag {
	case tagNil:
		return nil, false, nil
	case tagFalse, tagTrue:
		return tag == tagTrue, false, nil
	case tagFixExt1, tagFixExt2, tagFixExt4, tagFixExt8, tagFixExt16:
		return r.ext(at, 1<<(tag-tagFixExt1), next)
	case tagExt8, tagExt16, tagExt32:
		if n, err = r.length(tag-tagExt8, "an extension"); err == nil {
			return r.ext(at, n, next)
		}
	case tagBin8, tagBin16, tagBin32:
		if n, err = r.length(tag-tagBin8, "a binary"); err == nil {
			v, err = r.binary(n)
		}
	case tagStr8, tagStr16, tagStr32:
		if n, err = r.length(tag-tagStr8, "a string"); err == nil {
			v, err = r.str(n)
		}
	case tagArray16, tagArray32:
		if n, err = r.length(tag-tagArray16+1, "an array"); err == nil {
			return r.array(at, n, next)
		}
	case tagMap16, tagMap32:
		if n, err = r.length(tag-tagMap16+1, "a map"); err == nil {
			return r.mapping(at, n, next)
		}
	case tagUnused:
		err = r.failAt(at, ErrMalformed, "the byte 0xc1, which begins no term")
	case tagFloat32, tagFloat64:
		v, err = r.float(tag)
	default:
		v, err = r.integer(tag)
	}
	return v, false, err
}

// expect adds n to the pending terms; they belong to the term that begins at offset at.
func (r *reading) expect(at int, what string, n int) error {
	if n > len(r.b)-r.pos-r.pending {
		return r.failAt(at, ErrCut, "%s of %d terms in %d bytes that are left, with %d terms to follow",
			what, n, len(r.b)-r.pos, r.pending)
	}
	r.pending += n
	return r.slot(at, n)
}

// slot counts n elements, or data of the same size.
func (r *reading) slot(at, n int) error {
	r.slots += n
	if r.limits.Elements == 0 {
		r.limits = r.d.Limits.filled()
	}
	if r.slots+r.weight > r.limits.Elements {
		return r.failAt(at, ErrLimit, "more than %d elements", r.limits.Elements)
	}
	return nil
}

var emptyTuple any = wire.Tuple{}

// array reads the beginning of an array of n elements, and determines whether it is a list, a tuple or a marked array.
func (r *reading) array(at, n int, next *level) (v any, open bool, err error) {
	if err := r.expect(at, "an array", n); err != nil {
		return nil, false, err
	}
	if n == 0 {
		return wire.List(nil), false, nil
	}
	*next = level{kind: inList}
	switch first := r.b[r.pos:]; {
	case first[0] == tagNil:
		r.pos++
		r.pending--
		if n == 1 {
			return emptyTuple, false, nil
		}
		n--
		next.kind = inTuple
	case len(first) > 2 && first[0] == tagFixExt1 && first[1] == extMark:
		r.pos += 3
		r.pending--
		if n, v, err = r.marked(at, first[2], n-1, next); err != nil || n == 0 {
			return v, false, err
		}
	}
	next.slots = make([]any, n)
	return nil, true, nil
}

// marked reads the array after its mark, with n remaining elements. It returns the number of elements left for the level.
func (r *reading) marked(at int, mark byte, n int, next *level) (left int, v any, err error) {
	few := func(least int, what string) error {
		if n >= least {
			return nil
		}
		return r.failAt(at, ErrMalformed, "%s of %d elements: at least %d are needed", what, n, least)
	}
	switch mark {
	case markList:
		return n, nil, few(1, "a marked list")
	case markImproper:
		next.kind = inImproper
		return n, nil, few(2, "an improper list")
	case markFun:
		if err := few(3, "a fun"); err != nil {
			return 0, nil, err
		}
		next.kind, next.fun = inFun, new(wire.Fun)
		if err := r.fun(next.fun); err != nil {
			return 0, nil, err
		}
		return n - 3, *next.fun, nil
	case markExport:
		if n != 3 {
			return 0, nil, r.failAt(at, ErrMalformed, "an external fun of %d elements, not 3", n)
		}
		v, err := r.export()
		return 0, v, err
	case markValue, markPointer:
		return r.value(at, mark == markPointer, n, next)
	case markTyped:
		return r.typedValue(at, n, next)
	case markReference:
		left, err := r.reference(at, n, next)
		return left, nil, err
	}
	return 0, nil, r.failAt(at, ErrMalformed, "an array with the mark %d, which is none", mark)
}

func (r *reading) mapping(at, n int, next *level) (v any, open bool, err error) {
	if n > len(r.b) {
		return nil, false, r.cut(n, "a map")
	}
	if err := r.expect(at, "a map", 2*n); err != nil || n == 0 {
		return wire.Map{}, false, err
	}
	*next = level{kind: inMap, i: 2 * n, pairs: wire.MakeMap(min(n, maxPrealloc))}
	return nil, true, nil
}
