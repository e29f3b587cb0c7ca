package wire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Format returns t in Erlang syntax on one line, as io:format("~0tp", [T]) of
// an Erlang started with +pc unicode writes it: lists of printable characters as
// "text", binaries of printable text as <<"text">>, or <<"tëxt"/utf8>>. Maps are
// in key order, which is "~0ktp" from OTP 26 on. What Erlang cannot write so that
// it reads back is in brackets: <go@host.42.0>, #Ref<…>, #Port<…>, #Fun<…>, and
// #Go<type text> for a Go value that is no term: the text is what [Describe] has of
// it, and there is none if its type offers none. [Parse] reads the rest back.
func Format(t any) string { return Formatter{}.Format(t) }

// Formatter says how a term is written. That with no field set writes it as [Format] does.
type Formatter struct {
	// Max is after how many bytes the text is cut; 0: it is not. What is cut ends with …
	// and, where that is known, the size of what was cut: "<<1,2,3… (62914560 bytes in
	// all)". It takes memory and time for Max bytes, however large the term is; see
	// [Describe] for Go values that are no terms. What it does to stay within them shows
	// only where a text is cut: text is recognized by its beginning, the pairs of a large
	// map come in any order, and an integer with too many digits is #Integer<N bits>.
	Max int

	// Plain makes no guess at what is text, as io:format("~tw", [T]): lists of characters
	// are lists of numbers, binaries are bytes.
	Plain bool

	// Foreign returns what stands for a Go value that is no term. It is asked again about
	// what it returns, if that is no term either, until it is one. nil: #Go<type text>
	// stands for it.
	Foreign func(v any) any
}

// Format returns a term in Erlang syntax on one line.
func (f Formatter) Format(t any) string {
	s, _ := f.formatWhole(t)
	return s
}

// brackets is a compound term whose bracket has been opened and not closed yet.
type brackets struct {
	inside cells
	n      int // parts written
	pairs  bool
	end    string
}

// formatting is the state of formatting a term.
type formatting struct {
	text bool // whether lists and binaries that look like text are written as text

	// For truncated text.
	cut     bool          // whether the text is truncated
	limit   int           // the length of dst at which formatting stops
	foreign func(any) any // replaces a value that is not a term; may be nil
	// describeForeign; the indirection hides the recursion from the compiler, so append needs no heap
	show    func(v any, max int) string
	whole   string // the size of the last truncated term
	rounded bool   // some part was not written as Format does
}

// append appends t. Like compare, it keeps the depth of t on the heap.
func (f *formatting) append(dst []byte, t any) []byte {
	var buf [8]brackets
	dst, stack := f.one(dst, buf[:0], t)
	for len(stack) > 0 && !f.full(dst) {
		top := &stack[len(stack)-1]
		part, ok := top.inside.next()
		switch {
		case ok && top.n == 0:
		case ok && top.pairs && top.n%2 == 1:
			dst = append(dst, " => "...)
		case ok:
			dst = append(dst, ',')
		case top.inside.tail() != nil:
			part = top.inside.tail()
			top.inside = cells{}
			dst = append(dst, '|')
		default:
			dst = append(dst, top.end...)
			stack = stack[:len(stack)-1]
			continue
		}
		top.n++
		dst, stack = f.one(dst, stack, part)
	}
	if f.full(dst) && f.whole == "" {
		f.whole = largest(stack)
	}
	return dst
}

// one appends t if it has no parts; otherwise it appends the opening bracket and pushes the parts.
func (f *formatting) one(dst []byte, stack []brackets, t any) ([]byte, []brackets) {
	t = bare(t)
	class := classOf(t)
	for ; class == classForeign && f.foreign != nil; class = classOf(t) {
		t = bare(f.foreign(t))
	}
	switch class {
	case classNumber:
		dst = f.number(dst, t)
	case classAtom:
		dst = f.atom(dst, string(atomOf(t)))
	case classTuple:
		return append(dst, '{'), append(stack, brackets{inside: cellsOf(t), end: "}"})
	case classList:
		if f.text && isString(t, f.left(dst)) {
			return f.string(dst, t), stack
		}
		return append(dst, '['), append(stack, brackets{inside: cellsOf(t), end: "]"})
	case classMap:
		dst = append(dst, "#{"...)
		body := t.(Map).body
		if t.(Map).Len() == 0 {
			return append(dst, '}'), stack
		}
		if len(body.pairs) <= f.left(dst) {
			body = body.ordered()
		}
		return dst, append(stack, brackets{inside: cellsOf(pairsOf{body}), pairs: true, end: "}"})
	case classBits:
		dst = f.bits(dst, t)
	case classFun:
		f := t.(Fun)
		dst = fmt.Appendf(dst, "#Fun<%s.%d.%d>", string(f.Module), f.OldIndex, f.OldUniq)
	case classExport:
		f := t.(Export)
		dst = appendAtom(append(dst, "fun "...), f.Module)
		dst = appendAtom(append(dst, ':'), f.Function)
		dst = strconv.AppendInt(append(dst, '/'), int64(f.Arity), 10)
	case classPID, classRef, classPort:
		dst = append(dst, t.(fmt.Stringer).String()...)
	default:
		dst = append(dst, "#Go<"...)
		dst = append(append(dst, f.show(t, f.left(dst))...), '>')
	}
	return dst, stack
}

func (f *formatting) number(dst []byte, t any) []byte {
	switch x := numOf(t); x.kind {
	case numSmall:
		return strconv.AppendInt(dst, x.small, 10)
	case numBig:
		if n := x.big.BitLen(); n > bigBits && n/bitsPerDigit > f.left(dst) { // the first digits cost as much as all of them
			f.rounded = true
			return fmt.Appendf(dst, "#Integer<%d bits>", n)
		}
		return x.big.Append(dst, 10)
	default:
		return appendFloat(dst, x.float)
	}
}

// appendFloat appends the shortest text that reads back as f: plain or with an
// exponent, whichever is shorter, but always with an exponent from 2^53 on, like float_to_list(F, [short]). NaN and the
// infinities are not terms.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Appendf(dst, "#Go<float64 %v>", f)
	}
	var buf [32]byte
	exp := strconv.AppendFloat(buf[:0], f, 'e', -1, 64) // -d.ddde±dd
	mantissa, exponent, _ := bytes.Cut(exp, []byte{'e'})
	power, _ := strconv.Atoi(string(exponent))
	size := len(mantissa) + len("e") + len(strconv.Itoa(power))
	if !bytes.ContainsRune(mantissa, '.') {
		size += len(".0")
	}
	if math.Abs(f) < 1<<53 {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
		if !bytes.ContainsRune(dst[start:], '.') {
			dst = append(dst, ".0"...)
		}
		if len(dst)-start <= size {
			return dst
		}
		dst = dst[:start]
	}
	dst = append(dst, mantissa...)
	if !bytes.ContainsRune(mantissa, '.') {
		dst = append(dst, ".0"...)
	}
	return strconv.AppendInt(append(dst, 'e'), int64(power), 10)
}

// isString reports whether a list is proper, not empty, and contains only printable characters. It examines at most most+1
// elements.
func isString(list any, most int) bool {
	c := cellsOf(list)
	n := 0
	for t, ok := c.next(); ok; t, ok = c.next() {
		r, ok := AsInt(t)
		if !ok || r != int64(rune(r)) || !isPrintable(rune(r)) {
			return false
		}
		if n++; n > most {
			return true
		}
	}
	return n > 0 && c.tail() == nil
}

func (f *formatting) string(dst []byte, list any) []byte {
	dst = append(dst, '"')
	c := cellsOf(list)
	for t, ok := c.next(); ok && !f.full(dst); t, ok = c.next() {
		r, _ := AsInt(t)
		dst = appendRune(dst, rune(r), '"')
	}
	dst = append(dst, '"')
	if f.full(dst) {
		f.whole = sizeOf(list)
	}
	return dst
}

// atom appends an atom, or its beginning. The omitted part also determines whether it is quoted.
func (f *formatting) atom(dst []byte, a string) []byte {
	head := f.head(dst, a)
	if isBare(a) {
		return append(dst, head...)
	}
	return appendQuoted(dst, head, '\'')
}

func (f *formatting) bits(dst []byte, t any) []byte {
	all, n := bitsOf(t)
	data := f.head(dst, all)
	text := f.text && n > 0 && n%8 == 0
	dst = append(dst, "<<"...)
	if text {
		whole := data
		if len(data) < len(all) {
			whole = wholeRunes(data)
		}
		if out, ok := appendText(dst, whole); ok {
			return f.sized(append(out, ">>"...), t)
		}
	}
	for i := range len(data) {
		if i > 0 {
			dst = append(dst, ',')
		}
		used := min(8, n-8*i)
		dst = strconv.AppendUint(dst, uint64(data[i]>>(8-used)), 10)
		if used < 8 {
			dst = strconv.AppendInt(append(dst, ':'), int64(used), 10)
		}
	}
	return f.sized(append(dst, ">>"...), t)
}

// appendText appends a binary as text if its bytes are printable, first as
// UTF-8, else as Latin-1.
func appendText(dst []byte, data string) ([]byte, bool) {
	ascii, valid, latin := true, utf8.ValidString(data), true
	for i := range len(data) {
		ascii = ascii && data[i] < utf8.RuneSelf
		latin = latin && isPrintable(rune(data[i]))
	}
	if valid {
		for _, r := range data {
			valid = valid && isPrintable(r)
		}
	}
	switch {
	case valid && ascii:
		return appendQuoted(dst, data, '"'), true
	case valid:
		return append(appendQuoted(dst, data, '"'), "/utf8"...), true
	case latin:
		dst = append(dst, '"')
		for i := range len(data) {
			dst = appendRune(dst, rune(data[i]), '"')
		}
		return append(dst, '"'), true
	}
	return dst, false
}
