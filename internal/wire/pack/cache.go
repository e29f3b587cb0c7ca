package pack

import (
	"hash/maphash"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// Places of the caches: atoms below shortPlaces have a reference that is a byte
// shorter. A cache allocates pagePlaces places at a time: a node has one for each of its
// peers, and most of them hold little.
const (
	shortPlaces  = 256
	atomPlaces   = 8 * shortPlaces
	pagePlaces   = 32
	originPlaces = originNew
)

// EncodeDict is the sender's half of the dictionary of a connection, in one
// direction: which atom and which node life is at which place. Its zero value is
// ready to use; an [Encoder] adds to it. It belongs to one goroutine at a time.
//
//  1. What is at a place here, the peer has there once it has read all that was
//     written and committed, in that order.
//  2. log says how to get back to what was committed last.
type EncodeDict struct {
	seed    maphash.Seed
	atoms   [atomPlaces / pagePlaces]*[pagePlaces]dictAtom
	life    uint32 // of the entries that count, from 1: Reset makes the others old
	origins map[wire.Origin]uint8
	at      [originPlaces]wire.Origin
	used    int // places of origins in use
	next    int // the place to give away next, when all are
	last    wire.Origin
	lastAt  uint8
	log     []change
}

type dictAtom struct {
	atom wire.Atom
	life uint32
	seen uint32 // hash of the last other atom that wanted the place
}

// change is a definition that is not committed yet, with what it replaced.
type change struct {
	place    uint16
	isOrigin bool
	atom     dictAtom
	origin   wire.Origin
	used     int
	next     int
}

// Commit says that what was written so far will be sent, in that order, ahead of
// all that is written later. Call it once a frame.
func (c *EncodeDict) Commit() { c.log = c.log[:0] }

// Undo goes back to the last Commit: what was written since is not going to be
// sent.
func (c *EncodeDict) Undo() { c.undo(0) }

// Reset forgets everything, as the peer must at the same place ([DecodeDict.Reset]):
// for a standalone message, which may arrive after messages that were written
// later. It costs little. It also commits.
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

// undo takes back all changes but the first n.
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

// placing says how an atom or an origin is to be written.
type placing uint8

const (
	spelled placing = iota // without the cache
	fresh                  // it is defined at its place by this
	known                  // it is at its place
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

// atom returns the place of a, which it may give it.
func (c *EncodeDict) atom(a wire.Atom) (place int, p placing) {
	c.begin()
	h := maphash.String(c.seed, string(a))
	short := int(h % shortPlaces)
	s := c.slot(short)
	switch {
	case s.life == c.life && s.atom == a:
		return short, known
	case s.life != c.life && validAtom(a): // it is in no other place: places are not given back
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
	case l.seen == uint32(h>>32): // a second time in a row: not one that comes but once
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

// origin returns the place of o, which it may give it.
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

// DecodeDict is the receiver half: the peer has the [EncodeDict]. Its zero value
// is ready to use; a [Decoder] adds to it. It belongs to one goroutine at a time,
// holds at most 2,048 atoms and 254 node lives, and everything that the peer wrote
// must be decoded with it, in order. After an error it is of no more use.
type DecodeDict struct {
	atoms   [atomPlaces / pagePlaces]*[pagePlaces]any // an Atom each, boxed; nil: not defined
	origins []wire.Origin
	known   []bool // of origins
}

// Reset forgets everything, as the peer must at the same place ([EncodeDict.Reset]).
func (c *DecodeDict) Reset() {
	for _, page := range c.atoms {
		if page != nil {
			clear(page[:])
		}
	}
	clear(c.known)
	clear(c.origins)
}

// put sets what is at a place, which is one.
func (c *DecodeDict) put(place int, a any) {
	page := &c.atoms[place/pagePlaces]
	if *page == nil {
		*page = new([pagePlaces]any)
	}
	(*page)[place%pagePlaces] = a
}

// atom returns the Atom at a place, nil if there is none.
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

// maxAtomBytes is how long the longest atom is in UTF-8.
const maxAtomBytes = 4 * wire.MaxAtomRunes

func validAtom(a wire.Atom) bool {
	return len(a) <= maxAtomBytes && utf8.ValidString(string(a)) &&
		(len(a) <= wire.MaxAtomRunes || utf8.RuneCountInString(string(a)) <= wire.MaxAtomRunes)
}
