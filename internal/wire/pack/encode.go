package pack

import (
	"encoding/binary"
	"math"
	"math/big"
	"time"
	"unsafe"

	"github.com/actornode/actornode/wire"
)

// Large is the minimum size in bytes of a binary or a text that [Encoder.Segments], and a [Decoder] with Alias, do not
// copy.
const Large = 64 << 10

// Encoder writes terms. The zero value is ready to use, and writes standalone terms. With Dict set it belongs to one
// goroutine at a time; otherwise it may be used concurrently if Foreign may.
type Encoder struct {
	// Dict holds the definitions that the peer knows; the encoder adds to it. If Dict is nil, atoms and nodes are written
	// in full each time.
	Dict *EncodeDict
	// Types are the Go types that may be sent besides terms.
	Types *Types
	// Foreign, if set, returns the term for a Go value that is neither a term nor of a registered type. If it panics, the
	// value is not a term.
	Foreign func(value any) (term any, err error)
	// Depth is the maximum nesting depth of compound terms, [MaxDepth] by default.
	Depth int
	// LargeKeys is the maximum nesting depth of maps with more than 32 pairs in keys of maps, 1 by default: see [Limits].
	LargeKeys int
	// Message is the maximum length of a message in bytes, [MaxMessage] by default. The last binary or text may exceed it.
	Message int
	// Former writes for peers of the former version, without type expressions: values of unregistered types arrive as the
	// terms that represent them.
	Former bool
	// Erlang writes terms for languages other than Go: see the package's
	// documentation.
	Erlang bool
}

// Append appends term in standalone form, like an [Encoder] without types.
func Append(dst []byte, term any) ([]byte, error) { return new(Encoder).Append(dst, term) }

// Append appends term. On failure it returns dst unchanged, the dictionary is unchanged, and the error, [ErrNoTerm],
// [ErrLimit] or that of Foreign, has the path in the term: {2}[14]#{key} is the second element of a tuple, the 14th element
// of that, and the value of key in that.
func (e *Encoder) Append(dst []byte, term any) ([]byte, error) {
	if b, ok := term.([]byte); ok {
		if uint64(len(b)) <= math.MaxUint32 {
			return append(appendBin(dst, len(b)), b...), nil
		}
	}
	w := writing{Encoder: e, dict: e.Dict, dst: dst}
	if err := w.message(term); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// Segments is [Encoder.Append] without copying large data: it appends to segs the consecutive pieces of the encoded term.
// Pieces other than binaries and texts of at least [Large] bytes are in dst, after its existing contents, which are not
// part of any piece. The pieces, dst and the term must not be changed while the pieces are in use.
func (e *Encoder) Segments(segs [][]byte, dst []byte, term any) (_ [][]byte, _ []byte, err error) {
	w := writing{Encoder: e, dict: e.Dict, dst: dst, split: true}
	if err := w.message(term); err != nil {
		return segs, dst, err
	}
	from := len(dst)
	for _, c := range w.cuts {
		segs = append(segs, w.dst[from:c.at:c.at], c.data)
		from = c.at
	}
	if from < len(w.dst) {
		segs = append(segs, w.dst[from:])
	}
	return segs, w.dst, nil
}

// AppendAtom is [Encoder.Append] of an atom.
func (e *Encoder) AppendAtom(dst []byte, a wire.Atom) ([]byte, error) {
	w := writing{Encoder: e, dict: e.Dict, dst: dst}
	if err := w.atom(a); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// AppendPID is [Encoder.Append] of a pid.
func (e *Encoder) AppendPID(dst []byte, p wire.PID) ([]byte, error) {
	w := writing{Encoder: e, dict: e.Dict, dst: dst}
	if err := w.numbered(extPID, p.Origin(), p.Number()); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// AppendRef is [Encoder.Append] of a reference.
func (e *Encoder) AppendRef(dst []byte, r wire.Ref) ([]byte, error) {
	w := writing{Encoder: e, dict: e.Dict, dst: dst}
	if err := w.ref(r); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// writing is one term being written.
type writing struct {
	*Encoder
	dict  *EncodeDict // nil inside a registered value
	dst   []byte
	flat  []any // a stack of pairs of maps, and of elements from several slices
	cuts  []cut
	split bool // large data is put into cuts
	inner int  // registered values around this one

	errors   int            // errors around this one
	base     int            // of the message in dst
	cutBytes int            // of cuts
	most     int            // the maximum length of the message
	around   map[place]bool // the data around this term, as far as it is remembered
	nested   bool           // within a compound term
}

// cut is a position in dst for data that is not copied.
type cut struct {
	at   int
	data []byte
}

// all writes one term with all its parts, or undoes its definitions.
func (w *writing) all(t any) error {
	var sent int
	if w.dict != nil {
		sent = len(w.dict.log)
	}
	var next parts
	open, err := w.one(t, &next)
	if open && err == nil {
		err = w.compound(&next)
	}
	if err != nil && w.dict != nil {
		w.dict.undo(sent)
	}
	return err
}

// one writes a term without parts, or else opens it.
func (w *writing) one(t any, next *parts) (open bool, err error) {
	if w.Erlang {
		if t, err = w.toErlang(t); err != nil {
			return false, err
		}
	}
	switch t := t.(type) {
	case wire.Atom:
		return false, w.atom(t)
	case int:
		w.dst = AppendInt(w.dst, int64(t))
	case wire.Tuple:
		return w.tuple(t, next)
	case []byte:
		return false, w.data(t)
	case string:
		return false, w.text(t)
	case wire.PID:
		return false, w.numbered(extPID, t.Origin(), t.Number())
	case wire.Ref:
		return false, w.ref(t)
	case wire.List:
		return w.elements(t, len(w.flat), next)
	case wire.Map:
		return w.mapping(t, next)
	case nil:
		w.dst = append(w.dst, tagNil)
	case bool:
		if t {
			w.dst = append(w.dst, tagTrue)
		} else {
			w.dst = append(w.dst, tagFalse)
		}
	case float64:
		w.dst = appendFloat(w.dst, t)
	case wire.ImproperList:
		return w.improper(t, next)
	case wire.Charlist:
		return false, w.charlist(t)
	case wire.Bitstring:
		return false, w.bitstring(t)
	case wire.Port:
		return false, w.numbered(extPort, t.Origin(), t.Number())
	case wire.Export:
		return false, w.export(t)
	case wire.Fun:
		return w.fun(t, next)
	default:
		return w.other(t, next)
	}
	return false, nil
}

// other writes the rarer numbers and values that are not terms.
func (w *writing) other(t any, next *parts) (open bool, err error) {
	if n, u, ok := wire.AsIntOrUint(t); ok {
		if name := sizedName(t); name != "" && w.isExact() {
			if err := w.sized(name); err != nil {
				return false, err
			}
		}
		if u == 0 {
			w.dst = AppendInt(w.dst, n)
		} else {
			w.dst = AppendUint(w.dst, u)
		}
		return false, nil
	}
	switch n := t.(type) {
	case float32:
		if w.isExact() {
			if err := w.sized("float32"); err != nil {
				return false, err
			}
		}
		w.dst = binary.BigEndian.AppendUint32(append(w.dst, tagFloat32), math.Float32bits(n))
	case *big.Int:
		return false, w.big(n)
	case time.Time:
		w.dst = appendTime(w.dst, n)
	default:
		return w.foreign(t, next)
	}
	return false, nil
}

// sizedName returns the name of an integer's type, or "" if it arrives as an int.
func sizedName(n any) wire.Atom {
	switch n.(type) {
	case int8:
		return "int8"
	case int16:
		return "int16"
	case int32:
		return "int32"
	case int64:
		return "int64"
	case uint:
		return "uint"
	case uint8:
		return "uint8"
	case uint16:
		return "uint16"
	case uint32:
		return "uint32"
	case uint64:
		return "uint64"
	}
	return ""
}

// maxStandIns is the maximum number of replacements of a value until it is a term.
const maxStandIns = 100

// foreign writes a value of a registered type, or the replacement by Foreign.
func (w *writing) foreign(t any, next *parts) (open bool, err error) {
	for range maxStandIns {
		if done, err := w.registered(t); done || err != nil {
			return false, err
		}
		if done, open, err := w.reference(t, next); done {
			return open, err
		}
		if done, err := w.exactly(t); done {
			return false, err
		}
		if t, err = w.standIn(t); err != nil {
			return false, err
		}
		if isTerm(t) {
			return w.one(t, next)
		}
	}
	return false, faults.New(ErrNoTerm, "a Go value of type %T stands for another that stands for another, without end", t)
}

// standIn returns the replacement of a value. It calls user code: if that panics, the value is not a term.
func (w *writing) standIn(v any) (t any, err error) {
	if w.Foreign == nil {
		return nil, faults.New(ErrNoTerm, "a Go value of type %T is no term, and its type is not registered", v)
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = faults.New(ErrNoTerm, "a Go value of type %T panics when asked for its term: %v", v, cause)
		}
	}()
	return w.Foreign(v)
}

// isTerm reports whether one writes t without looking for a stand-in.
func isTerm(t any) bool {
	switch t.(type) {
	case nil, bool, string, []byte, wire.Atom, wire.Tuple, wire.List, wire.ImproperList, wire.Charlist, wire.Map,
		wire.PID, wire.Ref, wire.Port, wire.Fun, wire.Export, wire.Bitstring, *big.Int, float64, float32, time.Time,
		int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr:
		return true
	}
	return false
}

func (w *writing) data(b []byte) error {
	if err := fits(len(b), "a binary"); err != nil {
		return err
	}
	if err := w.room(); err != nil {
		return err
	}
	w.dst = appendBin(w.dst, len(b))
	w.bytes(b)
	return nil
}

func (w *writing) text(s string) error {
	if err := fits(len(s), "a string"); err != nil {
		return err
	}
	if err := w.room(); err != nil {
		return err
	}
	w.dst = appendStr(w.dst, len(s))
	if w.split && len(s) >= Large {
		w.bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
		return nil
	}
	w.dst = append(w.dst, s...)
	return nil
}

// bytes writes b, or leaves a cut for it.
func (w *writing) bytes(b []byte) {
	if w.split && len(b) >= Large {
		w.cuts = append(w.cuts, cut{len(w.dst), b})
		w.cutBytes += len(b)
		return
	}
	w.dst = append(w.dst, b...)
}

// fits checks that a length fits 32 bits.
func fits(n int, what string) error {
	if uint64(n) > math.MaxUint32 {
		return faults.New(ErrLimit, "%s of %d: at most %d are allowed", what, n, uint32(math.MaxUint32))
	}
	return nil
}

func (w *writing) atom(a wire.Atom) error {
	if w.dict != nil {
		switch place, p := w.dict.atom(a); {
		case p == known && place < shortPlaces:
			w.dst = append(w.dst, tagFixExt1, extAtomAt, byte(place))
			return nil
		case p == known:
			w.dst = append(w.dst, tagFixExt2, extAtomAt, byte(place>>8), byte(place))
			return nil
		case p == fresh:
			w.dst = append(append(appendExt(w.dst, extAtomNew, 2+len(a)), byte(place>>8), byte(place)), a...)
			return nil
		}
	}
	if !validAtom(a) {
		return faults.New(ErrNoTerm, "an atom that is not UTF-8 of at most %d characters: %.40q", wire.MaxAtomRunes, string(a))
	}
	w.dst = append(appendExt(w.dst, extAtom, len(a)), a...)
	return nil
}

// numbered writes a pid or a port.
func (w *writing) numbered(kind byte, o wire.Origin, number uint64) error {
	if w.dict != nil {
		if place, p := w.dict.origin(o); p == known {
			switch {
			case number < 1<<8:
				w.dst = append(w.dst, tagFixExt2, kind, place, byte(number))
			case number < 1<<24:
				w.dst = binary.BigEndian.AppendUint32(append(w.dst, tagFixExt4, kind), uint32(place)<<24|uint32(number))
			case number < 1<<56:
				w.dst = binary.BigEndian.AppendUint64(append(w.dst, tagFixExt8, kind), uint64(place)<<56|number)
			default:
				w.dst = binary.BigEndian.AppendUint64(append(w.dst, tagExt8, 9, kind, place), number)
			}
			return nil
		} else if p == fresh {
			w.dst = appendOrigin(w.dst, kind, o, int(place), 8)
			w.dst = binary.BigEndian.AppendUint64(w.dst, number)
			return nil
		}
	}
	if err := checkOrigin(o); err != nil {
		return err
	}
	w.dst = appendOrigin(w.dst, kind, o, -1, 8)
	w.dst = binary.BigEndian.AppendUint64(w.dst, number)
	return nil
}

func checkOrigin(o wire.Origin) error {
	if name := o.NodeID().Name; !validAtom(name) {
		return faults.New(ErrNoTerm, "a node's name that is not UTF-8 of at most %d characters: %.40q", wire.MaxAtomRunes, string(name))
	}
	return nil
}

// appendOrigin appends the header of an identifier with the name of its node, defined at place unless that is negative.
// more bytes will follow.
func appendOrigin(dst []byte, kind byte, o wire.Origin, place, more int) []byte {
	id := o.NodeID()
	n := 1 + 4 + 2 + len(id.Name) + more
	if place >= 0 {
		dst = append(appendExt(dst, kind, n+1), originNew, byte(place))
	} else {
		dst = append(appendExt(dst, kind, n), originPlain)
	}
	dst = binary.BigEndian.AppendUint32(dst, id.Creation)
	return append(append(dst, byte(len(id.Name)>>8), byte(len(id.Name))), id.Name...)
}

func (w *writing) ref(r wire.Ref) error {
	var buf [wire.MaxRefWords]uint32
	words := r.AppendWords(buf[:0])
	o := r.Origin()
	place, p := uint8(0), spelled
	if w.dict != nil {
		place, p = w.dict.origin(o)
	}
	switch p {
	case known:
		w.dst = append(appendExt(w.dst, extRef, 1+4*len(words)), place)
	case fresh:
		w.dst = appendOrigin(w.dst, extRef, o, int(place), 4*len(words))
	default:
		if err := checkOrigin(o); err != nil {
			return err
		}
		w.dst = appendOrigin(w.dst, extRef, o, -1, 4*len(words))
	}
	for _, x := range words {
		w.dst = binary.BigEndian.AppendUint32(w.dst, x)
	}
	return nil
}

func (w *writing) bitstring(b wire.Bitstring) error {
	n := b.BitLen()
	if n%8 == 0 {
		return w.data(b.Bytes())
	}
	if err := fits(n/8+2, "a bitstring"); err != nil {
		return err
	}
	w.dst = append(appendExt(w.dst, extBits, 1+(n+7)/8), byte(n%8))
	w.dst = append(w.dst, b.Bytes()...)
	return nil
}

// big writes an integer of any size.
func (w *writing) big(n *big.Int) error {
	switch {
	case n == nil:
		return faults.New(ErrNoTerm, "a nil *big.Int is no term")
	case n.IsInt64():
		w.dst = AppendInt(w.dst, n.Int64())
		return nil
	case n.IsUint64():
		w.dst = AppendUint(w.dst, n.Uint64())
		return nil
	}
	size := (n.BitLen() + 7) / 8
	if size > maxBigBytes {
		return faults.New(ErrLimit, "an integer of %d bytes: at most %d are allowed", size, maxBigBytes)
	}
	sign := byte(0)
	if n.Sign() < 0 {
		sign = 1
	}
	w.dst = append(appendExt(w.dst, extBig, 1+size), sign)
	from := len(w.dst)
	w.dst = append(w.dst, make([]byte, size)...)
	n.FillBytes(w.dst[from:])
	return nil
}

// maxBigBytes is the maximum size of an integer, as in OTP.
const maxBigBytes = 1 << 19

// appendTime appends a time as MessagePack's own extension: 32 bits of seconds, 30
// bits of nanoseconds before 34 of seconds, or 32 of nanoseconds before 64.
func appendTime(dst []byte, t time.Time) []byte {
	s, ns := t.Unix(), uint64(t.Nanosecond())
	switch {
	case s >= 0 && s <= math.MaxUint32 && ns == 0:
		return binary.BigEndian.AppendUint32(append(dst, tagFixExt4, extTime), uint32(s))
	case s >= 0 && s < 1<<34:
		return binary.BigEndian.AppendUint64(append(dst, tagFixExt8, extTime), ns<<34|uint64(s))
	}
	dst = binary.BigEndian.AppendUint32(append(dst, tagExt8, 12, extTime), uint32(ns))
	return binary.BigEndian.AppendUint64(dst, uint64(s))
}
