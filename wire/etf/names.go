package etf

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// The seeds keep peers from choosing atoms that share a place.
var (
	seed     = maphash.MakeSeed()
	low, top = maphash.String(seed, "low"), maphash.String(seed, "top")
)

// hash returns a hash of text. The short, which is nearly all, are two words, which
// may overlap.
func hash(text []byte) uint64 {
	var a, b uint64
	n := len(text)
	switch {
	case n > 16:
		return maphash.Bytes(seed, text)
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(text)), uint64(binary.LittleEndian.Uint32(text[n-4:]))
	case n > 0:
		a, b = uint64(text[0]), uint64(text[n/2])<<8|uint64(text[n-1])
	}
	high, rest := bits.Mul64(a^low, b^top^uint64(n))
	return high ^ rest
}

// names remembers a bounded number of the atoms and node lives that came by
// lately, so that those that come again and again cost no allocation. A peer
// that sends many different ones slows itself down, and no more. A nil *names
// remembers nothing.
type names struct {
	atoms   [64]row
	origins [16]wire.Origin
}

// row is where the atoms are that share some bits of their hash.
type row [4]struct {
	hash uint64
	atom any // an Atom, or nil
}

// known returns the Atom of UTF-8 text, boxed, if it is remembered, and else nil.
func (n *names) known(text []byte) any {
	if n == nil {
		return nil
	}
	h := hash(text)
	r := &n.atoms[h%uint64(len(n.atoms))]
	for i := range r {
		if r[i].hash == h {
			if a, ok := r[i].atom.(wire.Atom); ok && string(a) == string(text) {
				return r.hit(i)
			}
		}
	}
	return nil
}

// atom returns the Atom of UTF-8 text that is not known, boxed; ok is false if the
// text is none.
func (n *names) atom(text []byte) (a any, ok bool) {
	if len(text) > wire.MaxAtomRunes && utf8.RuneCount(text) > wire.MaxAtomRunes || !utf8.Valid(text) {
		return nil, false
	}
	a = wire.Atom(text)
	if n != nil {
		h := hash(text)
		n.atoms[h%uint64(len(n.atoms))].miss(h, a)
	}
	return a, true
}

// hit returns entry i of r, which then is a step further from being dropped.
func (r *row) hit(i int) any {
	if i > 0 {
		r[i-1], r[i] = r[i], r[i-1]
		i--
	}
	return r[i].atom
}

// miss enters a into r, in place of the last if it is full.
func (r *row) miss(hash uint64, a any) {
	i := 0
	for i < len(r)-1 && r[i].atom != nil {
		i++
	}
	r[i].hash, r[i].atom = hash, a
}

// origin returns what mints the identifiers of a node life.
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
