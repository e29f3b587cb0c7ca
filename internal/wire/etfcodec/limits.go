package etfcodec

import (
	"errors"
)

// What callers may want to tell apart. The error returned says more, and names
// the offset or the path; errors.Is finds these in it.
var (
	// ErrCut: the bytes end before the term does. More bytes may help.
	ErrCut = errors.New("etf: the bytes end inside a term")
	// ErrMalformed: no term begins like these bytes, however they go on.
	ErrMalformed = errors.New("etf: malformed term")
	// ErrLimit: it may be a term, but one beyond [Limits].
	ErrLimit = errors.New("etf: term beyond the limits")
	// ErrNoTerm: a Go value that has no place in the format, or not this one.
	ErrNoTerm = errors.New("etf: not a term")
)

// Limits bounds what bytes from a peer can ask for. A field that is zero or less
// has its default.
type Limits struct {
	// Depth is how deep compound terms may be nested, 100,000 by default: a
	// level costs 72 bytes while it is open.
	Depth int
	// Elements is how many elements all lists, strings, tuples, maps (two a
	// pair) and funs of one term may have together, 1<<24 by default: an element
	// costs 16 bytes, or up to 60 in a large map.
	Elements int
	// LargeKeys is how deep maps of more than 32 pairs may be nested in the keys of
	// maps, 1 by default. Those are sorted each time that they are looked at, and
	// the maps in their keys each time that two of those are compared: each level
	// more multiplies the time by about ten. Smaller maps may be nested as deep as
	// other terms are; see doc.go.
	LargeKeys int
	// Inflated is the longest that a compressed term may become, in bytes, 64
	// MiB by default.
	Inflated int
}

// maxLargeKeys is the default of [Limits].LargeKeys.
const maxLargeKeys = 1

// MaxDepth is the default of [Limits].Depth and [Encoder].Depth.
const MaxDepth = 100_000

func (l *Limits) elements() int {
	if l.Elements <= 0 {
		return 1 << 24
	}
	return l.Elements
}

func (l Limits) filled() Limits {
	fill := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	fill(&l.Depth, MaxDepth)
	l.Elements = l.elements()
	fill(&l.LargeKeys, maxLargeKeys)
	fill(&l.Inflated, 64<<20)
	return l
}
