package wire

import (
	"math/big"
	"strconv"
	"strings"
)

// number reads a number or $c, with an optional sign.
func (p *parser) number() (any, error) {
	minus := p.accept("-")
	if minus || p.accept("+") {
		p.space()
	}
	t, err := p.unsigned()
	if err != nil || !minus {
		return t, err
	}
	switch t := t.(type) {
	case int:
		return -t, nil
	case float64:
		return -t, nil
	}
	return IntegerOf(new(big.Int).Neg(t.(*big.Int))), nil
}

// unsigned reads digits, base#digits, digits.digits with or without exponent,
// or $c.
func (p *parser) unsigned() (any, error) {
	if p.accept("$") {
		r, err := p.char()
		return int(r), err
	}
	start := p.pos
	digits := p.digits(10)
	if digits == "" {
		return nil, p.expected("a number")
	}
	if p.accept("#") {
		base, err := strconv.Atoi(digits)
		if err != nil || base < 2 || base > 36 {
			return nil, p.failAt(start, "expected a base from 2 to 36 before #")
		}
		if digits = p.digits(base); digits == "" {
			return nil, p.expected("a digit of base " + strconv.Itoa(base))
		}
		return integer(digits, base), nil
	}
	if rest := p.text[p.pos:]; len(rest) < 2 || rest[0] != '.' || digitOf(rest[1]) > 9 {
		return integer(digits, 10), nil
	}
	p.pos++
	number := digits + "." + p.digits(10)
	if mark := p.pos; p.accept("e") || p.accept("E") {
		sign := ""
		if p.accept("-") {
			sign = "-"
		} else {
			p.accept("+")
		}
		exponent := p.digits(10)
		if exponent == "" {
			p.pos = mark
			return nil, p.expected("an exponent such as e5 or e-5, or no letter at all")
		}
		number += "e" + sign + exponent
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, p.failAt(start, "this float is too large")
	}
	return f, nil
}

// digits reads digits of a base, with optional single underscores between them, and returns them without underscores.
func (p *parser) digits(base int) string {
	start := p.pos
	for i := start; i < len(p.text); i++ {
		if digitOf(p.text[i]) < base {
			p.pos = i + 1
		} else if p.text[i] != '_' || p.pos != i || i == start {
			break
		}
	}
	return strings.ReplaceAll(p.text[start:p.pos], "_", "")
}

// digitOf returns the value of a digit or letter, 99 for anything else.
func digitOf(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

func integer(digits string, base int) any {
	if n, err := strconv.ParseInt(digits, base, 0); err == nil {
		return int(n)
	}
	n, _ := new(big.Int).SetString(digits, base)
	return IntegerOf(n)
}
