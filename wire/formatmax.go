package wire

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// FormatMax returns what [Format] does, cut after max bytes. What is cut ends with …
// and, where that is known, the size of what was cut: "<<1,2,3… (62914560 bytes in
// all)". It takes memory and time for max bytes, however large t is; see [Describe] for
// Go values that are no terms. What it does to stay within them shows
// only where a text is cut: text is recognized by its beginning, the pairs of a large
// map come in any order, and an integer with too many digits is #Integer<N bits>.
func FormatMax(t any, max int) string { return formatMax(t, max, true, nil) }

// FormatPlainMax returns what [FormatPlain] does, cut as [FormatMax] does it.
func FormatPlainMax(t any, max int) string { return formatMax(t, max, false, nil) }

// FormatMaxFunc is [FormatMax] for terms with Go values in them that are none: foreign
// returns what stands for such a value. It is asked again about what it returns, if
// that is no term either, until it is one.
func FormatMaxFunc(t any, max int, foreign func(any) any) string {
	return formatMax(t, max, true, foreign)
}

func formatMax(t any, max int, text bool, foreign func(any) any) string {
	s, _ := formatWhole(t, max, text, foreign)
	return s
}

// formatWhole also reports whether that is what Format returns.
func formatWhole(t any, max int, text bool, foreign func(any) any) (s string, whole bool) {
	f := &formatting{text: text, cut: true, limit: max, foreign: foreign, show: describeForeign}
	dst := f.append(nil, t)
	if !f.full(dst) {
		return string(dst), !f.rounded
	}
	return cutText(string(dst), max, f.whole), false
}

// cutText is the beginning of s, of max bytes at most, with what says that it is not
// all; whole is the size of all, "": not known.
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

// Numbers with more bits than bigBits cost more than their text is worth, if that is
// to be cut.
const (
	bigBits      = 4096
	bitsPerDigit = 3
)

// full reports whether dst needs no more: it is cut after limit.
func (f *formatting) full(dst []byte) bool { return f.cut && len(dst) > f.limit }

// left is how many bytes may still be added.
func (f *formatting) left(dst []byte) int {
	if !f.cut {
		return math.MaxInt
	}
	return max(0, f.limit-len(dst))
}

// head is s, or a beginning of it that is longer than what may still be added.
func (f *formatting) head(dst []byte, s string) string {
	if left := f.left(dst); left < len(s)-utf8.UTFMax {
		return s[:left+utf8.UTFMax]
	}
	return s
}

// sized notes the size of t, which has been appended, if it is what is cut.
func (f *formatting) sized(dst []byte, t any) []byte {
	if f.full(dst) {
		f.whole = sizeOf(t)
	}
	return dst
}

// wholeRunes is s without the beginning of a rune at its end.
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

// sizeOf says how large a term is; "": that is not known without looking at all.
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

// countOf is the number of a term's elements, pairs or bytes, as far as it is known.
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

// largest is the size of the largest of the terms that have been opened and not
// closed.
func largest(stack []brackets) string {
	var most any
	for _, b := range stack {
		if countOf(b.inside.t) > countOf(most) {
			most = b.inside.t
		}
	}
	return sizeOf(most)
}
