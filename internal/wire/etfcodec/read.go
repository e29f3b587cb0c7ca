package etfcodec

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/wire"
)

// failAt returns an error with an offset.
func (r *reading) failAt(at int, kind error, format string, args ...any) error {
	return faults.New(kind, "offset %d: "+format, append([]any{at}, args...)...)
}

// cut returns the error for n missing bytes.
func (r *reading) cut(n int, what string) error {
	if left := len(r.b) - r.pos; n <= left {
		return r.failAt(r.pos, ErrCut, "expected %d bytes of %s, with %d terms to follow, but %d bytes are left",
			n, what, r.pending, left)
	}
	return r.failAt(r.pos, ErrCut, "expected %d bytes of %s, but %d are left", n, what, len(r.b)-r.pos)
}

// take returns the next n bytes, which must not be needed by pending terms.
func (r *reading) take(n int, what string) ([]byte, error) {
	if n > len(r.b)-r.pos-r.pending {
		return nil, r.cut(n, what)
	}
	b := r.b[r.pos : r.pos+n]
	r.pos += n
	return b, nil
}

func (r *reading) byte(what string) (int, error) {
	if r.pos >= len(r.b) {
		return 0, r.cut(1, what)
	}
	r.pos++
	return int(r.b[r.pos-1]), nil
}

// length16 reads a length. The caller must check that this many bytes are left, as take does.
func (r *reading) length16(what string) (int, error) {
	if len(r.b)-r.pos < 2 {
		return 0, r.cut(2, "the length of "+what)
	}
	r.pos += 2
	return int(binary.BigEndian.Uint16(r.b[r.pos-2:])), nil
}

// length32 reads a length, which must not exceed the remaining bytes.
func (r *reading) length32(what string) (int, error) {
	if len(r.b)-r.pos < 4 {
		return 0, r.cut(4, "the length of "+what)
	}
	n := binary.BigEndian.Uint32(r.b[r.pos:])
	if uint64(n) > uint64(len(r.b)-r.pos-4) {
		return 0, r.failAt(r.pos, ErrCut, "length %d of %s, but %d bytes are left", n, what, len(r.b)-r.pos-4)
	}
	r.pos += 4
	return int(n), nil
}

// integer reads the rest of SMALL_INTEGER_EXT or INTEGER_EXT.
func (r *reading) integer(tag byte) (int, error) {
	if tag == tagSmallInteger {
		return r.byte("a small integer")
	}
	b, err := r.take(4, "an integer")
	if err != nil {
		return 0, err
	}
	return int(int32(binary.BigEndian.Uint32(b))), nil
}

// smallInteger reads an integer of at most 32 bits, including its tag.
func (r *reading) smallInteger(what string, lo, hi int) (int, error) {
	at := r.pos
	tag, err := r.byte(what)
	if err != nil {
		return 0, err
	}
	if tag != tagSmallInteger && tag != tagInteger {
		return 0, r.failAt(at, ErrMalformed, "expected %s, not %s", what, tagName(byte(tag)))
	}
	n, err := r.integer(byte(tag))
	if err == nil && (n < lo || n > hi) {
		err = r.failAt(at, ErrMalformed, "%s is %d, not in %d to %d", what, n, lo, hi)
	}
	return n, err
}

// atom reads the rest of an atom after its tag. The result is an Atom.
func (r *reading) atom(tag byte) (any, error) {
	if tag == tagAtomCacheRef {
		return r.atomRef()
	}
	at := r.pos - 1
	var n int
	var err error
	if tag == tagSmallAtom || tag == tagSmallAtomU8 {
		n, err = r.byte("the length of an atom")
	} else {
		n, err = r.length16("an atom")
	}
	if err != nil {
		return nil, err
	}
	if n > maxAtomBytes {
		return nil, r.failAt(at, ErrMalformed, "an atom of %d bytes: at most %d characters are allowed", n, wire.MaxAtomRunes)
	}
	text, err := r.take(n, "an atom")
	if err != nil {
		return nil, err
	}
	if tag == tagAtom || tag == tagSmallAtom {
		var buf [2 * wire.MaxAtomRunes]byte
		text = appendLatin1(buf[:0], text)
	}
	r.d.Dollar = r.d.Dollar || n > 0 && text[0] == '$'
	if a := r.d.names.known(text); a != nil {
		return a, nil
	}
	a, ok := r.d.names.atom(text)
	if !ok {
		return nil, r.failAt(at, ErrMalformed, "an atom that is not UTF-8 of at most %d characters", wire.MaxAtomRunes)
	}
	return a, nil
}

func (r *reading) atomRef() (any, error) {
	index, err := r.byte("an atom cache reference")
	if err != nil {
		return nil, err
	}
	if r.d.Atoms != nil {
		if a, ok := r.d.Atoms(byte(index)); ok {
			return a, nil
		}
	}
	return nil, r.failAt(r.pos-2, ErrMalformed, "no atom is known for the cache reference %d", index)
}

// name reads an atom, including its tag.
func (r *reading) name(what string) (wire.Atom, error) {
	tag, err := r.byte(what)
	if err != nil {
		return "", err
	}
	switch tag {
	case tagAtom, tagSmallAtom, tagAtomUTF8, tagSmallAtomU8, tagAtomCacheRef:
		a, err := r.atom(byte(tag))
		if err != nil {
			return "", err
		}
		name, _ := a.(wire.Atom)
		return name, nil
	}
	return "", r.failAt(r.pos-1, ErrMalformed, "expected the atom of %s, not %s", what, tagName(byte(tag)))
}

// wholeBinary reads a complete BINARY_EXT, including its tag; otherwise it reads nothing and returns nil.
func (r *reading) wholeBinary() any {
	b := r.b[r.pos:]
	if len(b) < 5 {
		return nil
	}
	n := uint64(binary.BigEndian.Uint32(b[1:]))
	if b = b[5:]; n > uint64(len(b)) {
		return nil
	}
	r.pos += 5 + int(n)
	return r.bytes(b[:n])
}

func (r *reading) binary() (any, error) {
	n, err := r.length32("a binary")
	if err != nil {
		return nil, err
	}
	b, err := r.take(n, "a binary")
	if err != nil {
		return nil, err
	}
	return r.bytes(b), nil
}

// bytes returns the binary b, which is part of the input.
func (r *reading) bytes(b []byte) any {
	n := len(b)
	if r.d.Shared && n >= ShareFrom && n >= len(r.b)/2 {
		return b[:n:n]
	}
	return box.Bytes(b)
}

func (r *reading) bitstring() (any, error) {
	n, err := r.length32("a bitstring")
	if err != nil {
		return nil, err
	}
	last, err := r.byte("the bits of a bitstring")
	if err != nil {
		return nil, err
	}
	if last > 8 || (last == 0) != (n == 0) {
		return nil, r.failAt(r.pos-1, ErrMalformed, "%d bits in the last of the %d bytes of a bitstring", last, n)
	}
	b, err := r.take(n, "a bitstring")
	if err != nil {
		return nil, err
	}
	if last%8 == 0 {
		return append(make([]byte, 0, n), b...), nil
	}
	return wire.NewBitstring(b, 8*(n-1)+last), nil
}

func (r *reading) float(tag byte) (any, error) {
	at := r.pos - 1
	var f float64
	if tag == tagNewFloat {
		b, err := r.take(8, "a float")
		if err != nil {
			return nil, err
		}
		f = math.Float64frombits(binary.BigEndian.Uint64(b))
	} else {
		b, err := r.take(floatTextSize, "a float as text")
		if err != nil {
			return nil, err
		}
		if f, err = parseFloat(b); err != nil {
			return nil, r.failAt(at, ErrMalformed, "a float spelled %.31q", b)
		}
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, r.failAt(at, ErrMalformed, "a float that is not finite")
	}
	return f, nil
}

// parseFloat reads a decimal number, which may be followed by zero bytes.
func parseFloat(b []byte) (float64, error) {
	for i, c := range b {
		switch {
		case c == 0:
			return strconv.ParseFloat(string(b[:i]), 64)
		case (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E':
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseFloat(string(b), 64)
}

func (r *reading) big(tag byte) (any, error) {
	var n int
	var err error
	if tag == tagSmallBig {
		n, err = r.byte("the length of an integer")
	} else {
		n, err = r.length32("an integer")
	}
	if err != nil {
		return nil, err
	}
	sign, err := r.byte("the sign of an integer")
	if err != nil {
		return nil, err
	}
	b, err := r.take(n, "an integer")
	if err != nil {
		return nil, err
	}
	return bigOf(b, sign != 0), nil // as in OTP
}

// bigOf returns the integer of magnitude b, lowest byte first.
func bigOf(b []byte, negative bool) any {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	if len(b) <= 8 {
		var u uint64
		for i, c := range b {
			u |= uint64(c) << (8 * i)
		}
		switch {
		case u <= math.MaxInt && negative:
			return -int(u)
		case u <= math.MaxInt:
			return int(u)
		case u == -math.MinInt && negative:
			return math.MinInt
		}
	}
	const size = bits.UintSize / 8
	words := make([]big.Word, (len(b)+size-1)/size)
	for i, c := range b {
		words[i/size] |= big.Word(c) << (8 * (i % size))
	}
	x := new(big.Int).SetBits(words)
	if negative {
		x.Neg(x)
	}
	return x
}

// node reads the name of a node.
func (r *reading) node() (wire.Atom, error) { return r.name("a node's name") }

// creation reads a creation, of one byte in the old tags.
func (r *reading) creation(old bool) (uint32, error) {
	if old {
		n, err := r.byte("a creation")
		return uint32(n), err
	}
	return r.uint32("a creation")
}

func (r *reading) uint32(what string) (uint32, error) {
	b, err := r.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

func (r *reading) pid(tag byte) (wire.PID, error) {
	node, err := r.node()
	if err != nil {
		return wire.PID{}, err
	}
	b, err := r.take(8, "a pid")
	if err != nil {
		return wire.PID{}, err
	}
	creation, err := r.creation(tag == tagPID)
	if err != nil {
		return wire.PID{}, err
	}
	id := uint64(binary.BigEndian.Uint32(b[4:]))<<32 | uint64(binary.BigEndian.Uint32(b))
	return r.d.names.origin(node, creation).PID(id), nil
}

func (r *reading) port(tag byte) (wire.Port, error) {
	node, err := r.node()
	if err != nil {
		return wire.Port{}, err
	}
	var id uint64
	if tag == tagV4Port {
		b, err := r.take(8, "a port")
		if err != nil {
			return wire.Port{}, err
		}
		id = binary.BigEndian.Uint64(b)
	} else {
		low, err := r.uint32("a port")
		if err != nil {
			return wire.Port{}, err
		}
		id = uint64(low)
	}
	creation, err := r.creation(tag == tagPort)
	if err != nil {
		return wire.Port{}, err
	}
	return r.d.names.origin(node, creation).Port(id), nil
}

func (r *reading) ref(tag byte) (ref wire.Ref, err error) {
	n := 1
	if tag != tagRef {
		if n, err = r.length16("a reference"); err != nil {
			return ref, err
		}
		if n == 0 || n > wire.MaxRefWords {
			return ref, r.failAt(r.pos-2, ErrMalformed, "a reference of %d words, not 1 to %d", n, wire.MaxRefWords)
		}
	}
	node, err := r.node()
	if err != nil {
		return ref, err
	}
	var creation uint32
	if tag != tagRef { // the oldest tag has it last
		if creation, err = r.creation(tag == tagNewRef); err != nil {
			return ref, err
		}
	}
	b, err := r.take(4*n, "a reference")
	if err != nil {
		return ref, err
	}
	if tag == tagRef {
		if creation, err = r.creation(true); err != nil {
			return ref, err
		}
	}
	var words [wire.MaxRefWords]uint32
	for i := range n {
		words[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return r.d.names.origin(node, creation).Ref(words[:n]...), nil
}

func (r *reading) export() (e wire.Export, err error) {
	if e.Module, err = r.name("an export's module"); err != nil {
		return e, err
	}
	if e.Function, err = r.name("an export's function"); err != nil {
		return e, err
	}
	e.Arity, err = r.smallInteger("the arity of an export", 0, 255)
	return e, err
}

// funSize reads the size of a fun, which includes itself, and returns the number of remaining bytes.
func (r *reading) funSize() (int, error) {
	n, err := r.uint32("the size of a fun")
	switch {
	case err != nil:
		return 0, err
	case n < 4:
		return 0, r.failAt(r.pos-4, ErrMalformed, "a fun of %d bytes, less than its size takes", n)
	case uint64(n-4) > uint64(len(r.b)-r.pos):
		return 0, r.failAt(r.pos-4, ErrCut, "a fun of %d bytes, but %d bytes are left", n-4, len(r.b)-r.pos)
	}
	return int(n) - 4, nil
}

// fun reads a fun up to its free variables.
func (r *reading) fun(at int, next *level) (v any, open bool, err error) {
	size, err := r.funSize()
	if err != nil {
		return nil, false, err
	}
	f := &openFun{end: r.pos + size}
	head, err := r.take(funHeadSize-4, "a fun")
	if err != nil {
		return nil, false, err
	}
	f.Arity = int(head[0])
	copy(f.Uniq[:], head[1:])
	f.Index = binary.BigEndian.Uint32(head[17:])
	free, err := r.length32("the free variables of a fun")
	if err != nil {
		return nil, false, err
	}
	if f.Module, err = r.name("a fun's module"); err != nil {
		return nil, false, err
	}
	if f.OldIndex, err = r.smallInteger("the old index of a fun", math.MinInt32, math.MaxInt32); err != nil {
		return nil, false, err
	}
	if f.OldUniq, err = r.smallInteger("the old uniq of a fun", math.MinInt32, math.MaxInt32); err != nil {
		return nil, false, err
	}
	if f.PID, err = r.creator(); err != nil {
		return nil, false, err
	}
	if err = r.expect(at, "a fun", free, 1, 0); err != nil {
		return nil, false, err
	}
	if free > 0 {
		*next = level{kind: inFun, slots: make([]any, free), fun: f}
		return nil, true, nil
	}
	if r.pos != f.end {
		return nil, false, r.failAt(r.pos, ErrMalformed, "expected the fun to end at offset %d, as its size says", f.end)
	}
	return f.Fun, false, nil
}

// creator reads the pid of the process that made a fun.
func (r *reading) creator() (wire.PID, error) {
	tag, err := r.byte("the creator of a fun")
	if err != nil {
		return wire.PID{}, err
	}
	if tag != tagNewPID && tag != tagPID {
		return wire.PID{}, r.failAt(r.pos-1, ErrMalformed, "expected the pid of a fun's creator, not %s", tagName(byte(tag)))
	}
	return r.pid(byte(tag))
}
