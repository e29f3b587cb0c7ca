package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads quoted text; the opening quote is next.
func (p *parser) quoted(quote rune) ([]rune, error) {
	start := p.pos
	p.pos++
	var runes []rune
	for {
		if p.pos >= len(p.text) {
			return nil, p.failAt(start, "this %c has no closing %c", quote, quote)
		}
		if r, _ := p.peek(); r == quote {
			p.pos++
			return runes, nil
		}
		r, err := p.char()
		if err != nil {
			return nil, err
		}
		runes = append(runes, r)
	}
}

// char reads one character or escape sequence.
func (p *parser) char() (rune, error) {
	if p.pos >= len(p.text) {
		return 0, p.expected("a character")
	}
	r, n := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && n == 1 {
		return 0, p.failAt(p.pos, "the text is not valid UTF-8")
	}
	p.pos += n
	if r != '\\' {
		return r, nil
	}
	r, ok := p.peek()
	if !ok {
		return 0, p.expected("the rest of an escape sequence")
	}
	switch {
	case '0' <= r && r <= '7':
		return p.octal(), nil
	case r == 'x':
		return p.hex()
	case r == '^':
		return p.control()
	}
	if i := strings.IndexRune("nrtvbfesd", r); i >= 0 {
		p.pos++
		return rune("\n\r\t\v\b\f\x1b \x7f"[i]), nil
	}
	_, n = utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && n == 1 {
		return 0, p.failAt(p.pos, "the text is not valid UTF-8")
	}
	p.pos += n
	return r, nil
}

// octal reads the one to three digits of \101.
func (p *parser) octal() (r rune) {
	for i := 0; i < 3 && p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '7'; i++ {
		r = r<<3 | rune(p.text[p.pos]-'0')
		p.pos++
	}
	return r
}

// hex reads "xff" or "x{10ffff}".
func (p *parser) hex() (rune, error) {
	start := p.pos - 1
	p.pos++
	digits := p.text[p.pos:]
	if p.accept("{") {
		var closed bool
		if digits, _, closed = strings.Cut(digits[1:], "}"); !closed {
			return 0, p.failAt(start, "this escape sequence has no closing }")
		}
		p.pos += len(digits) + 1
	} else {
		digits = digits[:min(2, len(digits))]
		if len(digits) < 2 {
			digits = ""
		}
		p.pos += len(digits)
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, p.failAt(start, `expected \xhh or \x{h…} with the hexadecimal number of a character`)
	}
	return rune(n), nil
}

// control reads the ^a of \^a.
func (p *parser) control() (rune, error) {
	p.pos++
	r, ok := p.peek()
	if !ok || !('@' <= r && r <= '_' || 'a' <= r && r <= 'z') {
		return 0, p.expected(`one of @ A…Z [ \ ] ^ _ after \^`)
	}
	p.pos++
	return r & 31, nil
}
