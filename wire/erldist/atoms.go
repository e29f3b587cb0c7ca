package erldist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// Each direction has an atom cache of eight segments of 256 atoms. A distribution header lists up to 255 atoms of a message
// by their places in the cache, with the text of new ones:
//
//	n:8, then if n > 0:
//	n/2+1 bytes of half bytes, the low half of a byte first:
//	    n times new:1 segment:3, then 0:3 long:1
//	n times index:8, and if new: length:8, or :16 if long; text
const (
	segments    = 8
	segmentSize = 256
	maxAtomRefs = 255
	newEntry    = 1 << 3 // in a half byte
	longAtoms   = 1      // in the last half byte
)

// atomsIn is the cache for received atoms. It holds at most 2,048 atoms, 2 MiB.
type atomsIn struct {
	all [segments]*[segmentSize]any // Atoms, or nil

	isMark func(wire.Atom) bool                 // nil if no atom is a mark
	marks  *[segments * segmentSize / 64]uint64 // a bit for each place with a mark; nil if there are none
	marked bool                                 // the last header lists a mark, or the maximum number of atoms
}

// enter puts a new atom into its place.
func (c *atomsIn) enter(segment, at byte, a wire.Atom) {
	if c.all[segment] == nil {
		c.all[segment] = new([segmentSize]any)
	}
	c.all[segment][at] = a
	place := uint(segment)*segmentSize + uint(at)
	switch {
	case c.isMark != nil && c.isMark(a):
		if c.marks == nil {
			c.marks = new([segments * segmentSize / 64]uint64)
		}
		c.marks[place/64] |= 1 << (place % 64)
	case c.marks != nil:
		c.marks[place/64] &^= 1 << (place % 64)
	}
}

// hasMark reports whether there is a mark at a place.
func (c *atomsIn) hasMark(segment, at byte) bool {
	place := uint(segment)*segmentSize + uint(at)
	return c.marks[place/64]>>(place%64)&1 != 0
}

var errHeaderCut = errors.New("the frame ends inside its distribution header")

// header reads the atoms of a distribution header into refs, as Atoms, and returns them and the rest.
func (c *atomsIn) header(b []byte, refs []any) (_ []any, rest []byte, err error) {
	refs = refs[:0]
	if len(b) == 0 {
		return refs, nil, errHeaderCut
	}
	n := int(b[0])
	c.marked = n == maxAtomRefs
	b = b[1:]
	if n == 0 {
		return refs, b, nil
	}
	size := n/2 + 1
	if len(b) < size {
		return refs, nil, errHeaderCut
	}
	flags, b := b[:size], b[size:]
	lengthSize := 1
	if half(flags, n)&longAtoms != 0 {
		lengthSize = 2
	}
	for i := range n {
		if len(b) == 0 {
			return refs, nil, errHeaderCut
		}
		flag, at := half(flags, i), b[0]
		b = b[1:]
		if flag&newEntry != 0 {
			var a wire.Atom
			if a, b, err = newAtom(b, lengthSize); err != nil {
				return refs, nil, err
			}
			c.enter(flag&(segments-1), at, a)
		}
		segment := c.all[flag&(segments-1)]
		if segment == nil || segment[at] == nil {
			return refs, nil, fmt.Errorf("entry %d of segment %d of the atom cache is empty", at, flag&(segments-1))
		}
		if c.marks != nil && c.hasMark(flag&(segments-1), at) {
			c.marked = true
		}
		refs = append(refs, segment[at])
	}
	return refs, b, nil
}

// newAtom reads the text of an atom with its length prefix.
func newAtom(b []byte, lengthSize int) (a wire.Atom, rest []byte, err error) {
	if len(b) < lengthSize {
		return "", nil, errHeaderCut
	}
	n := int(b[0])
	if lengthSize == 2 {
		n = int(binary.BigEndian.Uint16(b))
	}
	b = b[lengthSize:]
	if n > len(b) {
		return "", nil, errHeaderCut
	}
	text := b[:n]
	if n > 4*wire.MaxAtomRunes || !utf8.Valid(text) || n > wire.MaxAtomRunes && utf8.RuneCount(text) > wire.MaxAtomRunes {
		return "", nil, fmt.Errorf("an atom that is not UTF-8, or is longer than %d characters: %.40q", wire.MaxAtomRunes, text)
	}
	return wire.Atom(text), b[n:], nil
}

// half returns the half byte i.
func half(b []byte, i int) byte { return b[i/2] >> (4 * (i % 2)) & 15 }

// atomsOut is the cache for sent atoms. The hash of an atom determines its place. An atom enters the cache on its second
// consecutive use with respect to its place, so that atoms used only once do not replace frequently used ones.
//
//  1. slots equals the peer's cache after it has read everything that was written, with "" for places without an atom of
//     this node.
//  2. refs lists the places with the current message's epoch, in order.
type atomsOut struct {
	seed  maphash.Seed
	slots []outSlot // segments * segmentSize; made at first use
	epoch uint32    // of the message being written
	refs  []outRef
	fresh bool // this message puts an atom into the cache
}

type outSlot struct {
	atom  wire.Atom
	seen  uint32 // hash of the last other atom with this place
	epoch uint32 // the last message that used it
	ref   uint8  // its number in that message
}

type outRef struct {
	place uint16
	fresh bool
	old   wire.Atom // the previous atom, before a fresh one
}

// begin starts a message.
func (c *atomsOut) begin() {
	if c.slots == nil {
		c.seed = maphash.MakeSeed()
		c.slots = make([]outSlot, segments*segmentSize)
	}
	c.refs, c.fresh = c.refs[:0], false
	c.epoch++
	if c.epoch == 0 {
		for i := range c.slots {
			c.slots[i].epoch = 0
		}
		c.epoch = 1
	}
}

// The minimum and maximum length, in bytes, of cached atoms: shorter ones are shorter than a reference, longer ones would
// make all lengths two bytes.
const (
	minCached = 3
	maxCached = 255
)

// index returns the number of a in this message, if it is cached.
func (c *atomsOut) index(a wire.Atom) (byte, bool) {
	if len(a) < minCached || len(a) > maxCached {
		return 0, false
	}
	h := maphash.String(c.seed, string(a))
	place := h % uint64(len(c.slots))
	s := &c.slots[place]
	switch {
	case s.epoch == c.epoch:
		return s.ref, s.atom == a
	case len(c.refs) == maxAtomRefs:
		return 0, false
	case s.atom == a:
		c.use(s, outRef{place: uint16(place)})
	case s.seen != uint32(h>>32) && s.atom != "" || !utf8.ValidString(string(a)):
		s.seen = uint32(h >> 32)
		return 0, false
	default:
		c.use(s, outRef{place: uint16(place), fresh: true, old: s.atom})
		s.atom = a
		c.fresh = true
	}
	return s.ref, true
}

func (c *atomsOut) use(s *outSlot, r outRef) {
	s.epoch = c.epoch
	s.ref = uint8(len(c.refs))
	c.refs = append(c.refs, r)
}

// undo discards the message, which will not be sent.
func (c *atomsOut) undo() {
	for _, r := range c.refs {
		s := &c.slots[r.place]
		s.epoch = 0
		if r.fresh {
			s.atom = r.old
		}
	}
	c.refs = c.refs[:0]
}

// appendHeader appends the list of the message's atoms.
func (c *atomsOut) appendHeader(dst []byte) []byte {
	n := len(c.refs)
	dst = append(dst, byte(n))
	if n == 0 {
		return dst
	}
	at := len(dst)
	for range n/2 + 1 {
		dst = append(dst, 0)
	}
	for i, r := range c.refs {
		flag := byte(r.place >> 8)
		dst = append(dst, byte(r.place))
		if r.fresh {
			flag |= newEntry
			a := c.slots[r.place].atom
			dst = append(append(dst, byte(len(a))), a...)
		}
		dst[at+i/2] |= flag << (4 * (i % 2))
	}
	return dst
}
