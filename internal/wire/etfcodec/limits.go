package etfcodec

import (
	"errors"
)

// Errors that callers can test for with errors.Is. The returned error has more details, and the offset or the path.
var (
	// ErrCut means that the bytes end before the term does. More bytes may help.
	ErrCut = errors.New("etf: the bytes end inside a term")
	// ErrMalformed means that no term begins with these bytes.
	ErrMalformed = errors.New("etf: malformed term")
	// ErrLimit means that the term exceeds [Limits].
	ErrLimit = errors.New("etf: term beyond the limits")
	// ErrNoTerm means that a Go value cannot be represented in the format.
	ErrNoTerm = errors.New("etf: not a term")
)

// Limits bounds the memory and time that a peer's input can require. A field that is zero or negative has its default.
type Limits struct {
	// Depth is the maximum nesting depth of compound terms, 100,000 by default: an open level costs 72 bytes.
	Depth int
	// Elements is the maximum total number of elements of all lists, strings, tuples, maps (two per pair) and funs of one
	// term, 1<<24 by default: an element costs 16 bytes, or up to 60 in a large map.
	Elements int
	// LargeKeys is the maximum nesting depth of maps with more than 32 pairs in keys of maps, 1 by default. Such maps are
	// sorted for each comparison, and the maps in their keys each time that two keys are compared: each further level
	// multiplies the time by about ten. Smaller maps may be nested as deep as other terms; see doc.go.
	LargeKeys int
	// Inflated is the maximum uncompressed size of a compressed term in bytes, 64 MiB by default.
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
