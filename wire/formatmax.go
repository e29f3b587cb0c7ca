package wire

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// formatMax is what a Formatter with that Max writes; if it is 0 or less, nothing but that there is more.
func formatMax(t any, max int) string {
	s, _ := Formatter{}.cutAfter(t, max)
	return s
}

// formatWhole also reports whether the text is that of a Formatter without Max.
func (f Formatter) formatWhole(t any) (s string, whole bool) {
	if f.Max > 0 {
		return f.cutAfter(t, f.Max)
	}
	w := &formatting{text: !f.Plain, foreign: f.Foreign, show: describeForeign}
	return string(w.append(nil, t)), true
}

// cutAfter is formatWhole with another Max, which may be 0.
func (f Formatter) cutAfter(t any, max int) (s string, whole bool) {
	w := &formatting{text: !f.Plain, cut: true, limit: max, foreign: f.Foreign, show: describeForeign}
	dst := w.append(nil, t)
	if !w.full(dst) {
		return string(dst), !w.rounded
	}
	return cutText(string(dst), max, w.whole), false
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
