package pack

import (
	"errors"
)

// Errors that callers can test for with errors.Is. The returned error has more details, and the offset or the path.
var (
	// ErrCut means that the bytes end before the term does. More bytes may help.
	ErrCut = errors.New("pack: the bytes end inside a term")
	// ErrMalformed means that no term begins with these bytes.
	ErrMalformed = errors.New("pack: malformed term")
	// ErrLimit means that the term exceeds [Limits], or a limit of the [Encoder].
	ErrLimit = errors.New("pack: term beyond the limits")
	// ErrNoTerm means that a Go value cannot be sent.
	ErrNoTerm = errors.New("pack: not a term")
)

// Limits bounds the memory and time that a peer's input can require. A field that is zero or negative has its default.
type Limits struct {
	// Depth is the maximum nesting depth of compound terms, [MaxDepth] by default: an open level costs about 100 bytes.
	Depth int
	// Elements is the maximum total number of elements of all arrays and maps (two per pair) of one term, 1<<24 by default:
	// an element costs 16 bytes, or up to 60 in a large map. A Go value of more than 16 bytes counts as one for each 16.
	Elements int
	// Keys is the maximum nesting depth of maps in keys of maps, 32 by default, and LargeKeys the same for maps with more
	// than 32 pairs, 1 by default. Inserting a pair into a map examines its whole key, so these bound how often each byte
	// is examined.
	Keys, LargeKeys int
}

// The defaults of [Limits]. An Encoder obeys them, so that senders get an error for terms that no Decoder accepts.
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
	return l
}
