package etfcodec

import (
	"encoding/binary"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/wire"
)

// Decoder reads terms. The zero value is ready to use. It caches recent atoms and nodes, in about ten kilobytes, so keep
// one for each connection; only one goroutine at a time may use it. Its results share no memory with the input, unless
// Shared is set.
type Decoder struct {
	// Limits bounds the memory and time that the input can require.
	Limits Limits
	// Atoms resolves ATOM_CACHE_REF: it returns the wire.Atom for an index in the distribution header of this message, or
	// false if there is none. The atom must be valid, and is put into the term unchanged: keep it as an interface, whose
	// creation costs an allocation. Without Atoms such references are malformed.
	Atoms func(index byte) (atom any, ok bool)
	// Shared means that the input will not be changed: a binary that is most of it is then not copied.
	Shared bool
	// Dollar is set when an atom that begins with '$' is read as text, not as a reference.
	Dollar bool

	names *names   // made by the first Decode
	ints  box.Ints // preallocated for later integers
}

// Decode reads the term at the beginning of b, like Erlang's binary_to_term, and returns the bytes after it. It is
// [Decoder.Decode] of a Decoder without caches, which is cheaper for a single term.
func Decode(b []byte) (term any, rest []byte, err error) {
	var d Decoder
	return d.versioned(b)
}

// Decode reads the term at the beginning of b, version byte first, compressed or not, and returns the bytes after it. The
// term has the types that package wire defines for decoders. The error is [ErrCut], [ErrMalformed] or [ErrLimit]; it has
// the offset in b, or in the uncompressed data of b.
func (d *Decoder) Decode(b []byte) (term any, rest []byte, err error) {
	d.remember()
	return d.versioned(b)
}

func (d *Decoder) remember() {
	if d.names == nil {
		d.names = new(names)
	}
}

func (d *Decoder) versioned(b []byte) (term any, rest []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, b, faults.New(ErrCut, "offset 0: expected the version byte 131, but there are no bytes")
	case b[0] != Version:
		return nil, b, faults.New(ErrMalformed, "offset 0: expected the version byte 131, not %d", b[0])
	case len(b) > 1 && b[1] == tagCompressed:
		return d.decodeCompressed(b)
	}
	return d.decode(b, 1)
}

// DecodeBare reads a term without a version byte, as after a distribution header. Such terms are never compressed.
func (d *Decoder) DecodeBare(b []byte) (term any, rest []byte, err error) {
	d.remember()
	return d.decode(b, 0)
}

func (d *Decoder) decode(b []byte, from int) (term any, rest []byte, err error) {
	var r reading // set field by field, because Go would copy a literal, which takes as long as an atom
	r.d, r.b, r.pos, r.elements = d, b, from, d.Limits.elements()
	term, err = r.term()
	if err != nil {
		return nil, b, err
	}
	return term, b[r.pos:], nil
}

// reading is one term being read.
//
//  1. Every term that an open level waits for is counted in pending, and a level is opened only if at least pending bytes
//     remain. So the slots of all levels together take at most 16 bytes per byte of input, and 24 per level, regardless of
//     the lengths in it.
//  2. Nothing is allocated before the corresponding bytes are known to be present.
type reading struct {
	d        *Decoder
	b        []byte
	pos      int // of the byte to read next
	pending  int // terms that open levels wait for
	slots    int // made so far
	elements int // maximum number of slots
}

type levelKind uint8

const (
	inTuple levelKind = iota
	inList            // the elements of a list
	inTail            // the tail of an improper list
	inMap
	inFun // the free variables
)

// level is a partly read compound term.
type level struct {
	kind  levelKind
	keys  int32    // nesting depth in keys of maps
	slots []any    // its parts; not for a map
	i     int      // filled slots; for a map, remaining terms
	pairs wire.Map // of a map
	key   any      // of a map: the key that waits for its value; of an improper list: its tail
	fun   *openFun
}

type openFun struct {
	wire.Fun
	end int // the offset at which it must end
}

// term reads one term.
func (r *reading) term() (any, error) {
	var next level
	v, open, err := r.head(&next)
	if err != nil || !open {
		return v, err
	}
	done, err := r.leaves(&next)
	switch {
	case err != nil:
		return nil, err
	case done:
		return next.value(), nil
	}
	return r.nested(&next)
}

// nested continues with a part of a term that has parts itself. It keeps the depth on the heap.
func (r *reading) nested(next *level) (any, error) {
	var buf [6]level
	stack := append(buf[:0], *next)
	limits := r.d.Limits.filled()
	for {
		r.pending--
		v, open, err := r.head(next)
		if err != nil {
			return nil, err
		}
		if open {
			if err := r.nest(stack, next, &limits); err != nil {
				return nil, err
			}
			done, err := r.leaves(next)
			if err != nil {
				return nil, err
			}
			if !done {
				stack = append(stack, *next)
				continue
			}
			v = next.value()
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
			v = top.value()
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return v, nil
			}
		}
	}
}

// nest checks that another level may be opened within those of stack.
func (r *reading) nest(stack []level, next *level, limits *Limits) error {
	if len(stack) >= limits.Depth {
		return r.failAt(r.pos, ErrLimit, "terms nested deeper than %d levels", limits.Depth)
	}
	top := &stack[len(stack)-1]
	next.keys = top.keys
	if top.kind == inMap && top.i%2 == 0 {
		next.keys++
	}
	if next.kind == inMap && next.i > 2*maxSorted && int(next.keys) > limits.LargeKeys {
		return r.failAt(r.pos, ErrLimit, "a map of more than %d pairs nested in keys of maps deeper than %d", maxSorted,
			limits.LargeKeys)
	}
	return nil
}

// leaves fills the slots of a tuple or list while their terms have no parts, and reports whether l is complete: most are,
// and need not go through the stack. It also reads the data between the elements of a list and its end.
func (r *reading) leaves(l *level) (done bool, err error) {
	for l.kind <= inList {
		if l.i == len(l.slots) {
			if l.kind == inTuple {
				return true, nil
			}
			if done, err = r.tail(l); done || err != nil {
				return done, err
			}
			continue
		}
		if r.pos+1 >= len(r.b) {
			return false, nil
		}
		slot := &l.slots[l.i]
		switch r.b[r.pos] {
		case tagSmallInteger:
			*slot = int(r.b[r.pos+1])
			r.pos += 2
		case tagInteger:
			n := r.integers(l.slots[l.i:])
			if n == 0 {
				return false, nil
			}
			l.i += n
			r.pending -= n
			continue
		case tagSmallTuple, tagList, tagMap, tagLargeTuple, tagNewFun:
			return false, nil
		case tagSmallAtomU8:
			var a any
			if end := r.pos + 2 + int(r.b[r.pos+1]); end <= len(r.b) {
				if a = r.d.names.known(r.b[r.pos+2 : end]); a != nil {
					*slot = a
					r.d.Dollar = r.d.Dollar || end > r.pos+2 && r.b[r.pos+2] == '$'
					r.pos = end
				}
			}
			if a == nil {
				if err = r.leaf(slot); err != nil {
					return false, err
				}
			}
		case tagBinary:
			v := r.wholeBinary()
			if v != nil {
				*slot = v
			} else if err = r.leaf(slot); err != nil {
				return false, err
			}
		default:
			if err = r.leaf(slot); err != nil {
				return false, err
			}
		}
		l.i++
		r.pending--
	}
	return false, nil
}

// leaf reads a term without parts into a slot.
func (r *reading) leaf(slot *any) (err error) {
	r.pending-- // because its parts are counted
	*slot, _, err = r.head(nil)
	r.pending++
	return err
}

// integers fills slots with the next INTEGER_EXTs, and returns their number. It stops before an incomplete one.
func (r *reading) integers(slots []any) int {
	b := r.b[r.pos:]
	switch {
	case len(b) < integerSize:
		return 0
	case len(b) > integerSize && b[integerSize] == tagInteger && len(slots) > 1:
		n := r.d.ints.Run(slots, b, tagInteger, r.expected(0))
		r.pos += integerSize * n
		return n
	}
	r.d.ints.Put(&slots[0], int(int32(binary.BigEndian.Uint32(b[1:]))), r.expected(0))
	r.pos += integerSize
	return 1
}

// fill stores v in l, continues like leaves, and reports whether l is complete.
func (r *reading) fill(l *level, v any) (done bool, err error) {
	switch l.kind {
	case inMap:
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
	case inTail:
		l.key = v
		return true, nil
	}
	l.slots[l.i] = v
	l.i++
	switch {
	case l.kind != inFun:
		return r.leaves(l)
	case l.i < len(l.slots):
		return false, nil
	case r.pos != l.fun.end:
		return false, r.failAt(r.pos, ErrMalformed, "expected the fun to end at offset %d, as its size says", l.fun.end)
	}
	return true, nil
}

// tail continues after the elements of a list: to its end, to more elements if the tail is a list itself, or up to the tail
// of an improper list.
func (r *reading) tail(l *level) (done bool, err error) {
	for r.pos < len(r.b) {
		switch r.b[r.pos] {
		case tagNil:
			r.pos++
			r.pending--
			return true, nil
		case tagString:
			r.pending--
			r.pos++
			text, err := r.str()
			if err != nil {
				return false, err
			}
			l.more(len(text))
			box.FillBytes(l.slots[l.i:], text)
			l.i = len(l.slots)
			return true, nil
		case tagList:
			at := r.pos
			r.pending--
			r.pos++
			n, err := r.count(at, "a list", 1, 1)
			if err != nil {
				return false, err
			}
			if n > 0 {
				l.more(n)
				return false, nil
			}
		default:
			l.kind = inTail
			return false, nil
		}
	}
	return false, r.cut(1, "the tail of a list")
}

// more adds n slots for the elements of a list that is the tail of l.
func (l *level) more(n int) {
	if len(l.slots) == 0 { // append would make more room than that
		l.slots = make([]any, n)
		return
	}
	l.slots = append(l.slots, make([]any, n)...)
}

// value returns the term of a complete level.
func (l *level) value() any {
	switch l.kind {
	case inTuple:
		return wire.Tuple(l.slots)
	case inList:
		return wire.List(l.slots)
	case inTail:
		if len(l.slots) == 0 {
			return l.key
		}
		return wire.ImproperList{Head: l.slots, Tail: l.key}
	case inMap:
		return l.pairs
	}
	l.fun.Free = l.slots
	return l.fun.Fun
}

// head reads a term without parts, or else opens a level for the parts.
func (r *reading) head(next *level) (v any, open bool, err error) {
	if r.pos >= len(r.b) {
		return nil, false, r.cut(1, "a term")
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	switch tag {
	case tagSmallInteger, tagInteger:
		n, err := r.integer(tag)
		return r.boxed(n), false, err
	case tagAtom, tagSmallAtom, tagAtomUTF8, tagSmallAtomU8, tagAtomCacheRef:
		v, err = r.atom(tag)
	case tagNil:
		return wire.List(nil), false, nil
	case tagSmallTuple, tagLargeTuple:
		return r.tuple(at, tag, next)
	case tagString:
		v, err = r.stringList()
	case tagList:
		return r.list(at, next)
	case tagMap:
		return r.mapping(at, next)
	case tagBinary:
		v, err = r.binary()
	case tagBitBinary:
		v, err = r.bitstring()
	case tagNewFloat, tagFloat:
		v, err = r.float(tag)
	case tagSmallBig, tagLargeBig:
		v, err = r.big(tag)
	case tagNewPID, tagPID:
		v, err = r.pid(tag)
	case tagNewerRef, tagNewRef, tagRef:
		v, err = r.ref(tag)
	case tagV4Port, tagNewPort, tagPort:
		v, err = r.port(tag)
	case tagExport:
		v, err = r.export()
	case tagNewFun:
		return r.fun(at, next)
	case tagCompressed:
		err = r.failAt(at, ErrMalformed, "a compressed term inside another or behind a distribution header")
	default:
		err = r.failAt(at, ErrMalformed, "expected the tag of a term, not %s", tagName(tag))
	}
	return v, false, err
}

// count reads the number of a compound term's parts, which are each terms each, followed by extra terms, and adds them to
// the pending terms.
func (r *reading) count(at int, what string, each, extra int) (int, error) {
	n, err := r.length32(what)
	if err != nil {
		return 0, err
	}
	return n, r.expect(at, what, n, each, extra)
}

func (r *reading) expect(at int, what string, n, each, extra int) error {
	left := len(r.b) - r.pos - r.pending
	if int64(n)*int64(each)+int64(extra) > int64(left) {
		return r.failAt(at, ErrCut, "%s of %d elements in %d bytes that are left, with %d terms to follow",
			what, n, len(r.b)-r.pos, r.pending)
	}
	if n*each > r.elements-r.slots {
		return r.failAt(at, ErrLimit, "more than %d elements", r.elements)
	}
	r.pending += n*each + extra
	r.slots += n * each
	return nil
}

var emptyTuple any = wire.Tuple{}

func (r *reading) tuple(at int, tag byte, next *level) (v any, open bool, err error) {
	var n int
	if tag == tagSmallTuple {
		if r.pos >= len(r.b) {
			return nil, false, r.cut(1, "the arity of a tuple")
		}
		n = int(r.b[r.pos])
		r.pos++
		err = r.expect(at, "a tuple", n, 1, 0)
	} else {
		n, err = r.count(at, "a tuple", 1, 0)
	}
	if err != nil || n == 0 {
		return emptyTuple, false, err
	}
	*next = level{kind: inTuple, slots: make([]any, n)}
	return nil, true, nil
}

func (r *reading) list(at int, next *level) (v any, open bool, err error) {
	n, err := r.count(at, "a list", 1, 1)
	if err != nil {
		return nil, false, err
	}
	*next = level{kind: inList, slots: make([]any, n)}
	if n == 0 { // [] or its tail
		done, err := r.tail(next)
		if err != nil || done {
			return next.value(), false, err
		}
	}
	return nil, true, nil
}

func (r *reading) mapping(at int, next *level) (v any, open bool, err error) {
	n, err := r.count(at, "a map", 2, 0)
	if err != nil || n == 0 {
		return wire.Map{}, false, err
	}
	*next = level{kind: inMap, i: 2 * n, pairs: wire.MakeMap(min(n, maxPrealloc))}
	return nil, true, nil
}

// maxSorted is the size up to which package wire keeps a map sorted.
const maxSorted = 32

// maxPrealloc is the maximum number of pairs of a map for which memory is allocated before they have been read.
const maxPrealloc = 1 << 12

// stringList reads a STRING_EXT.
func (r *reading) stringList() (any, error) {
	text, err := r.str()
	if err != nil || len(text) == 0 {
		return wire.List(nil), err
	}
	slots := make(wire.List, len(text))
	box.FillBytes(slots, text)
	return slots, nil
}

// str reads the bytes of a STRING_EXT.
func (r *reading) str() ([]byte, error) {
	n, err := r.length16("a string")
	if err != nil {
		return nil, err
	}
	if n > r.elements-r.slots {
		return nil, r.failAt(r.pos, ErrLimit, "more than %d elements", r.elements)
	}
	r.slots += n
	return r.take(n, "a string")
}

// expected returns the number of integers to allocate when one is needed after behind of the pending terms: this term has
// no more. A kept Decoder also allocates for later terms.
func (r *reading) expected(behind int) int {
	if n := r.pending - behind; n > keptInts || r.d.names == nil {
		return n
	}
	return keptInts
}

// keptInts is the minimum number of integers that a kept Decoder allocates memory for.
const keptInts = 16

// boxed returns n, the first of r.pending terms, as an interface value.
func (r *reading) boxed(n int) (v any) {
	r.d.ints.Put(&v, n, r.expected(-1))
	return v
}
