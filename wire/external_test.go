package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// external appends t in Erlang's external term format, without the leading 131: only as much of it as it takes to hand
// terms to a real Erlang.
func external(b []byte, t any) []byte {
	switch t = bare(t); classOf(t) {
	case classNumber:
		return externalNumber(b, numOf(t))
	case classAtom:
		return externalAtom(b, atomOf(t))
	case classPID:
		p := t.(PID)
		b = externalAtom(append(b, 88), p.Node())
		b = binary.BigEndian.AppendUint32(b, uint32(p.Number()))
		b = binary.BigEndian.AppendUint32(b, uint32(p.Number()>>32))
		return binary.BigEndian.AppendUint32(b, p.Creation())
	case classPort:
		p := t.(Port)
		b = externalAtom(append(b, 120), p.Node())
		b = binary.BigEndian.AppendUint64(b, p.Number())
		return binary.BigEndian.AppendUint32(b, p.Creation())
	case classRef:
		r := t.(Ref)
		b = externalAtom(append(b, 90, 0, byte(len(r.AppendWords(nil)))), r.Node())
		b = binary.BigEndian.AppendUint32(b, r.Creation())
		for _, w := range r.AppendWords(nil) {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		return b
	case classFun:
		return externalFun(b, t.(Fun))
	case classExport:
		e := t.(Export)
		b = externalAtom(append(b, 113), e.Module)
		return append(externalAtom(b, e.Function), 97, byte(e.Arity))
	case classTuple:
		tuple := t.(Tuple)
		b = binary.BigEndian.AppendUint32(append(b, 105), uint32(len(tuple)))
		return externalAll(b, tuple)
	case classMap:
		m := t.(Map)
		b = binary.BigEndian.AppendUint32(append(b, 116), uint32(m.Len()))
		for k, v := range m.Unordered() {
			b = external(external(b, k), v)
		}
		return b
	case classList:
		return externalList(b, t)
	case classBits:
		s, n := bitsOf(t)
		b = append(b, 109)
		if n%8 != 0 {
			b[len(b)-1] = 77
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		if n%8 != 0 {
			b = append(b, byte(n%8))
		}
		return append(b, s...)
	}
	panic(fmt.Sprintf("no term: %v", t))
}

func externalAll(b []byte, terms []any) []byte {
	for _, t := range terms {
		b = external(b, t)
	}
	return b
}

func externalNumber(b []byte, x num) []byte {
	if x.kind == numFloat {
		return binary.BigEndian.AppendUint64(append(b, 70), math.Float64bits(x.float))
	}
	n := bigOf(x)
	if n.IsInt64() && n.Int64() == int64(int32(n.Int64())) {
		return binary.BigEndian.AppendUint32(append(b, 98), uint32(n.Int64()))
	}
	digits := n.Bytes()
	slices.Reverse(digits)
	b = append(b, 110, byte(len(digits)), byte(boolInt(n.Sign() < 0)))
	return append(b, digits...)
}

func externalAtom(b []byte, a Atom) []byte {
	b = binary.BigEndian.AppendUint16(append(b, 118), uint16(len(a)))
	return append(b, a...)
}

func externalList(b []byte, t any) []byte {
	var terms []any
	c := cellsOf(t)
	for e, ok := c.next(); ok; e, ok = c.next() {
		terms = append(terms, e)
	}
	if len(terms) > 0 {
		b = binary.BigEndian.AppendUint32(append(b, 108), uint32(len(terms)))
		b = externalAll(b, terms)
	}
	if c.tail() == nil {
		return append(b, 106)
	}
	return external(b, c.tail())
}

func externalFun(b []byte, f Fun) []byte {
	body := append([]byte{byte(f.Arity)}, f.Uniq[:]...)
	body = binary.BigEndian.AppendUint32(body, f.Index)
	body = binary.BigEndian.AppendUint32(body, uint32(len(f.Free)))
	body = externalAtom(body, f.Module)
	body = external(external(external(body, f.OldIndex), f.OldUniq), f.PID)
	body = externalAll(body, f.Free)
	b = binary.BigEndian.AppendUint32(append(b, 112), uint32(len(body)+4))
	return append(b, body...)
}
