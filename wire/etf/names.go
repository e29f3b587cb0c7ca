package etf

import (
	"hash/maphash"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// seed keeps peers from choosing atoms that share a place.
var seed = maphash.MakeSeed()

// names remembers a bounded number of the atoms and node lives that came by
// lately, so that those that come again and again cost no allocation. A peer
// that sends many different ones slows itself down, and no more. A nil *names
// remembers nothing.
type names struct {
	atoms   [64][4]any // each an Atom, or nil; an atom is in the row of its hash
	origins [16]wire.Origin
}

// atom returns the Atom of UTF-8 text, boxed; ok is false if the text is none.
func (n *names) atom(text []byte) (a any, ok bool) {
	var row *[4]any
	if n != nil {
		row = &n.atoms[maphash.Bytes(seed, text)%uint64(len(n.atoms))]
		for i := range row {
			if a, ok := row[i].(wire.Atom); ok && string(a) == string(text) {
				return hit(row, i), true
			}
		}
	}
	if len(text) > wire.MaxAtomRunes && utf8.RuneCount(text) > wire.MaxAtomRunes || !utf8.Valid(text) {
		return nil, false
	}
	if n == nil {
		return wire.Atom(text), true
	}
	return miss(row, wire.Atom(text)), true
}

// box returns a, which is valid, boxed.
func (n *names) box(a wire.Atom) any {
	if n == nil {
		return a
	}
	row := &n.atoms[maphash.String(seed, string(a))%uint64(len(n.atoms))]
	for i := range row {
		if b, ok := row[i].(wire.Atom); ok && a == b {
			return hit(row, i)
		}
	}
	return miss(row, a)
}

// hit returns entry i of row, which then is a step further from being dropped.
func hit(row *[4]any, i int) any {
	a := row[i]
	if i > 0 {
		row[i-1], row[i] = a, row[i-1]
	}
	return a
}

// miss enters a into row, in place of the last if it is full.
func miss(row *[4]any, a any) any {
	for i := range row {
		if row[i] == nil || i == len(row)-1 {
			row[i] = a
			break
		}
	}
	return a
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
