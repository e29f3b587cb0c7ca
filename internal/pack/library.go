package pack

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/actornode/actornode/wire"
)

// anyTerm is a term in a field of type any, on its way through the library: an
// separate extension, so that the library reads it by our code.
type anyTerm struct{ term any }

// The library keeps one table for the whole program of the types that are written
// in a way of their own. What stands in it from here are types of package wire,
// which have no other way, and one number of an extension. It is not safe to add
// that one later.
func init() {
	for _, t := range []any{wire.Atom(""), wire.PID{}, wire.Ref{}, wire.Port{}, wire.Tuple{}, wire.List{}, wire.ImproperList{},
		wire.Charlist(""), wire.Map{}, wire.Bitstring{}, wire.Fun{}, wire.Export{}} {
		msgpack.Register(t, encodeField, decodeField)
	}
	msgpack.Register(anyTerm{}, encodeBox, nil)
	msgpack.RegisterExtDecoder(extTerm, anyTerm{}, decodeBox)
}

// sink is where the library writes a value to.
type sink struct {
	standalone Encoder
	dst        []byte
	inner      int
}

func (s *sink) Write(b []byte) (int, error) {
	s.dst = append(s.dst, b...)
	return len(b), nil
}

// WriteByte is for the library, which asks for it.
func (s *sink) WriteByte(b byte) error {
	s.dst = append(s.dst, b)
	return nil
}

// term writes a term in between.
func (s *sink) term(t any) error {
	w := writing{Encoder: &s.standalone, dst: s.dst, inner: s.inner}
	err := w.all(t)
	s.dst = w.dst
	return err
}

// encodeField writes a field of one of wire's types.
func encodeField(enc *msgpack.Encoder, v reflect.Value) error {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return enc.EncodeNil() // as with all slices in a struct, not the same as an empty one
	}
	if s, ok := enc.Writer().(*sink); ok {
		return s.term(v.Interface())
	}
	b, err := Append(nil, v.Interface()) // another program part uses the library
	if err == nil {
		_, err = enc.Writer().Write(b)
	}
	return err
}

func encodeBox(enc *msgpack.Encoder, v reflect.Value) error {
	s, ok := enc.Writer().(*sink)
	if !ok {
		return faults.New(ErrNoTerm, "a term in a field outside of a registered value")
	}
	t := v.Interface().(anyTerm).term
	inner := sink{standalone: s.standalone, inner: s.inner}
	if err := inner.term(t); err != nil {
		return err
	}
	if err := fits(len(inner.dst), "a term in a field"); err != nil {
		return err
	}
	s.dst = append(appendExt(s.dst, extTerm, len(inner.dst)), inner.dst...)
	return nil
}

// source is where the library reads a value from: bytes that are known to be
// whole objects.
//
// Where the library wants a map and finds an extension, it takes the data of that
// for the map, whatever lengths and depths are in it, which nobody has checked. It
// does so byte by byte, and reads what it means to read of an extension in one go.
type source struct {
	r     reading
	traps []int // where it must not read a single byte, in order
}

var errTrap = errors.New("an extension in the place of a map")

func (s *source) Read(b []byte) (int, error) {
	if s.r.pos == len(s.r.b) {
		return 0, io.EOF
	}
	n := copy(b, s.r.b[s.r.pos:])
	s.r.pos += n
	return n, nil
}

// ReadByte and UnreadByte are for the library, which asks for them.
func (s *source) ReadByte() (byte, error) {
	if s.r.pos == len(s.r.b) {
		return 0, io.EOF
	}
	if _, trap := slices.BinarySearch(s.traps, s.r.pos); trap {
		return 0, errTrap
	}
	s.r.pos++
	return s.r.b[s.r.pos-1], nil
}

// UnreadByte goes back by one.
func (s *source) UnreadByte() error {
	s.r.pos--
	return nil
}

// decodeField reads a field of one of wire's types.
func decodeField(dec *msgpack.Decoder, v reflect.Value) error {
	var t any
	if s, ok := dec.Buffered().(*source); ok {
		r := s.r
		var err error
		if t, err = r.all(); err != nil {
			return err
		}
		s.r.pos, s.r.slots = r.pos, r.slots
	} else { // another program part uses the library
		b, err := dec.DecodeRaw()
		if err != nil {
			return err
		}
		if t, _, err = Decode(b); err != nil {
			return err
		}
	}
	return setField(v, t)
}

// setField puts a term into a field of one of wire's types, in the spelling that
// the field has.
func setField(v reflect.Value, t any) error {
	switch v.Interface().(type) {
	case wire.List:
		if l, ok := t.(wire.List); ok && l == nil {
			t = wire.List{}
		}
	case wire.Charlist:
		if s, ok := wire.Text(t); ok {
			t = wire.Charlist(s)
		}
	case wire.ImproperList:
		if l, ok := t.(wire.List); ok {
			t = wire.ImproperList{Head: l}
		}
	case wire.Bitstring:
		if b, ok := t.([]byte); ok {
			t = wire.NewBitstring(b, 8*len(b))
		}
	}
	switch tv := reflect.ValueOf(t); {
	case t == nil:
		v.SetZero()
	case tv.Type() == v.Type():
		v.Set(tv)
	default:
		return fmt.Errorf("a %T for a field of type %v", t, v.Type())
	}
	return nil
}

func decodeBox(dec *msgpack.Decoder, v reflect.Value, n int) error {
	s, ok := dec.Buffered().(*source)
	if !ok {
		return faults.New(ErrMalformed, "a term in a field outside of a registered value")
	}
	r := s.r
	end := r.pos + n
	r.b = r.b[:end]
	t, err := r.all()
	if err == nil && r.pos != end {
		err = r.failAt(r.pos, ErrMalformed, "expected a term in a field to end at offset %d, as its length says", end)
	}
	if err != nil {
		return err
	}
	s.r.pos, s.r.slots = end, r.slots
	v.Set(reflect.ValueOf(anyTerm{t}))
	return nil
}
