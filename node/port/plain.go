package port

import (
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Keys of the maps of one pair that stand for what Plain cannot write otherwise.
const (
	plainTerm  = "$etf"
	plainAtom  = "$atom"
	plainTuple = "$tuple"
)

// maxDepth is how deep terms may be nested with msgpack: what most libraries bear.
const maxDepth = 500

var errDepth = fmt.Errorf("%w: nested deeper than %d levels", pack.ErrLimit, maxDepth)

// plainWriter writes terms without extensions and without bin.
type plainWriter struct{ dst []byte }

// appendPlain appends terms, one after the other.
func appendPlain(dst []byte, terms ...any) ([]byte, error) {
	w := plainWriter{dst}
	for _, t := range terms {
		if err := w.term(t, maxDepth); err != nil {
			return dst, err
		}
	}
	return w.dst, nil
}

// term writes t, which may be nested left levels deep.
func (w *plainWriter) term(t any, left int) error {
	if left == 0 {
		return errDepth
	}
	switch v := t.(type) {
	case nil:
		w.dst = msgp.AppendNil(w.dst)
		return nil
	case wire.Atom:
		switch v {
		case wire.AtomUndefined:
			w.dst = msgp.AppendNil(w.dst)
			return nil
		case wire.AtomTrue, wire.AtomFalse:
			w.dst = msgp.AppendBool(w.dst, v == wire.AtomTrue)
			return nil
		}
		w.dst = msgp.AppendString(w.dst, string(v))
		return nil
	case bool:
		w.dst = msgp.AppendBool(w.dst, v)
		return nil
	case string:
		w.dst = msgp.AppendString(w.dst, v)
		return nil
	case []byte:
		w.dst = msgp.AppendStringFromBytes(w.dst, v)
		return nil
	case wire.Tuple:
		return w.elements(v, left)
	case wire.Map:
		return w.pairs(v, left)
	}
	if n, ok := wire.AsInt(t); ok {
		w.dst = pack.AppendInt(w.dst, int64(n))
		return nil
	}
	if l, ok := wire.AsList(t); ok {
		return w.elements(l, left)
	}
	return w.rare(t, left)
}

// rare writes what few messages hold.
func (w *plainWriter) rare(t any, left int) error {
	switch v := t.(type) {
	case *big.Int:
		if v.IsUint64() {
			w.dst = pack.AppendUint(w.dst, v.Uint64())
			return nil
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
		w.dst = msgp.AppendFloat64(w.dst, v)
		return nil
	case float32:
		w.dst = msgp.AppendFloat64(w.dst, float64(v))
		return nil
	case uint64:
		w.dst = pack.AppendUint(w.dst, v)
		return nil
	case uint:
		w.dst = pack.AppendUint(w.dst, uint64(v))
		return nil
	case uintptr:
		w.dst = pack.AppendUint(w.dst, uint64(v))
		return nil
	case wire.Bitstring:
		if v.BitLen()%8 == 0 {
			w.dst = msgp.AppendStringFromBytes(w.dst, v.Bytes())
			return nil
		}
	}
	w.dst = msgp.AppendMapHeader(w.dst, 1)
	w.dst = msgp.AppendString(w.dst, plainTerm)
	w.dst = msgp.AppendStringFromBytes(w.dst, b)
	return nil
}

func (w *plainWriter) elements(l []any, left int) error {
	w.dst = msgp.AppendArrayHeader(w.dst, uint32(len(l)))
	for _, e := range l {
		if err := w.term(e, left-1); err != nil {
			return err
		}
	}
	return nil
}

// pairs writes a map in key order: the same map is the same bytes.
func (w *plainWriter) pairs(m wire.Map, left int) error {
	w.dst = msgp.AppendMapHeader(w.dst, uint32(m.Len()))
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

// fromPlain converts what a program without extensions has written and package pack has read: what pack takes for a
// tuple is an array that begins with nil.
func fromPlain(t any) (any, error) {
	switch t := t.(type) {
	case wire.Tuple:
		return fromPlain(append(wire.List{wire.AtomUndefined}, t...))
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
