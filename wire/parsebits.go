package wire

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxParseBits is the maximum total number of bits of the segments with an explicit size, as in <<1:Size>>, in one text
// that [Parse] reads.
const maxParseBits = 1 << 20

// bitWriter appends bits, highest bit of a byte first.
type bitWriter struct {
	data []byte
	bits int
}

// write appends the low n bits (up to 8) of c.
func (w *bitWriter) write(c byte, n int) {
	c <<= 8 - n
	if used := w.bits % 8; used == 0 {
		w.data = append(w.data, c)
	} else {
		w.data[len(w.data)-1] |= c >> used
		if n > 8-used {
			w.data = append(w.data, c<<(8-used))
		}
	}
	w.bits += n
}

// segment is one part of <<…>>: values with a common size and type.
type segment struct {
	pos    int   // where it starts
	values []any // integers or one float
	text   bool  // written as a string
	size   int   // in bits, -1 for the type's default
	kind   string
	little bool
}

// The flags of a segment; at most one of each group may be given.
var segmentFlags = [][]string{
	{"integer", "float", "utf8", "utf16", "utf32"},
	{"big", "little"},
	{"unsigned", "signed"},
}

// bits reads the rest of <<…>>.
func (p *parser) bits() (any, error) {
	var w bitWriter
	if !p.next(">>") {
		for {
			s, err := p.segment()
			if err == nil {
				err = p.writeSegment(&w, s)
			}
			if err != nil {
				return nil, err
			}
			if p.next(">>") {
				break
			}
			if !p.accept(",") {
				return nil, p.expected(`",", ":", "/" or ">>"`)
			}
		}
	}
	if w.bits%8 == 0 {
		return slices.Concat([]byte{}, w.data), nil
	}
	return NewBitstring(w.data, w.bits), nil
}

// segment reads Value:Size/Flag-Flag.
func (p *parser) segment() (segment, error) {
	p.space()
	s := segment{pos: p.pos, size: -1, kind: "integer"}
	r, _ := p.peek()
	switch {
	case r == '"':
		t, err := p.strings()
		if err != nil {
			return s, err
		}
		s.values, s.text = t.(List), true
	case r == '+' || r == '-' || r == '$' || '0' <= r && r <= '9':
		t, err := p.number()
		if err != nil {
			return s, err
		}
		s.values = []any{t}
	default:
		return s, p.expected("a number, $c or a string inside <<…>>")
	}
	if p.next(":") {
		p.space()
		start := p.pos
		t, err := p.unsigned()
		if err != nil {
			return s, err
		}
		n, ok := t.(int)
		if !ok || n > maxParseBits || n*len(s.values) > maxParseBits-p.sized {
			return s, p.failAt(start, "expected a size of at most %d bits, of all segments together", maxParseBits)
		}
		s.size = n
		p.sized += n * len(s.values)
	}
	if p.next("/") {
		return p.flags(s)
	}
	return s, nil
}

// flags reads what follows the slash of a segment.
func (p *parser) flags(s segment) (segment, error) {
	var given [3]Atom
	for {
		p.space()
		start := p.pos
		name, _, err := p.name()
		if err != nil {
			return s, err
		}
		group := slices.IndexFunc(segmentFlags, func(g []string) bool { return slices.Contains(g, string(name)) })
		if group < 0 || given[group] != "" && given[group] != name {
			p.pos = start
			return s, p.failAt(start, "expected one of integer, float, utf8, utf16, utf32, one of big, little, "+
				"or one of signed, unsigned")
		}
		given[group] = name
		switch {
		case group == 0:
			s.kind = string(name)
		case name == "little":
			s.little = true
		}
		if !p.next("-") {
			return s, nil
		}
	}
}

// writeSegment appends the values of s.
func (p *parser) writeSegment(w *bitWriter, s segment) error {
	if strings.HasPrefix(s.kind, "utf") && s.size >= 0 {
		return p.failAt(s.pos, "a segment of type %s has no size", s.kind)
	}
	for _, v := range s.values {
		var err error
		switch s.kind {
		case "integer":
			err = p.writeInteger(w, s, v)
		case "float":
			err = p.writeFloat(w, s, v)
		default:
			err = p.writeRune(w, s, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) writeInteger(w *bitWriter, s segment, v any) error {
	size := s.size
	if size < 0 {
		size = 8
	}
	x := new(big.Int)
	switch v := v.(type) {
	case int:
		x.SetInt64(int64(v))
	case *big.Int:
		x.Set(v)
	default:
		return p.failAt(s.pos, "a float in <<…>> needs the type /float")
	}
	if x.Sign() < 0 { // two's complement
		wide := max(size, x.BitLen()+1)
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(wide)))
	}
	low := make([]byte, max((size+7)/8, (x.BitLen()+7)/8))
	x.FillBytes(low)
	low = low[len(low)-(size+7)/8:] // the significant bytes, highest first
	w.number(low, size, s.little)
	return nil
}

// number appends the low size bits of a number given highest byte first.
func (w *bitWriter) number(b []byte, size int, little bool) {
	if little {
		for ; size >= 8; size -= 8 {
			w.write(b[len(b)-1], 8)
			b = b[:len(b)-1]
		}
	}
	if size%8 > 0 {
		w.write(b[0], size%8)
		b = b[1:]
	}
	if !little {
		for _, c := range b {
			w.write(c, 8)
		}
	}
}

func (p *parser) writeFloat(w *bitWriter, s segment, v any) error {
	f, isFloat := v.(float64)
	if !isFloat {
		f, _ = new(big.Float).SetInt(bigOf(numOf(v))).Float64()
	}
	if math.IsInf(f, 0) {
		return p.failAt(s.pos, "this integer is too large for a float")
	}
	var bits uint64
	switch s.size {
	case -1, 64:
		s.size, bits = 64, math.Float64bits(f)
	case 32:
		if math.IsInf(float64(float32(f)), 0) {
			return p.failAt(s.pos, "this float is too large for 32 bits")
		}
		bits = uint64(math.Float32bits(float32(f)))
	default:
		return p.failAt(s.pos, "a float has 32 or 64 bits")
	}
	w.number(new(big.Int).SetUint64(bits).FillBytes(make([]byte, s.size/8)), s.size, s.little)
	return nil
}

func (p *parser) writeRune(w *bitWriter, s segment, v any) error {
	n, ok := v.(int)
	if !ok || n != int(rune(n)) || !utf8.ValidRune(rune(n)) {
		return p.failAt(s.pos, "expected the code point of a character for the type %s", s.kind)
	}
	switch r := rune(n); s.kind {
	case "utf8":
		for _, c := range utf8.AppendRune(nil, r) {
			w.write(c, 8)
		}
	case "utf16":
		for _, u := range utf16.AppendRune(nil, r) {
			w.number([]byte{byte(u >> 8), byte(u)}, 16, s.little)
		}
	default:
		w.number([]byte{byte(r >> 24), byte(r >> 16), byte(r >> 8), byte(r)}, 32, s.little)
	}
	return nil
}

// bigOf returns an integer of any size as a *big.Int.
func bigOf(x num) *big.Int {
	if x.kind == numBig {
		return x.big
	}
	return big.NewInt(x.small)
}
