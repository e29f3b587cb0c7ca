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

// Shows reports whether r is shown as itself, takes space, and does nothing else to a terminal.
func Shows(r rune) bool {
	if ' ' <= r && r <= '~' {
		return true
	}
	return unicode.IsGraphic(r) && r != utf8.RuneError &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Text returns text with all that does not show as \x{1B}, as Erlang writes it, and each byte that is no UTF-8, too. A line
// break does not show. Of a text that shows it returns the text itself.
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

// Is reports whether all of text shows.
func Is(text string) bool { return first(text) < 0 }

// first returns where the first thing is that does not show; -1: there is none.
func first(text string) int {
	for i, r := range text {
		if !Shows(r) {
			return i
		}
	}
	return -1
}

// Escape appends b to dst, with all that does not show, but for line breaks, as JSON writes it within a string: \u001b. Bytes
// that are no UTF-8 stay. Of JSON it changes no value.
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

// Writer writes what it is given to To, with all that does not show as [Text] has it, but for line breaks, tabs and the
// escape sequences for colours and the like (SGR). The last character of a write may be completed by the next one. It may be
// used by several goroutines.
type Writer struct {
	To io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character or an escape sequence
}

// longestStyle bounds an escape sequence that is let through, in bytes.
const longestStyle = 64

// Write is part of io.Writer.
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

// Flush writes what waits to be completed.
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
	w.Write([]byte(text)) // a Builder does not fail
	w.Flush()
	return b.String()
}

// passes returns how many bytes at the beginning of b, which is not empty, may be written as they are: a character or a style;
// 0: the first does not show. whole is false where b ends within either.
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

// style is passes for what begins with an escape character.
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
