package pack

import (
	"hash/maphash"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// Places of the caches: references to places below shortPlaces are one byte shorter. A cache allocates pagePlaces places at
// a time, because a node has one per peer, and most caches hold little.
const (
	shortPlaces  = 256
	atomPlaces   = 8 * shortPlaces
	pagePlaces   = 32
	originPlaces = originNew
)

// EncodeDict is the sender's half of a connection's dictionary, in one direction: the places of atoms and node
// incarnations. Its zero value is ready to use; an [Encoder] adds to it. It belongs to one goroutine at a time.
//
//  1. The peer has the same contents at each place after it has read everything that was written and committed, in that
//     order.
//  2. log contains what is needed to return to the last commit.
type EncodeDict struct {
	seed    maphash.Seed
	atoms   [atomPlaces / pagePlaces]*[pagePlaces]dictAtom
	life    uint32 // of the valid entries, from 1: Reset invalidates older ones
	origins map[wire.Origin]uint8
	at      [originPlaces]wire.Origin
	used    int // places of origins in use
	next    int // the next place to reassign when all are used
	last    wire.Origin
	lastAt  uint8
	log     []change
}

type dictAtom struct {
	atom wire.Atom
	life uint32
	seen uint32 // hash of the last other atom for this place
}

// change is an uncommitted definition, with the entry that it replaced.
type change struct {
	place    uint16
	isOrigin bool
	atom     dictAtom
	origin   wire.Origin
	used     int
	next     int
}

// Commit declares that everything written so far will be sent, in that order, before anything written later. Call it once
// per frame.
func (c *EncodeDict) Commit() { c.log = c.log[:0] }

// Undo returns to the last Commit: data written since will not be sent.
func (c *EncodeDict) Undo() { c.undo(0) }

// Reset clears the dictionary, as the peer must at the same position ([DecodeDict.Reset]), for a standalone message, which
// may arrive after messages that were written later. It is cheap. It also commits.
func (c *EncodeDict) Reset() {
	c.log = c.log[:0]
	c.begin()
	c.life++
	if c.life == 0 {
		clear(c.atoms[:])
		c.life = 1
	}
	clear(c.origins)
	clear(c.at[:c.used])
	c.used, c.next, c.last, c.lastAt = 0, 0, wire.Origin{}, 0
}

// undo reverts all changes except the first n.
func (c *EncodeDict) undo(n int) {
	for i := len(c.log) - 1; i >= n; i-- {
		l := &c.log[i]
		if !l.isOrigin {
			*c.slot(int(l.place)) = l.atom
			continue
		}
		delete(c.origins, c.at[l.place])
		c.at[l.place], c.used, c.next = l.origin, l.used, l.next
		if int(l.place) < l.used {
			c.origins[l.origin] = uint8(l.place)
		}
		c.last, c.lastAt = wire.Origin{}, 0
	}
	clear(c.log[n:])
	c.log = c.log[:n]
}

// placing is the way to write an atom or an origin.
type placing uint8

const (
	spelled placing = iota // without the cache
	fresh                  // with a definition of its place
	known                  // as a reference to its place
)

// begin makes the zero value ready.
func (c *EncodeDict) begin() {
	if c.life == 0 {
		c.seed, c.life = maphash.MakeSeed(), 1
	}
}

// slot returns what is at a place.
func (c *EncodeDict) slot(place int) *dictAtom {
	page := &c.atoms[place/pagePlaces]
	if *page == nil {
		*page = new([pagePlaces]dictAtom)
	}
	return &(*page)[place%pagePlaces]
}

// atom returns the place of a, and may assign one.
func (c *EncodeDict) atom(a wire.Atom) (place int, p placing) {
	c.begin()
	h := maphash.String(c.seed, string(a))
	short := int(h % shortPlaces)
	s := c.slot(short)
	switch {
	case s.life == c.life && s.atom == a:
		return short, known
	case s.life != c.life && validAtom(a): // it has no other place, because places are not released
		return short, c.put(s, short, a)
	}
	long := shortPlaces + int(h>>8%(atomPlaces-shortPlaces))
	l := c.slot(long)
	switch {
	case l.life == c.life && l.atom == a:
		return long, known
	case !validAtom(a):
		return 0, spelled
	case l.life != c.life:
		return long, c.put(l, long, a)
	case l.seen == uint32(h>>32): // the second time in a row, so not a unique atom
		return long, c.put(l, long, a)
	}
	l.seen = uint32(h >> 32)
	return 0, spelled
}

func (c *EncodeDict) put(s *dictAtom, place int, a wire.Atom) placing {
	c.log = append(c.log, change{place: uint16(place), atom: *s})
	*s = dictAtom{atom: a, life: c.life}
	return fresh
}

// origin returns the place of o, and may assign one.
func (c *EncodeDict) origin(o wire.Origin) (place uint8, p placing) {
	if c.used > 0 && c.last == o {
		return c.lastAt, known
	}
	if i, ok := c.origins[o]; ok {
		c.last, c.lastAt = o, i
		return i, known
	}
	if !validAtom(o.NodeID().Name) {
		return 0, spelled
	}
	if c.origins == nil {
		c.origins = make(map[wire.Origin]uint8)
	}
	i := c.used
	l := change{isOrigin: true, used: c.used, next: c.next}
	if i < originPlaces {
		c.used++
	} else {
		i = c.next
		c.next = (c.next + 1) % originPlaces
		delete(c.origins, c.at[i])
	}
	l.place, l.origin = uint16(i), c.at[i]
	c.log = append(c.log, l)
	c.at[i], c.origins[o] = o, uint8(i)
	c.last, c.lastAt = o, uint8(i)
	return uint8(i), fresh
}

// DecodeDict is the receiver's half: the peer has the [EncodeDict]. Its zero value is ready to use; a [Decoder] adds to it.
// It belongs to one goroutine at a time, holds at most 2,048 atoms and 254 node lives, and everything that the peer wrote
// must be decoded with it, in order. After an error it is unusable.
type DecodeDict struct {
	atoms   [atomPlaces / pagePlaces]*[pagePlaces]any // boxed Atoms; nil if not defined
	origins []wire.Origin
	known   []bool // of origins
}

// Reset clears the dictionary, as the peer must at the same position ([EncodeDict.Reset]).
func (c *DecodeDict) Reset() {
	for _, page := range c.atoms {
		if page != nil {
			clear(page[:])
		}
	}
	clear(c.known)
	clear(c.origins)
}

// put sets the atom at a valid place.
func (c *DecodeDict) put(place int, a any) {
	page := &c.atoms[place/pagePlaces]
	if *page == nil {
		*page = new([pagePlaces]any)
	}
	(*page)[place%pagePlaces] = a
}

// atom returns the Atom at a place, or nil.
func (c *DecodeDict) atom(place int) any {
	if place >= atomPlaces || c.atoms[place/pagePlaces] == nil {
		return nil
	}
	return c.atoms[place/pagePlaces][place%pagePlaces]
}

func (c *DecodeDict) putOrigin(place int, o wire.Origin) {
	for place >= len(c.origins) {
		c.origins, c.known = append(c.origins, wire.Origin{}), append(c.known, false)
	}
	c.origins[place], c.known[place] = o, true
}

// maxAtomBytes is the maximum length of an atom in UTF-8.
const maxAtomBytes = 4 * wire.MaxAtomRunes

func validAtom(a wire.Atom) bool {
	return len(a) <= maxAtomBytes && utf8.ValidString(string(a)) &&
		(len(a) <= wire.MaxAtomRunes || utf8.RuneCountInString(string(a)) <= wire.MaxAtomRunes)
}
