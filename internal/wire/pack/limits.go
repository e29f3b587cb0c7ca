package pack

import (
	"errors"
)

// What callers may want to tell apart. The error returned says more, and names
// the offset or the path; errors.Is finds these in it.
var (
	// ErrCut: the bytes end before the term does. More bytes may help.
	ErrCut = errors.New("pack: the bytes end inside a term")
	// ErrMalformed: no term begins like these bytes, however they go on.
	ErrMalformed = errors.New("pack: malformed term")
	// ErrLimit: it may be a term, but one beyond [Limits] or [Encoder].Depth.
	ErrLimit = errors.New("pack: term beyond the limits")
	// ErrNoTerm: a Go value that cannot be sent.
	ErrNoTerm = errors.New("pack: not a term")
)

// Limits bounds what bytes from a peer can ask for. A field that is zero or less
// has its default.
type Limits struct {
	// Depth is how deep compound terms may be nested, [MaxDepth] by default: a
	// level costs about 100 bytes while it is open.
	Depth int
	// Elements is how many elements all arrays and maps (two a pair) of one term
	// may have together, 1<<24 by default: an element costs 16 bytes, or up to 60
	// in a large map. What is referred to in several places counts as 4 more, and
	// a Go value of more than 16 bytes, in a slice or anywhere, as one for each 16.
	Elements int
	// Keys is how deep maps may be nested in the keys of maps, 32 by default, and
	// LargeKeys the same for maps of more than 32 pairs, 1 by default. To put a
	// pair into a map means to look at its whole key, so the two bound how often
	// each byte is looked at.
	Keys, LargeKeys int
	// Expanded is how many bytes a message may have if what it refers to several times is counted
	// each time, [MaxExpanded] by default: so what is made of it later, such as a text or other
	// bytes, is no larger than of a message without references.
	Expanded int
}

// The defaults of [Limits], which an Encoder keeps to: who sends what no Decoder takes is told so.
const (
	maxKeys      = 32
	maxLargeKeys = 1
)

// MaxDepth is the default of [Limits].Depth and [Encoder].Depth.
const MaxDepth = 100_000

func (l Limits) filled() Limits {
	fill := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	fill(&l.Depth, MaxDepth)
	fill(&l.Elements, 1<<24)
	fill(&l.Keys, maxKeys)
	fill(&l.LargeKeys, maxLargeKeys)
	fill(&l.Expanded, MaxExpanded)
	return l
}
