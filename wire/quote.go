package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// reserved are the words that are atoms only if quoted. maybe and else are reserved since OTP 27; older releases accept
// them quoted, too.
var reserved = []string{
	"after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case", "catch", "cond",
	"div", "else", "end", "fun", "if", "let", "maybe", "not", "of", "or", "orelse", "receive", "rem", "try",
	"when", "xor",
}

func isReserved(word string) bool {
	_, ok := slices.BinarySearch(reserved, word)
	return ok
}

// startsAtom reports whether an unquoted atom may start with r: the lower-case
// letters of Latin-1.
func startsAtom(r rune) bool {
	return 'a' <= r && r <= 'z' || 'ß' <= r && r <= 'ÿ' && r != '÷'
}

// startsVariable reports whether an Erlang variable may start with r.
func startsVariable(r rune) bool {
	return r == '_' || 'A' <= r && r <= 'Z' || 'À' <= r && r <= 'Þ' && r != '×'
}

// inName reports whether r may occur after the first character of an unquoted atom.
func inName(r rune) bool {
	return startsAtom(r) || startsVariable(r) || '0' <= r && r <= '9' || r == '@'
}

// isBare reports whether the atom a is written without quotes.
func isBare(a string) bool {
	for i, r := range a {
		if i == 0 && !startsAtom(r) || !inName(r) {
			return false
		}
	}
	return a != "" && !isReserved(a)
}

// isPrintable reports whether Format may write r in text: io_lib:printable_unicode_list/1.
func isPrintable(r rune) bool {
	switch {
	case r < ' ':
		return strings.ContainsRune("\n\r\t\v\b\f\x1b", r)
	case r <= '~':
		return true
	}
	return 0xa0 <= r && r < 0xd800 || 0xe000 <= r && r < 0xfffe || 0x10000 <= r && r <= utf8.MaxRune
}

// appendRune appends r, escaped for text quoted with quote.
func appendRune(dst []byte, r rune, quote byte) []byte {
	switch {
	case r == rune(quote) || r == '\\':
		return append(dst, '\\', byte(r))
	case ' ' <= r && r <= '~' || r >= 0xa0:
		return utf8.AppendRune(dst, r)
	}
	if i := strings.IndexRune("\n\r\t\v\b\f\x1b\x7f", r); i >= 0 {
		return append(dst, '\\', "nrtvbfed"[i])
	}
	return append(dst, '\\', '0'+byte(r>>6), '0'+byte(r>>3&7), '0'+byte(r&7))
}

// appendQuoted appends text between quotes.
func appendQuoted(dst []byte, text string, quote byte) []byte {
	dst = append(dst, quote)
	for _, r := range text {
		dst = appendRune(dst, r, quote)
	}
	return append(dst, quote)
}

// appendAtom appends a, quoted if it must be.
func appendAtom(dst []byte, a Atom) []byte {
	if isBare(string(a)) {
		return append(dst, a...)
	}
	return appendQuoted(dst, string(a), '\'')
}
