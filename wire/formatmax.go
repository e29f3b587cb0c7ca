package wire

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// FormatMax returns the result of [Format], truncated after max bytes. Truncated text ends with "…" and the total size, if
// known: "<<1,2,3… (62914560 bytes in all)". Its memory and time are bounded by max, regardless of the size of t; for Go
// values that are not terms see [Describe]. Truncated text differs from Format's in some ways: text is recognized by its
// beginning, the pairs of a large map are in any order, and an integer with too many digits is #Integer<N bits>.
func FormatMax(t any, max int) string { return formatMax(t, max, true, nil) }

// FormatPlainMax returns the result of [FormatPlain], truncated like [FormatMax].
func FormatPlainMax(t any, max int) string { return formatMax(t, max, false, nil) }

// FormatMaxFunc is [FormatMax] for terms that contain foreign Go values: foreign returns a replacement for such a value,
// and is called again for its result until that is a term.
func FormatMaxFunc(t any, max int, foreign func(any) any) string {
	return formatMax(t, max, true, foreign)
}

func formatMax(t any, max int, text bool, foreign func(any) any) string {
	s, _ := formatWhole(t, max, text, foreign)
	return s
}

// formatWhole also reports whether the result is that of Format.
func formatWhole(t any, max int, text bool, foreign func(any) any) (s string, whole bool) {
	f := &formatting{text: text, cut: true, limit: max, foreign: foreign, show: describeForeign}
	dst := f.append(nil, t)
	if !f.full(dst) {
		return string(dst), !f.rounded
	}
	return cutText(string(dst), max, f.whole), false
}

// cutText returns the beginning of s, at most max bytes including the truncation mark; whole is the total size, or "" if
// unknown.
func cutText(s string, max int, whole string) string {
	max = min(len(s), max)
	for max > 0 && max < len(s) && !utf8.RuneStart(s[max]) {
		max--
	}
	if whole != "" {
		whole = " (" + whole + " in all)"
	}
	return s[:max] + "…" + whole
}

// Formatting a number with more bits than bigBits only to truncate it is too expensive.
const (
	bigBits      = 4096
	bitsPerDigit = 3
)

// full reports whether dst has reached limit and will be truncated.
func (f *formatting) full(dst []byte) bool { return f.cut && len(dst) > f.limit }

// left returns the number of bytes that may still be added.
func (f *formatting) left(dst []byte) int {
	if !f.cut {
		return math.MaxInt
	}
	return max(0, f.limit-len(dst))
}

// head returns s, or a prefix of it that is longer than the remaining space.
func (f *formatting) head(dst []byte, s string) string {
	if left := f.left(dst); left < len(s)-utf8.UTFMax {
		return s[:left+utf8.UTFMax]
	}
	return s
}

// sized records the size of t, which has been appended, if t was truncated.
func (f *formatting) sized(dst []byte, t any) []byte {
	if f.full(dst) {
		f.whole = sizeOf(t)
	}
	return dst
}

// wholeRunes returns s without an incomplete rune at its end.
func wholeRunes(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			return s
		}
	}
	return s
}

// sizeOf describes the size of a term, or returns "" if that would require a full walk.
func sizeOf(t any) string {
	switch n := countOf(t); t.(type) {
	case string, []byte, Bitstring, Charlist:
		return fmt.Sprintf("%d bytes", n)
	case pairsOf:
		return fmt.Sprintf("%d pairs", n)
	default:
		if n > 1 {
			return fmt.Sprintf("%d elements", n)
		}
	}
	return ""
}

// countOf returns the number of a term's elements, pairs or bytes, if known.
func countOf(t any) int {
	switch t := t.(type) {
	case string:
		return len(t)
	case []byte:
		return len(t)
	case Bitstring:
		return len(t.data)
	case Charlist:
		return len(t)
	case List:
		return len(t)
	case Tuple:
		return len(t)
	case ImproperList:
		return len(t.Head)
	case pairsOf:
		return len(t.pairs)
	}
	return 0
}

// largest returns the size of the largest term that has been opened and not closed.
func largest(stack []brackets) string {
	var most any
	for _, b := range stack {
		if countOf(b.inside.t) > countOf(most) {
			most = b.inside.t
		}
	}
	return sizeOf(most)
}
