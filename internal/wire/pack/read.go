package pack

import (
	"encoding/binary"
	"math"
	"math/big"
	"time"
	"unicode/utf8"
	"unsafe"

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

// take returns the next n bytes.
func (r *reading) take(n int, what string) ([]byte, error) {
	if n > len(r.b)-r.pos {
		return nil, r.cut(n, what)
	}
	b := r.b[r.pos : r.pos+n]
	r.pos += n
	return b, nil
}

// bigEndian returns the number in up to 8 bytes.
func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// length reads a length of 1<<size bytes, which must not exceed the remaining bytes.
func (r *reading) length(size byte, what string) (int, error) {
	if size == 0 && r.pos < len(r.b) && int(r.b[r.pos]) < len(r.b)-r.pos {
		r.pos++
		return int(r.b[r.pos-1]), nil
	}
	if 1<<size > len(r.b)-r.pos {
		return 0, r.cut(1<<size, "the length of "+what)
	}
	b := r.b[r.pos : r.pos+1<<size]
	n := bigEndian(b)
	r.pos += len(b)
	if n > uint64(len(r.b)-r.pos) {
		return 0, r.failAt(r.pos-len(b), ErrCut, "length %d of %s, but %d bytes are left", n, what, len(r.b)-r.pos)
	}
	return int(n), nil
}

func (r *reading) binary(n int) (any, error) {
	b, err := r.take(n, "a binary")
	if err != nil {
		return nil, err
	}
	if n >= Large && r.d.Alias {
		return b[:n:n], nil
	}
	return box.Bytes(b), nil
}

func (r *reading) str(n int) (any, error) {
	b, err := r.take(n, "a string")
	if err != nil {
		return nil, err
	}
	if n >= Large && r.d.Alias {
		return unsafe.String(&b[0], n), nil
	}
	return string(b), nil
}

func (r *reading) float(tag byte) (any, error) {
	if tag == tagFloat32 {
		b, err := r.take(4, "a float")
		if err != nil {
			return nil, err
		}
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	}
	b, err := r.take(8, "a float")
	if err != nil {
		return nil, err
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// integer reads the rest of a longer integer after its first byte.
func (r *reading) integer(tag byte) (any, error) {
	n, large, err := r.int64(tag)
	switch {
	case err != nil:
		return nil, err
	case large:
		return new(big.Int).SetUint64(uint64(n)), nil
	case int64(int(n)) != n:
		return big.NewInt(n), nil
	}
	return r.boxed(int(n)), nil
}

// boxed returns n as an interface value. If it must allocate, it also allocates for pending terms and, if the decoder is
// kept, for later messages.
func (r *reading) boxed(n int) (v any) {
	expected := r.pending + 1
	if r.d.Dict != nil {
		expected = max(expected, keptInts)
	}
	r.d.ints.Put(&v, n, expected)
	return v
}

// keptInts is the minimum number of integers that a kept decoder allocates memory for.
const keptInts = 16

// int64 reads the rest of a longer integer after its first byte. If large is true, n has the bits of an unsigned 64-bit
// integer.
func (r *reading) int64(tag byte) (n int64, large bool, err error) {
	size := 1 << ((tag - tagUint8) & 3)
	b, err := r.take(size, "an integer")
	if err != nil {
		return 0, false, err
	}
	n = int64(bigEndian(b))
	if tag < tagInt8 {
		return n, n < 0, nil
	}
	shift := 64 - 8*size
	return n << shift >> shift, false, nil
}

// intHere reads an integer, including its first byte.
func (r *reading) intHere(what string) (int64, error) {
	if r.pos >= len(r.b) {
		return 0, r.cut(1, what)
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	switch {
	case tag <= fixIntMax || tag >= negFixInt:
		return int64(int8(tag)), nil
	case tag < tagUint8 || tag > tagInt64:
		return 0, r.failAt(at, ErrMalformed, "expected %s, not a term that begins with 0x%02x", what, tag)
	}
	n, large, err := r.int64(tag)
	if large {
		err = r.failAt(at, ErrMalformed, "expected %s of 63 bits, not %d", what, uint64(n))
	}
	return n, err
}

// ext reads an extension of n bytes.
func (r *reading) ext(at, n int, next *level) (v any, open bool, err error) {
	kind, err := r.take(1, "the type of an extension")
	if err != nil {
		return nil, false, err
	}
	if n > len(r.b)-r.pos {
		return nil, false, r.cut(n, "an extension")
	}
	switch kind[0] {
	case extAtom, extAtomNew, extAtomAt:
		v, err = r.atom(kind[0], n)
	case extPID:
		o, number, e := r.numbered(n)
		v, err = o.PID(number), e
	case extPort:
		o, number, e := r.numbered(n)
		v, err = o.Port(number), e
	case extRef:
		v, err = r.ref(n)
	case extBig:
		v, err = r.big(n)
	case extBits:
		v, err = r.bitstring(n)
	case extTime:
		v, err = r.time(n)
	case extTerm:
		return r.term(n, next)
	case extMark:
		err = r.failAt(at, ErrMalformed, "a mark that is not the first element of an array")
	default:
		err = r.failAt(at, ErrMalformed, "an extension of type %d, which is none", int8(kind[0]))
	}
	if err != nil {
		return nil, false, err
	}
	return v, false, nil
}

// extHere reads the header of an extension of type kind and returns its length; that many bytes are present.
func (r *reading) extHere(kind byte, what string) (n int, err error) {
	k, n, err := r.anyExt(what)
	if err == nil && k != kind {
		err = r.failAt(r.pos, ErrMalformed, "expected %s, not an extension of type %d", what, int8(k))
	}
	return n, err
}

// anyExt reads the header of an extension.
func (r *reading) anyExt(what string) (kind byte, n int, err error) {
	if r.pos >= len(r.b) {
		return 0, 0, r.cut(1, what)
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	switch {
	case tag >= tagFixExt1 && tag <= tagFixExt16:
		n = 1 << (tag - tagFixExt1)
	case tag >= tagExt8 && tag <= tagExt32:
		n, err = r.length(tag-tagExt8, what)
	default:
		err = r.failAt(at, ErrMalformed, "expected %s, not a term that begins with 0x%02x", what, tag)
	}
	if err != nil {
		return 0, 0, err
	}
	k, err := r.take(1, "the type of an extension")
	if err != nil {
		return 0, 0, err
	}
	if n > len(r.b)-r.pos {
		return 0, 0, r.cut(n, what)
	}
	return k[0], n, nil
}

// atomHere reads an atom, including its header.
func (r *reading) atomHere(what string) (wire.Atom, error) {
	kind, n, err := r.anyExt(what)
	if err != nil {
		return "", err
	}
	if kind < extAtom || kind > extAtomAt {
		return "", r.failAt(r.pos, ErrMalformed, "expected %s, not an extension of type %d", what, int8(kind))
	}
	a, err := r.atom(kind, n)
	if err != nil {
		return "", err
	}
	return a.(wire.Atom), nil
}

// pidHere reads a pid, including its header.
func (r *reading) pidHere(what string) (wire.PID, error) {
	n, err := r.extHere(extPID, what)
	if err != nil {
		return wire.PID{}, err
	}
	o, number, err := r.numbered(n)
	return o.PID(number), err
}

// fromDict returns the cache, if it may be used here.
func (r *reading) fromDict() (*DecodeDict, error) {
	if r.d.Dict == nil || r.standalone {
		return nil, r.failAt(r.pos, ErrMalformed, "a place in the cache, in a standalone term")
	}
	return r.d.Dict, nil
}

// atom reads the data of an extension that is an atom, boxed.
func (r *reading) atom(kind byte, n int) (any, error) {
	at := r.pos
	b, err := r.take(n, "an atom")
	if err != nil {
		return nil, err
	}
	if kind == extAtom {
		return r.newAtom(at, b)
	}
	c, err := r.fromDict()
	if err != nil {
		return nil, err
	}
	if kind == extAtomAt {
		if n > 2 {
			return nil, r.failAt(at, ErrMalformed, "the place of an atom in %d bytes", n)
		}
		if a := c.atom(int(bigEndian(b))); a != nil {
			return a, nil
		}
		return nil, r.failAt(at, ErrMalformed, "the place %d, where no atom is", bigEndian(b))
	}
	if n < 2 || bigEndian(b[:2]) >= atomPlaces {
		return nil, r.failAt(at, ErrMalformed, "a new atom without a place from 0 to %d", atomPlaces-1)
	}
	a, err := r.newAtom(at, b[2:])
	if err == nil {
		c.put(int(bigEndian(b[:2])), a)
	}
	return a, err
}

func (r *reading) newAtom(at int, b []byte) (any, error) {
	if len(b) > maxAtomBytes || !utf8.Valid(b) || len(b) > wire.MaxAtomRunes && utf8.RuneCount(b) > wire.MaxAtomRunes {
		return nil, r.failAt(at, ErrMalformed, "an atom that is not UTF-8 of at most %d characters: %.40q", wire.MaxAtomRunes, b)
	}
	return wire.Atom(b), nil
}

// origin reads the node of an identifier of n bytes, and returns the number of remaining bytes.
func (r *reading) origin(n int) (o wire.Origin, left int, err error) {
	at := r.pos
	if n < 1 {
		return o, 0, r.failAt(at, ErrMalformed, "an identifier of no bytes")
	}
	place := int(r.b[r.pos])
	r.pos++
	if place < originPlaces {
		c, err := r.fromDict()
		if err != nil {
			return o, 0, err
		}
		if place >= len(c.origins) || !c.known[place] {
			return o, 0, r.failAt(at, ErrMalformed, "the place %d, where no node is", place)
		}
		return c.origins[place], n - 1, nil
	}
	to := -1
	if place == originNew {
		if n < 2 || r.b[r.pos] >= originPlaces {
			return o, 0, r.failAt(at, ErrMalformed, "a new node without a place from 0 to %d", originPlaces-1)
		}
		to = int(r.b[r.pos])
		r.pos++
	}
	end := at + n
	b := r.b[r.pos:end]
	if len(b) < 6 || len(b)-6 < int(bigEndian(b[4:6])) {
		return o, 0, r.failAt(at, ErrMalformed, "an identifier of %d bytes, too few for the name of its node", n)
	}
	name := b[6 : 6+bigEndian(b[4:6])]
	r.pos += 6 + len(name)
	if o, err = r.spelled(uint32(bigEndian(b[:4])), name); err != nil {
		return o, 0, err
	}
	if to >= 0 {
		c, err := r.fromDict()
		if err != nil {
			return o, 0, err
		}
		c.putOrigin(to, o)
	}
	return o, end - r.pos, nil
}

// spelled returns the origin of a node incarnation.
func (r *reading) spelled(creation uint32, name []byte) (wire.Origin, error) {
	if creation == 0 && len(name) == 0 {
		return wire.Origin{}, nil
	}
	if id := r.d.plain.NodeID(); string(id.Name) == string(name) && id.Creation == creation {
		return r.d.plain, nil
	}
	a, err := r.newAtom(r.pos, name)
	if err == nil {
		r.d.plain = wire.NewOrigin(wire.NodeID{Name: a.(wire.Atom), Creation: creation})
	}
	return r.d.plain, err
}

// numbered reads the data of a pid or a port, of n bytes.
func (r *reading) numbered(n int) (o wire.Origin, number uint64, err error) {
	o, left, err := r.origin(n)
	if err != nil {
		return o, 0, err
	}
	if left < 1 || left > 8 {
		return o, 0, r.failAt(r.pos, ErrMalformed, "the number of an identifier in %d bytes", left)
	}
	number = bigEndian(r.b[r.pos : r.pos+left])
	r.pos += left
	return o, number, nil
}

// ref reads the data of a reference, of n bytes.
func (r *reading) ref(n int) (wire.Ref, error) {
	o, left, err := r.origin(n)
	if err != nil {
		return wire.Ref{}, err
	}
	if left%4 != 0 || left > 4*wire.MaxRefWords {
		return wire.Ref{}, r.failAt(r.pos, ErrMalformed, "the words of a reference in %d bytes", left)
	}
	var words [wire.MaxRefWords]uint32
	for i := range left / 4 {
		words[i] = binary.BigEndian.Uint32(r.b[r.pos:])
		r.pos += 4
	}
	return o.Ref(words[:left/4]...), nil
}

func (r *reading) big(n int) (any, error) {
	if n < 1 || r.b[r.pos] > 1 {
		return nil, r.failAt(r.pos, ErrMalformed, "an integer without a sign that is 0 or 1")
	}
	if n > 1+maxBigBytes {
		return nil, r.failAt(r.pos, ErrLimit, "an integer of %d bytes: at most %d are allowed", n-1, maxBigBytes)
	}
	x := new(big.Int).SetBytes(r.b[r.pos+1 : r.pos+n])
	if r.b[r.pos] == 1 {
		x.Neg(x)
	}
	r.pos += n
	return wire.IntegerOf(x), nil
}

func (r *reading) bitstring(n int) (any, error) {
	if n < 2 || r.b[r.pos] < 1 || r.b[r.pos] > 7 {
		return nil, r.failAt(r.pos, ErrMalformed, "a bitstring without 1 to 7 bits in its last byte")
	}
	b := r.b[r.pos+1 : r.pos+n]
	bits := 8*(len(b)-1) + int(r.b[r.pos])
	r.pos += n
	return wire.NewBitstring(b, bits), nil
}

// time reads a timestamp, see appendTime.
func (r *reading) time(n int) (any, error) {
	b := r.b[r.pos : r.pos+n]
	var s, ns uint64
	switch n {
	case 4:
		s = bigEndian(b)
	case 8:
		s = bigEndian(b)
		s, ns = s&(1<<34-1), s>>34
	case 12:
		ns, s = bigEndian(b[:4]), bigEndian(b[4:])
	default:
		return nil, r.failAt(r.pos, ErrMalformed, "a timestamp of %d bytes, not 4, 8 or 12", n)
	}
	if ns >= 1e9 {
		return nil, r.failAt(r.pos, ErrMalformed, "a timestamp of %d nanoseconds", ns)
	}
	r.pos += n
	if t := time.Unix(int64(s), int64(ns)); !t.IsZero() {
		return t, nil
	}
	return time.Time{}, nil
}

// export reads an external fun, after its mark.
func (r *reading) export() (x wire.Export, err error) {
	if x.Module, err = r.atomHere("the module of a fun"); err != nil {
		return x, err
	}
	if x.Function, err = r.atomHere("the name of a fun"); err != nil {
		return x, err
	}
	at := r.pos
	n, err := r.intHere("the arity of a fun")
	if err == nil && (n < 0 || n > 255) {
		err = r.failAt(at, ErrMalformed, "the arity of a fun is %d, not in 0 to 255", n)
	}
	x.Arity = int(n)
	r.pending -= 3
	return x, err
}

// fun reads a fun, after its mark, up to its free variables.
func (r *reading) fun(f *wire.Fun) (err error) {
	if f.Module, err = r.atomHere("the module of a fun"); err != nil {
		return err
	}
	b, err := r.take(2+funBytes, "a fun")
	if err != nil {
		return err
	}
	if b[0] != tagBin8 || b[1] != funBytes {
		return r.failAt(r.pos-len(b), ErrMalformed, "expected a binary of %d bytes in a fun", funBytes)
	}
	b = b[2:]
	f.Arity = int(b[0])
	b = b[1+copy(f.Uniq[:], b[1:]):]
	f.Index = binary.BigEndian.Uint32(b)
	f.OldIndex = int(int32(binary.BigEndian.Uint32(b[4:])))
	f.OldUniq = int(int32(binary.BigEndian.Uint32(b[8:])))
	f.PID, err = r.pidHere("the creator of a fun")
	r.pending -= 3
	return err
}
