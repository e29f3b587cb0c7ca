package etfcodec

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// Encoder writes terms. The zero value is ready to use. An Encoder may be used concurrently if its hooks may.
type Encoder struct {
	// Atoms, if set, is called for every atom, including the names of nodes; those with an index are written as
	// ATOM_CACHE_REF. If an Append fails, it may have been called for atoms that are not written.
	Atoms func(wire.Atom) (index byte, ok bool)
	// Foreign, if set, returns the term for a Go value that is neither a term nor a [wire.Termer], such as etf.ToTerm.
	Foreign func(value any) (term any, err error)
	// Depth is the maximum nesting depth of compound terms, [MaxDepth] by default. It also stops at a cyclic term.
	Depth int
	// Limited refuses maps in keys of maps that a Decoder with the default [Limits] refuses. Erlang nodes accept them.
	Limited bool
}

// Append appends term, version byte first, like term_to_binary of OTP 26 and newer, except for the order of a map's pairs.
// On failure it returns dst unchanged, and an error, [ErrNoTerm] or [ErrLimit], with the path in the term: {2}[14]#{key} is
// the second element of a tuple, the 14th element of that, and the value of key in that.
func Append(dst []byte, term any) ([]byte, error) { return new(Encoder).Append(dst, term) }

// AppendBare is [Append] without the version byte, for terms after a distribution header.
func AppendBare(dst []byte, term any) ([]byte, error) { return new(Encoder).AppendBare(dst, term) }

// Append appends term like the function [Append].
func (e *Encoder) Append(dst []byte, term any) ([]byte, error) {
	from := len(dst)
	dst, err := e.AppendBare(append(dst, Version), term)
	if err != nil {
		return dst[:from], err
	}
	return dst, nil
}

// AppendBare appends term like the function [AppendBare].
func (e *Encoder) AppendBare(dst []byte, term any) ([]byte, error) {
	w := writing{Encoder: e, dst: dst}
	if err := w.term(term); err != nil {
		return w.dst[:len(dst)], err
	}
	return w.dst, nil
}

// Cut is the position of a binary whose bytes have not been copied.
type Cut struct {
	At   int // Data belongs before the byte with this index
	Data []byte
}

// ShareFrom is the minimum size in bytes of a binary that AppendShared does not copy.
const ShareFrom = 64 << 10

// AppendShared is AppendBare for a term with large binaries: the appended bytes lack those of the binaries, and cuts, to
// which it appends, has their positions.
func (e *Encoder) AppendShared(dst []byte, term any, cuts []Cut) ([]byte, []Cut, error) {
	w := writing{Encoder: e, dst: dst, cuts: cuts, shares: true}
	if err := w.term(term); err != nil {
		return w.dst[:len(dst)], cuts, err
	}
	return w.dst, w.cuts, nil
}

// writing is one term being written.
type writing struct {
	*Encoder
	dst    []byte
	flat   []any // a stack of pairs of maps and elements of improper lists
	cuts   []Cut
	shares bool  // large binaries go into cuts
	shared int   // bytes in cuts
	keys   int32 // nesting depth of the current term in keys of maps
}

// parts is a partly written compound term.
type parts struct {
	kind  levelKind
	keys  int32 // how many keys of maps it is inside of
	terms []any
	i     int
	tail  any // of an improper list; of a map, the map itself
	at    int // fun: offset of its size in dst; else length of flat without it

	shared int // fun: bytes shared before it
}

// term writes a term, keeping its depth on the heap.
func (w *writing) term(t any) error {
	var buf [6]parts
	stack := buf[:0]
	depth := w.Depth
	if depth <= 0 {
		depth = MaxDepth
	}
	var next parts
	for {
		open, err := w.one(t, &next)
		switch {
		case err != nil:
			return at(stack, err)
		case open && len(stack) >= depth:
			return at(stack, faults.New(ErrLimit, "nested deeper than %d levels (does it hold itself?)", depth))
		case open:
			next.keys = w.keys
			stack = append(stack, next)
		}
		for {
			if len(stack) == 0 {
				return nil
			}
			top := &stack[len(stack)-1]
			if top.i < len(top.terms) {
				t = top.terms[top.i]
				top.i++
				if w.keys = top.keys; top.kind == inMap && top.i%2 == 1 {
					w.keys++
				}
				break
			}
			if top.kind == inTail && top.i == len(top.terms) {
				t = top.tail
				top.i++
				w.keys = top.keys
				break
			}
			w.close(top)
			stack = stack[:len(stack)-1]
		}
	}
}

// close ends a compound term.
func (w *writing) close(p *parts) {
	switch p.kind {
	case inList:
		w.dst = append(w.dst, tagNil)
		w.flat = w.flat[:p.at]
	case inTail, inMap:
		w.flat = w.flat[:p.at]
	case inFun:
		binary.BigEndian.PutUint32(w.dst[p.at:], uint32(len(w.dst)-p.at+w.shared-p.shared))
	}
}

// one writes a term without parts, or else opens it.
func (w *writing) one(t any, next *parts) (open bool, err error) {
	switch t := t.(type) {
	case wire.Atom:
		return false, w.atom(t)
	case int:
		w.integer(int64(t))
	case wire.Tuple:
		return w.tuple(t, next)
	case []byte:
		if w.shares && len(t) >= ShareFrom {
			return false, w.share(t)
		}
		return false, appendData(w, t)
	case string:
		if w.shares && len(t) >= ShareFrom {
			return false, w.share(unsafe.Slice(unsafe.StringData(t), len(t))) // it is never written to
		}
		return false, appendData(w, t)
	case wire.PID:
		return false, w.pid(t)
	case wire.Ref:
		return false, w.ref(t)
	case wire.List:
		return w.list(t, next)
	case nil:
		w.dst = append(w.dst, tagNil)
	case wire.Map:
		return w.mapping(t, next)
	case wire.ImproperList:
		return w.improper(t, next)
	case wire.Charlist:
		return w.charlist(t, next)
	case bool:
		if t {
			return false, w.atom(wire.AtomTrue)
		}
		return false, w.atom(wire.AtomFalse)
	case float64:
		return false, w.float(t)
	case float32:
		return false, w.float(float64(t))
	case wire.Bitstring:
		return false, w.bitstring(t)
	case wire.Port:
		return false, w.port(t)
	case wire.Export:
		return false, w.export(t)
	case wire.Fun:
		return w.fun(t, next)
	default:
		return w.other(t, next)
	}
	return false, nil
}

// other writes the rarer integers and values that are not terms.
func (w *writing) other(t any, next *parts) (open bool, err error) {
	if n, u, ok := wire.AsIntOrUint(t); ok {
		if u == 0 {
			w.integer(n)
		} else {
			w.unsigned(u)
		}
		return false, nil
	}
	if n, ok := t.(*big.Int); ok {
		if n == nil {
			return false, faults.New(ErrNoTerm, "a nil *big.Int is no term")
		}
		return false, w.big(n)
	}
	return w.foreign(t, next)
}

// maxStandIns is the maximum number of replacements of a value until it is a term.
const maxStandIns = 100

// maxCause is the maximum length, in bytes, of a panic's value in an error.
const maxCause = 1 << 10

func (w *writing) foreign(t any, next *parts) (open bool, err error) {
	for range maxStandIns {
		if t, err = w.standIn(t); err != nil {
			return false, err
		}
		if IsTerm(t) {
			return w.one(t, next)
		}
	}
	return false, faults.New(ErrNoTerm, "a Go value of type %T stands for another that stands for another, without end", t)
}

// standIn returns the replacement of a value. If that panics, the value is not a term.
func (w *writing) standIn(v any) (t any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = faults.New(ErrNoTerm, "a Go value of type %T panics when asked for its term: %s", v, wire.Describe(cause, maxCause))
		}
	}()
	if v, ok := v.(wire.Termer); ok {
		return v.Term(), nil
	}
	if w.Foreign == nil {
		if t, ok := termof.Of(v); ok {
			return t, nil
		}
		return nil, faults.New(ErrNoTerm, "a Go value of type %T is no term", v)
	}
	return w.Foreign(v)
}

// IsTerm reports whether t is a term, which Append writes without a replacement.
func IsTerm(t any) bool {
	switch t.(type) {
	case nil, wire.Atom, wire.Tuple, wire.List, wire.ImproperList, wire.Charlist, wire.Map, wire.Bitstring,
		wire.PID, wire.Ref, wire.Port, wire.Export, wire.Fun, []byte, string, bool, float64, float32,
		int, int64, int32, int16, int8, uint, uint64, uint32, uint16, uint8, uintptr, *big.Int:
		return true
	}
	return false
}

func (w *writing) atom(a wire.Atom) error {
	if w.Atoms != nil {
		if i, ok := w.Atoms(a); ok {
			w.dst = append(w.dst, tagAtomCacheRef, i)
			return nil
		}
	}
	if !utf8.ValidString(string(a)) {
		return faults.New(ErrNoTerm, "an atom that is not UTF-8: %.100q", string(a))
	}
	switch n := len(a); {
	case n < 256:
		w.dst = append(w.dst, tagSmallAtomU8, byte(n))
	case n > maxAtomBytes || utf8.RuneCountInString(string(a)) > wire.MaxAtomRunes:
		return faults.New(ErrNoTerm, "an atom of more than %d characters: %.100q…", wire.MaxAtomRunes, string(a))
	default:
		w.dst = append(w.dst, tagAtomUTF8, byte(n>>8), byte(n))
	}
	w.dst = append(w.dst, a...)
	return nil
}

func (w *writing) integer(n int64) {
	switch {
	case uint64(n) < 256:
		w.dst = append(w.dst, tagSmallInteger, byte(n))
	case n == int64(int32(n)):
		w.dst = binary.BigEndian.AppendUint32(append(w.dst, tagInteger), uint32(n))
	case n < 0:
		w.magnitude(-uint64(n), 1)
	default:
		w.magnitude(uint64(n), 0)
	}
}

func (w *writing) unsigned(n uint64) {
	if n <= math.MaxInt64 {
		w.integer(int64(n))
		return
	}
	w.magnitude(n, 0)
}

// magnitude writes a SMALL_BIG_EXT.
func (w *writing) magnitude(u uint64, sign byte) {
	at := len(w.dst) + 1
	w.dst = append(w.dst, tagSmallBig, 0, sign)
	for ; u > 0; u >>= 8 {
		w.dst = append(w.dst, byte(u))
		w.dst[at]++
	}
}

func (w *writing) big(x *big.Int) error {
	if x.IsInt64() {
		w.integer(x.Int64())
		return nil
	}
	n := (x.BitLen() + 7) / 8
	if err := fits(n, "an integer"); err != nil {
		return err
	}
	sign := byte(0)
	if x.Sign() < 0 {
		sign = 1
	}
	if n < 256 {
		w.dst = append(w.dst, tagSmallBig, byte(n), sign)
	} else {
		w.dst = append(binary.BigEndian.AppendUint32(append(w.dst, tagLargeBig), uint32(n)), sign)
	}
	for _, word := range x.Bits() {
		for range min(n, wordBytes) {
			w.dst = append(w.dst, byte(word))
			word >>= 8
			n--
		}
	}
	return nil
}

const wordBytes = 4 << (^big.Word(0) >> 63) // 8, or 4 on small machines

func (w *writing) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return faults.New(ErrNoTerm, "Erlang has no float %v", f)
	}
	w.dst = binary.BigEndian.AppendUint64(append(w.dst, tagNewFloat), math.Float64bits(f))
	return nil
}

// fits reports a length that 32 bits cannot hold.
func fits(n int, what string) error {
	if uint64(n) > maxLength {
		return faults.New(ErrLimit, "%s of length %d; the format ends at %d", what, n, uint32(maxLength))
	}
	return nil
}

// head writes a tag and a length.
func (w *writing) head(tag byte, n int, what string) error {
	if err := fits(n, what); err != nil {
		return err
	}
	w.dst = binary.BigEndian.AppendUint32(append(w.dst, tag), uint32(n))
	return nil
}

// share adds a cut for a binary instead of copying it.
func (w *writing) share(b []byte) error {
	if err := w.head(tagBinary, len(b), "a binary"); err != nil {
		return err
	}
	w.cuts = append(w.cuts, Cut{len(w.dst), b})
	w.shared += len(b)
	return nil
}

func appendData[S string | []byte](w *writing, b S) error {
	if err := w.head(tagBinary, len(b), "a binary"); err != nil {
		return err
	}
	w.dst = append(w.dst, b...)
	return nil
}

func (w *writing) bitstring(b wire.Bitstring) error {
	n := (b.BitLen() + 7) / 8
	last := b.BitLen() % 8
	if last == 0 {
		return appendData(w, b.Bytes())
	}
	if err := w.head(tagBitBinary, n, "a bitstring"); err != nil {
		return err
	}
	w.dst = append(append(w.dst, byte(last)), b.Bytes()...)
	return nil
}

func (w *writing) pid(p wire.PID) error {
	if p.IsZero() {
		return faults.New(ErrNoTerm, "the zero PID names no process")
	}
	id := p.Origin().NodeID()
	w.dst = append(w.dst, tagNewPID)
	if err := w.atom(id.Name); err != nil {
		return err
	}
	w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(p.Number()))
	w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(p.Number()>>32))
	w.dst = binary.BigEndian.AppendUint32(w.dst, id.Creation)
	return nil
}

func (w *writing) port(p wire.Port) error {
	if p == (wire.Port{}) {
		return faults.New(ErrNoTerm, "the zero Port names no port")
	}
	id := p.Origin().NodeID()
	short := p.Number() <= maxV3Port
	if short {
		w.dst = append(w.dst, tagNewPort)
	} else {
		w.dst = append(w.dst, tagV4Port)
	}
	if err := w.atom(id.Name); err != nil {
		return err
	}
	if short {
		w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(p.Number()))
	} else {
		w.dst = binary.BigEndian.AppendUint64(w.dst, p.Number())
	}
	w.dst = binary.BigEndian.AppendUint32(w.dst, id.Creation)
	return nil
}

func (w *writing) ref(r wire.Ref) error {
	var buf [wire.MaxRefWords]uint32
	words := r.AppendWords(buf[:0])
	if len(words) == 0 {
		return faults.New(ErrNoTerm, "the zero Ref is no reference")
	}
	id := r.Origin().NodeID()
	w.dst = append(w.dst, tagNewerRef, 0, byte(len(words)))
	if err := w.atom(id.Name); err != nil {
		return err
	}
	w.dst = binary.BigEndian.AppendUint32(w.dst, id.Creation)
	for _, word := range words {
		w.dst = binary.BigEndian.AppendUint32(w.dst, word)
	}
	return nil
}

func (w *writing) export(e wire.Export) error {
	if e.Arity != int(byte(e.Arity)) {
		return faults.New(ErrNoTerm, "a function of arity %d", e.Arity)
	}
	w.dst = append(w.dst, tagExport)
	if err := w.atom(e.Module); err != nil {
		return err
	}
	if err := w.atom(e.Function); err != nil {
		return err
	}
	w.dst = append(w.dst, tagSmallInteger, byte(e.Arity))
	return nil
}

func (w *writing) fun(f wire.Fun, next *parts) (open bool, err error) {
	switch {
	case f.Arity != int(byte(f.Arity)):
		return false, faults.New(ErrNoTerm, "a fun of arity %d", f.Arity)
	case f.OldIndex != int(int32(f.OldIndex)) || f.OldUniq != int(int32(f.OldUniq)):
		return false, faults.New(ErrNoTerm, "a fun whose OldIndex or OldUniq is beyond 32 bits")
	}
	if err := fits(len(f.Free), "the free variables of a fun"); err != nil {
		return false, err
	}
	at := len(w.dst) + 1
	w.dst = append(w.dst, tagNewFun, 0, 0, 0, 0, byte(f.Arity))
	w.dst = append(w.dst, f.Uniq[:]...)
	w.dst = binary.BigEndian.AppendUint32(w.dst, f.Index)
	w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(len(f.Free)))
	if err := w.atom(f.Module); err != nil {
		return false, err
	}
	w.integer(int64(f.OldIndex))
	w.integer(int64(f.OldUniq))
	if err := w.pid(f.PID); err != nil {
		return false, err
	}
	*next = parts{kind: inFun, terms: f.Free, at: at, shared: w.shared}
	return true, nil
}

func (w *writing) tuple(t wire.Tuple, next *parts) (open bool, err error) {
	if len(t) < 256 {
		w.dst = append(w.dst, tagSmallTuple, byte(len(t)))
	} else if err := w.head(tagLargeTuple, len(t), "a tuple"); err != nil {
		return false, err
	}
	*next = parts{kind: inTuple, terms: t}
	return len(t) > 0, nil
}

// mapping writes a map up to its first pair with a compound in it. The pairs
// from there on wait in flat.
func (w *writing) mapping(m wire.Map, next *parts) (open bool, err error) {
	if w.Limited && w.keys > maxLargeKeys && m.Len() > maxSorted {
		return false, faults.New(ErrLimit, "a map of more than %d pairs nested in keys of maps deeper than %d", maxSorted, maxLargeKeys)
	}
	if err := w.head(tagMap, m.Len(), "a map"); err != nil {
		return false, err
	}
	from, left := len(w.flat), m.Len()
	for k, v := range m.Unordered() {
		if len(w.flat) == from && isLeaf(k) && isLeaf(v) {
			left--
			if err := w.pair(k, v); err != nil {
				return false, err
			}
			continue
		}
		if len(w.flat) == from {
			w.flat = slices.Grow(w.flat, 2*left)
		}
		w.flat = append(w.flat, k, v)
	}
	*next = parts{kind: inMap, terms: w.flat[from:], at: from}
	return len(w.flat) > from, nil
}

// pair writes a key and a value without parts.
func (w *writing) pair(k, v any) error {
	var none parts
	_, err := w.one(k, &none)
	step := 1
	if err == nil {
		_, err = w.one(v, &none)
		step = 2
	}
	if err != nil {
		return at([]parts{{kind: inMap, terms: []any{k, v}, i: step}}, err)
	}
	return nil
}

// isLeaf reports whether t is a term without parts.
func isLeaf(t any) bool {
	switch t.(type) {
	case wire.Atom, int, string, []byte, float64, bool, wire.PID, wire.Ref:
		return true
	}
	return false
}
