package etfcodec

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// key identifies an atom: its text and length if it is short, as nearly all are, or else a hash.
type key struct{ low, high uint64 }

const longKey = 0xff << 56 // marks a hash in high

func keyOf(text []byte) key {
	n := len(text)
	length := uint64(n+1) << 56 // so that no key is zero
	switch {
	case n > 15:
		return key{maphash.Bytes(seed, text), longKey}
	case n >= 8:
		return key{binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])>>(8*(16-n)) | length}
	case n >= 4:
		return key{uint64(binary.LittleEndian.Uint32(text)) | uint64(binary.LittleEndian.Uint32(text[n-4:]))<<32, length}
	case n > 0:
		return key{uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16, length}
	}
	return key{0, length}
}

// The seeds prevent peers from choosing atoms that collide.
var (
	seed              = maphash.MakeSeed()
	seedLow, seedHigh = maphash.String(seed, "low"), maphash.String(seed, "high")
)

// names caches a bounded number of recent atoms and node incarnations, so that repeated ones cost no allocation. A peer
// that sends many different ones only slows itself down. A nil *names caches nothing.
type names struct {
	atoms   [64]row // by a hash of the key
	hits    uint32
	origins [16]wire.Origin
}

type row [4]struct {
	key  key
	atom any // an Atom, or nil
}

func (n *names) row(k key) *row {
	high, low := bits.Mul64(k.low^seedLow, k.high^seedHigh)
	return &n.atoms[(high^low)%uint64(len(n.atoms))]
}

// known returns the cached Atom of UTF-8 text, boxed, or nil.
func (n *names) known(text []byte) any {
	if n == nil {
		return nil
	}
	k := keyOf(text)
	r := n.row(k)
	for i := range r {
		if r[i].key != k {
			continue
		}
		if k.high == longKey && string(r[i].atom.(wire.Atom)) != string(text) {
			continue
		}
		a := r[i].atom
		if n.hits++; i > 0 && n.hits%8 == 0 { // move it one step away from eviction
			r[i-1], r[i] = r[i], r[i-1]
		}
		return a
	}
	return nil
}

// atom returns the Atom of UTF-8 text that is not cached, boxed; ok is false if the text is invalid.
func (n *names) atom(text []byte) (a any, ok bool) {
	if len(text) > wire.MaxAtomRunes && utf8.RuneCount(text) > wire.MaxAtomRunes || !utf8.Valid(text) {
		return nil, false
	}
	a = wire.Atom(text)
	if n != nil {
		k := keyOf(text)
		n.row(k).miss(k, a)
	}
	return a, true
}

// miss adds a to r, replacing the last entry if r is full.
func (r *row) miss(k key, a any) {
	i := 0
	for i < len(r)-1 && r[i].atom != nil {
		i++
	}
	r[i].key, r[i].atom = k, a
}

// origin returns the Origin of a node incarnation.
func (n *names) origin(name wire.Atom, creation uint32) wire.Origin {
	id := wire.NodeID{Name: name, Creation: creation}
	if n == nil {
		return wire.NewOrigin(id)
	}
	h := uint32(len(name)) ^ creation
	if len(name) > 0 {
		h ^= uint32(name[0])<<2 ^ uint32(name[len(name)-1])
	}
	place := &n.origins[h%uint32(len(n.origins))]
	if *place == (wire.Origin{}) || place.NodeID() != id {
		*place = wire.NewOrigin(id)
	}
	return *place
}

// appendLatin1 appends Latin-1 text as UTF-8.
func appendLatin1(dst, text []byte) []byte {
	for _, c := range text {
		dst = utf8.AppendRune(dst, rune(c))
	}
	return dst
}
