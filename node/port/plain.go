package port

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/actornode/actornode/internal/etfcodec"
	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Keys of the maps of one pair that stand for what Plain has no other way to write.
const (
	plainTerm  = "$etf"
	plainAtom  = "$atom"
	plainTuple = "$tuple"
)

// maxDepth is how deep terms may be nested with msgpack: what most libraries bear.
const maxDepth = 500

var errDepth = fmt.Errorf("%w: nested deeper than %d levels", pack.ErrLimit, maxDepth)

// plainWriter writes terms without extensions and without bin.
type plainWriter struct{ *msgpack.Encoder }

// appendPlain appends terms, one after the other.
func appendPlain(dst []byte, terms ...any) ([]byte, error) {
	var b bytes.Buffer
	w := plainWriter{msgpack.NewEncoder(&b)}
	for _, t := range terms {
		if err := w.term(t, maxDepth); err != nil {
			return dst, err
		}
	}
	return append(dst, b.Bytes()...), nil
}

// term writes t, which may be nested left levels deep.
func (w plainWriter) term(t any, left int) error {
	if left == 0 {
		return errDepth
	}
	switch v := t.(type) {
	case wire.Atom:
		switch v {
		case wire.Undefined:
			return w.EncodeNil()
		case wire.True, wire.False:
			return w.EncodeBool(v == wire.True)
		}
		return w.EncodeString(string(v))
	case bool:
		return w.EncodeBool(v)
	case string:
		return w.EncodeString(v)
	case []byte:
		return w.EncodeString(string(v))
	case wire.Tuple:
		return w.elements(v, left)
	case wire.Map:
		return w.pairs(v, left)
	}
	if n, ok := wire.Int(t); ok {
		return w.EncodeInt(n)
	}
	if l, ok := wire.Elements(t); ok {
		return w.elements(l, left)
	}
	return w.rare(t, left)
}

// rare writes what is not in most messages.
func (w plainWriter) rare(t any, left int) error {
	switch v := t.(type) {
	case *big.Int:
		if v.IsUint64() {
			return w.EncodeUint(v.Uint64())
		}
	case float64, float32, wire.Bitstring, wire.ImproperList, wire.PID, wire.Ref, wire.Port, wire.Export, wire.Fun, uint, uint64,
		uintptr:
	default:
		same, err := etf.ToTerm(t)
		if err != nil {
			return err
		}
		return w.term(same, left-1)
	}
	b, err := (&etfcodec.Encoder{Foreign: etf.ToTerm}).Append(nil, t)
	if err != nil {
		return err
	}
	switch v := t.(type) { // which Erlang has
	case float64:
		return w.EncodeFloat64(v)
	case float32:
		return w.EncodeFloat64(float64(v))
	case uint64:
		return w.EncodeUint(v)
	case uint:
		return w.EncodeUint(uint64(v))
	case uintptr:
		return w.EncodeUint(uint64(v))
	case wire.Bitstring:
		if v.BitLen()%8 == 0 {
			return w.EncodeString(string(v.Bytes()))
		}
	}
	if err := w.EncodeMapLen(1); err != nil {
		return err
	}
	return errors.Join(w.EncodeString(plainTerm), w.EncodeString(string(b)))
}

func (w plainWriter) elements(l []any, left int) error {
	err := w.EncodeArrayLen(len(l))
	for i := 0; i < len(l) && err == nil; i++ {
		err = w.term(l[i], left-1)
	}
	return err
}

// pairs writes a map in key order: the same map is the same bytes.
func (w plainWriter) pairs(m wire.Map, left int) error {
	if err := w.EncodeMapLen(m.Len()); err != nil {
		return err
	}
	for k, v := range m.All() {
		if err := w.term(k, left-1); err != nil {
			return err
		}
		if err := w.term(v, left-1); err != nil {
			return err
		}
	}
	return nil
}

// fromPlain is what a term stands for that a program without extensions has
// written, and package pack has read: what that takes for a tuple is an array that
// begins with nil.
func fromPlain(t any) (any, error) {
	switch t := t.(type) {
	case wire.Tuple:
		return fromPlain(append(wire.List{wire.Undefined}, t...))
	case wire.List:
		all := make(wire.List, len(t)) // t may be in a key
		for i, e := range t {
			e, err := fromPlain(e)
			if err != nil {
				return nil, err
			}
			all[i] = e
		}
		return all, nil
	case wire.Map:
		return fromPairs(t)
	}
	return t, nil
}

func fromPairs(m wire.Map) (any, error) {
	all := wire.MakeMap(0)
	for k, v := range m.All() {
		k, err := fromPlain(k)
		if err != nil {
			return nil, err
		}
		if v, err = fromPlain(v); err != nil {
			return nil, err
		}
		if _, twice := all.Get(k); twice {
			return nil, fmt.Errorf("%w: a map with the key %s twice", pack.ErrMalformed, brief(k))
		}
		all.Put(k, v)
	}
	if all.Len() != 1 {
		return all, nil
	}
	for k, v := range all.All() {
		name, _ := k.([]byte)
		text, isText := v.([]byte)
		l, isList := v.(wire.List)
		switch {
		case string(name) == plainAtom && isText:
			if !utf8.Valid(text) || utf8.RuneCount(text) > wire.MaxAtomRunes {
				return nil, fmt.Errorf("%w: %s is not UTF-8 of at most %d characters", pack.ErrMalformed, plainAtom, wire.MaxAtomRunes)
			}
			return wire.Atom(text), nil
		case string(name) == plainTuple && isList:
			return wire.Tuple(l), nil
		case string(name) == plainTerm && isText:
			return fromExternal(text)
		}
	}
	return all, nil
}

// fromExternal reads a term in Erlang's external format.
func fromExternal(b []byte) (any, error) {
	d := etfcodec.Decoder{Limits: etfcodec.Limits{Depth: maxDepth, Elements: maxElements, Inflated: 1 << 20}}
	t, rest, err := d.Decode(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", pack.ErrMalformed, plainTerm, err)
	case len(rest) > 0:
		return nil, fmt.Errorf("%w: %s: %d bytes follow a term", pack.ErrMalformed, plainTerm, len(rest))
	}
	return t, nil
}
