package otp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

// errFormat says that a format and its arguments do not fit.
var errFormat = errors.New("otp: bad format")

// maxText bounds what one request prints, in bytes: any connected node may send one. Longer text is cut, and says so.
const maxText = 1 << 20

// maxField bounds fields and precisions, and so what one directive can print.
const maxField = 1 << 16

// directive is one ~F.P.PadModC of a format.
type directive struct {
	field, prec      int // field < 0: to the left
	hasField, hasPrc bool
	pad              rune
	unicode          bool // t
	long             bool // l
	c                rune
}

// formatter prints what io_lib:format does.
type formatter struct {
	in   []rune
	args []any
	out  strings.Builder
}

// format is io_lib:format, except that ~p and ~P do not break lines.
func format(text string, args []any) (string, error) {
	f := &formatter{in: []rune(text), args: args}
	for len(f.in) > 0 {
		c := f.next()
		if c != '~' {
			f.out.WriteRune(c)
			continue
		}
		d, err := f.directive()
		if err == nil {
			err = f.print(d)
		}
		if err != nil {
			return "", err
		}
		if f.out.Len() > maxText {
			return f.out.String(), nil // what follows is cut off anyway
		}
	}
	if len(f.args) > 0 {
		return "", errFormat
	}
	return f.out.String(), nil
}

// next takes a character; 0 at the end.
func (f *formatter) next() rune {
	if len(f.in) == 0 {
		return 0
	}
	c := f.in[0]
	f.in = f.in[1:]
	return c
}

func (f *formatter) peek() rune {
	if len(f.in) == 0 {
		return 0
	}
	return f.in[0]
}

// arg takes an argument.
func (f *formatter) arg() (any, error) {
	if len(f.args) == 0 {
		return nil, errFormat
	}
	a := f.args[0]
	f.args = f.args[1:]
	return a, nil
}

func (f *formatter) integer() (int, error) {
	a, err := f.arg()
	if err != nil {
		return 0, err
	}
	n, ok := wire.AsInt(a)
	if !ok || n > maxField || n < -maxField {
		return 0, errFormat
	}
	return int(n), nil
}

// number reads digits, or takes an argument for *.
func (f *formatter) number() (n int, there bool, err error) {
	if f.peek() == '*' {
		f.next()
		n, err = f.integer()
		return n, true, err
	}
	for c := f.peek(); c >= '0' && c <= '9'; c = f.peek() {
		f.next()
		there = true
		if n = 10*n + int(c-'0'); n > maxField {
			return 0, true, errFormat
		}
	}
	return n, there, nil
}

// directive reads what comes after ~.
func (f *formatter) directive() (d directive, err error) {
	d.pad = ' '
	minus := f.peek() == '-'
	if minus {
		f.next()
	}
	if d.field, d.hasField, err = f.number(); err != nil {
		return d, err
	}
	if minus {
		d.field = -d.field
	}
	if f.peek() == '.' {
		f.next()
		if d.prec, d.hasPrc, err = f.number(); err != nil {
			return d, err
		}
		if f.peek() == '.' {
			f.next()
			if d.pad = f.next(); d.pad == '*' {
				n, err := f.integer()
				if err != nil {
					return d, err
				}
				d.pad = rune(n)
			}
		}
	}
	for {
		switch c := f.next(); c {
		case 't':
			d.unicode = true
		case 'l':
			d.long = true
		case 'k', 'K': // order of maps: always by key
			if c == 'K' {
				if _, err := f.arg(); err != nil {
					return d, err
				}
			}
		case 0:
			return d, errFormat
		default:
			d.c = c
			return d, nil
		}
	}
}

// print prints one directive.
func (f *formatter) print(d directive) error {
	switch d.c {
	case '~':
		f.out.WriteByte('~')
		return nil
	case 'n':
		n := 1
		if d.hasField {
			n = d.field
		}
		f.out.WriteString(strings.Repeat("\n", max(n, 0)))
		return nil
	case 'i':
		_, err := f.arg()
		return err
	}
	a, err := f.arg()
	if err != nil {
		return err
	}
	var s string
	switch d.c {
	case 'w', 'p':
		s, err = f.term(d, a), nil
	case 'W', 'P': // their depth is ignored
		_, err = f.arg()
		s = f.term(d, a)
	case 's':
		s, err = chars(d, a)
	case 'c':
		return f.character(d, a)
	case 'e', 'f', 'g':
		s, err = float(d, a)
	case 'b', 'B', 'x', 'X', '#', '+':
		s, err = f.based(d, a)
	default:
		return errFormat
	}
	if err != nil {
		return err
	}
	f.pad(d, s)
	return nil
}

func (f *formatter) term(d directive, a any) string {
	if d.c == 'w' || d.c == 'W' {
		return wire.Formatter{Plain: true, Max: maxText + 1}.Format(a)
	}
	if d.long {
		return wire.Formatter{Plain: true, Max: maxText + 1}.Format(a)
	}
	return wire.Formatter{Max: maxText + 1}.Format(a)
}

// pad pads s to the field, and prints stars if it does not fit; ~s is cut, and the field of ~p is a line width.
func (f *formatter) pad(d directive, s string) {
	width := max(d.field, -d.field)
	n := utf8.RuneCountInString(s)
	switch {
	case !d.hasField || d.c == 'p' || d.c == 'P':
	case n > width && d.c == 's':
		s = string([]rune(s)[:width])
	case n > width:
		s = strings.Repeat("*", width)
	case d.field < 0:
		s += strings.Repeat(string(d.pad), width-n)
	default:
		s = strings.Repeat(string(d.pad), width-n) + s
	}
	f.out.WriteString(s)
}

// character prints ~c: a character, as many times as the precision says.
func (f *formatter) character(d directive, a any) error {
	n, ok := wire.AsInt(a)
	if !ok || n < 0 || n > utf8.MaxRune {
		return errFormat
	}
	if !d.unicode {
		n &= 0xff
	}
	times := 1
	if d.hasPrc {
		times = d.prec
	} else if d.hasField {
		times = max(d.field, -d.field)
	}
	s := strings.Repeat(string(rune(n)), max(times, 0))
	if d.hasField && d.hasPrc {
		f.pad(d, s)
		return nil
	}
	f.out.WriteString(s)
	return nil
}

// chars converts the argument of ~s and ~ts: an atom, or characters in lists and binaries.
func chars(d directive, a any) (string, error) {
	if atom, ok := a.(wire.Atom); ok {
		a = string(atom)
		d.unicode = true
	}
	s, ok := charData(a, d.unicode)
	if !ok {
		return "", errFormat
	}
	if d.hasPrc {
		r := []rune(s)
		if len(r) > d.prec {
			r = r[:max(d.prec, 0)]
		}
		s = string(r) + strings.Repeat(string(d.pad), max(d.prec-len(r), 0))
	}
	return s, nil
}

const defaultPrecision = 6

// float prints ~e, ~f and ~g. The precision is the number of decimals for ~f, of digits for the others.
func float(d directive, a any) (string, error) {
	v, ok := a.(float64)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) { // nodes of this kind may send such floats
		return "", errFormat
	}
	prec, form := defaultPrecision, byte(d.c)
	if d.hasPrc {
		prec = d.prec
	}
	if form == 'g' {
		if prec < 1 {
			return "", errFormat
		}
		form, prec = general(math.Abs(v), prec)
	}
	if form == 'f' && prec < 1 || form == 'e' && prec < 2 {
		return "", errFormat
	}
	if form == 'f' {
		return strconv.FormatFloat(v, 'f', prec, 64), nil
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(v, 'e', prec-1, 64), "e")
	return mantissa + "e" + exp[:1] + cmp.Or(strings.TrimLeft(exp[1:], "0"), "0"), nil
}

// general chooses the form for ~g: that of "~f" from 0.1 to 9999.9, if that leaves a decimal.
func general(v float64, digits int) (form byte, prec int) {
	whole := -2 // digits before the point, minus 1
	for limit := 0.1; v >= limit; limit *= 10 {
		if whole++; whole > 3 {
			break
		}
	}
	switch {
	case digits == 1 && whole == -1, whole >= -1 && whole <= 3 && digits-1 > whole:
		return 'f', digits - 1 - whole
	case digits == 1:
		return 'e', 2
	}
	return 'e', digits
}

const defaultBase = 10

// based prints integers in a base.
func (f *formatter) based(d directive, a any) (string, error) {
	base := defaultBase
	if d.hasPrc {
		base = d.prec
	}
	if base < 2 || base > 36 {
		return "", errFormat
	}
	v, ok := a.(*big.Int)
	if n, isInt := wire.AsInt(a); isInt {
		v, ok = big.NewInt(n), true
	}
	if !ok {
		return "", errFormat
	}
	prefix := ""
	switch d.c {
	case 'x', 'X':
		p, err := f.arg()
		if err != nil {
			return "", err
		}
		if prefix, ok = charData(p, true); !ok {
			return "", errFormat
		}
	case '#', '+':
		prefix = strconv.Itoa(base) + "#"
	}
	s := new(big.Int).Abs(v).Text(base)
	if d.c == 'B' || d.c == 'X' || d.c == '#' {
		s = strings.ToUpper(s)
	}
	if v.Sign() < 0 {
		prefix = "-" + prefix
	}
	return prefix + s, nil
}

// maxNesting is how deeply lists may be nested.
const maxNesting = 1000

// charData flattens characters: code points in nested lists and binaries. A binary is UTF-8 if unicode is set, else
// each byte is a character.
func charData(t any, unicode bool) (string, bool) {
	var b strings.Builder
	if err := addChars(&b, t, unicode, maxNesting); err != nil {
		return "", false
	}
	return b.String(), true
}

func addChars(b *strings.Builder, t any, unicode bool, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%w: lists are nested too deeply", errFormat)
	}
	switch t := t.(type) {
	case []byte:
		return addBytes(b, string(t), unicode)
	case string:
		return addBytes(b, t, unicode)
	case wire.ImproperList:
		for _, e := range t.Head {
			if err := addChars(b, e, unicode, depth-1); err != nil {
				return err
			}
		}
		if _, isInt := wire.AsInt(t.Tail); isInt {
			return errFormat
		}
		return addChars(b, t.Tail, unicode, depth-1)
	}
	if n, ok := wire.AsInt(t); ok {
		switch {
		case depth == maxNesting: // a character alone is no text
			return errFormat
		case n < 0, n > utf8.MaxRune, !utf8.ValidRune(rune(n)), !unicode && n > 0xff:
			return errFormat
		}
		b.WriteRune(rune(n))
		return nil
	}
	l, ok := wire.AsList(t)
	if !ok {
		return errFormat
	}
	for _, e := range l {
		if err := addChars(b, e, unicode, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func addBytes(b *strings.Builder, s string, unicode bool) error {
	if unicode {
		if !utf8.ValidString(s) {
			return errFormat
		}
		b.WriteString(s)
		return nil
	}
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return nil
}
