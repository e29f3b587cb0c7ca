package printable

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Shows reports whether r is printable: visible, not of zero width, and without other effects on a terminal.
func Shows(r rune) bool {
	if ' ' <= r && r <= '~' {
		return true
	}
	return unicode.IsGraphic(r) && r != utf8.RuneError &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Text returns text with unprintable characters, including line breaks, and bytes of invalid UTF-8 escaped like \x{1B}, as
// in Erlang. It returns printable text unchanged.
func Text(text string) string {
	i := first(text)
	if i < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:i])
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			r = rune(text[i])
		} else if Shows(r) {
			b.WriteString(text[i : i+size])
			i += size
			continue
		}
		fmt.Fprintf(&b, `\x{%X}`, r)
		i += size
	}
	return b.String()
}

// Is reports whether text is printable.
func Is(text string) bool { return first(text) < 0 }

// first returns the index of the first unprintable character, or -1.
func first(text string) int {
	for i, r := range text {
		if !Shows(r) {
			return i
		}
	}
	return -1
}

// Escape appends b to dst, with unprintable characters except line breaks escaped as in JSON strings: \u001b. Invalid UTF-8
// is kept. It does not change the values in JSON.
func Escape(dst, b []byte) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '\n' || Shows(r) || r == utf8.RuneError:
			dst = append(dst, b[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		b = b[size:]
	}
	return dst
}

// Writer writes to To, with unprintable characters escaped like [Text], except line breaks, tabs and the escape sequences
// for colours and other styles (SGR). A character may be split over two writes. A Writer may be used concurrently.
type Writer struct {
	To io.Writer

	mu   sync.Mutex
	rest []byte // an incomplete character or escape sequence
}

// longestStyle is the maximum length of a permitted escape sequence, in bytes.
const longestStyle = 64

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := append(w.rest, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		n, whole := passes(in)
		if !whole {
			break
		}
		if n == 0 {
			_, n = utf8.DecodeRune(in)
			out = append(out, Text(string(in[:n]))...)
		} else {
			out = append(out, in[:n]...)
		}
		in = in[n:]
	}
	w.rest = bytes.Clone(in)
	if _, err := w.To.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes incomplete data.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.rest
	w.rest = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := w.To.Write([]byte(Text(string(rest))))
	return err
}

// Styled returns text as a Writer would write it.
func Styled(text string) string {
	var b strings.Builder
	w := Writer{To: &b}
	w.Write([]byte(text)) // a Builder never fails
	w.Flush()
	return b.String()
}

// passes returns the number of bytes at the beginning of b, which is not empty, that may be written unchanged: a character
// or a style, or 0 if the first character is unprintable. whole is false if b ends within either.
func passes(b []byte) (n int, whole bool) {
	switch {
	case b[0] == '\n', b[0] == '\t':
		return 1, true
	case b[0] == 0x1b:
		return style(b)
	case !utf8.FullRune(b):
		return 0, false
	}
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size == 1 || !Shows(r) {
		return 0, true
	}
	return size, true
}

// style is passes for data that begins with an escape character.
func style(b []byte) (n int, whole bool) {
	for i, c := range b[1:] {
		switch {
		case i > longestStyle:
			return 0, true
		case i == 0:
			if c != '[' {
				return 0, true
			}
		case c == 'm':
			return i + 2, true
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0, true
		}
	}
	return 0, false
}
