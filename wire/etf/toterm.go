package etf

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

func boolTo(v reflect.Value, _ walk) (any, error) {
	if v.Bool() {
		return wire.AtomTrue, nil
	}
	return wire.AtomFalse, nil
}

func intTo(v reflect.Value, _ walk) (any, error) { return int64Term(v.Int()), nil }

func int64Term(n int64) any {
	if int64(int(n)) == n {
		return int(n)
	}
	return big.NewInt(n)
}

func uintTo(v reflect.Value, _ walk) (any, error) {
	if u := v.Uint(); u > math.MaxInt64 {
		return new(big.Int).SetUint64(u), nil
	}
	return int64Term(int64(v.Uint())), nil
}

func floatTo(v reflect.Value, _ walk) (any, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, faults.New(ErrNoTerm, "Erlang has no float %v", f)
	}
	return f, nil
}

func textTo(style textStyle) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, _ walk) (any, error) {
		switch style {
		case asCharlist:
			return wire.Charlist(v.String()), nil
		case asAtom:
			return wire.Atom(v.String()), nil
		}
		return v.String(), nil
	}
}

func bytesTo(v reflect.Value, _ walk) (any, error) {
	if v.Kind() == reflect.Slice {
		return v.Bytes(), nil
	}
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	return b, nil
}

func durationTo(unit time.Duration) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, _ walk) (any, error) {
		return int64Term(v.Int() / int64(unit)), nil
	}
}

// timeTo returns the time as RFC 3339 in UTC.
func timeTo(v reflect.Value, w walk) (any, error) {
	t := v.Interface().(time.Time).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, faults.New(ErrNoTerm, "RFC 3339 has no year %d", y)
	}
	text := t.Format(time.RFC3339Nano)
	if w.names == nil || w.typed {
		return text, nil
	}
	return wire.NewMap(termof.TypeMark, termof.TimeName, termof.TimeKey, text), nil
}

// referenceTo converts a reference for another node; only nodes can do that.
func referenceTo(v reflect.Value, w walk) (any, error) {
	switch {
	case w.names == nil:
		return nil, faults.New(ErrNoTerm, "a Go value of type %s is no term", v.Type())
	case w.typed && v.IsZero():
		return wire.AtomUndefined, nil
	}
	t, err := termof.Reference(v.Interface())
	if err != nil {
		return nil, faults.New(ErrNoTerm, "%v", err)
	}
	return t, nil
}

func sliceTo(elem *plan) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		if w.depth > maxNesting {
			return nil, tooDeep()
		}
		l := make(wire.List, v.Len())
		for i := range l {
			t, err := elem.to(v.Index(i), w.deeper())
			if err != nil {
				return nil, faults.Within(fmt.Sprintf("[%d]", i), err)
			}
			l[i] = t
		}
		return l, nil
	}
}

func mapTo(key, value *plan) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		if w.depth > maxNesting {
			return nil, tooDeep()
		}
		m := wire.MakeMap(v.Len())
		for it := v.MapRange(); it.Next(); {
			k, err := key.to(it.Key(), w.inside(true))
			if err != nil {
				return nil, faults.Within(fmt.Sprintf("[key %v]", it.Key()), err)
			}
			t, err := value.to(it.Value(), w.deeper())
			if err != nil {
				return nil, faults.Within(fmt.Sprintf("[%v]", it.Key()), err)
			}
			n := m.Len()
			if m.Put(k, t); m.Len() == n {
				return nil, faults.Within(fmt.Sprintf("[key %v]", it.Key()), faults.New(ErrNoTerm, "another key is the same term"))
			}
		}
		return m, nil
	}
}

func pointerTo(elem *plan) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		switch {
		case v.IsNil():
			return wire.AtomUndefined, nil
		case w.depth > maxNesting:
			return nil, tooDeep()
		}
		t, err := elem.to(v.Elem(), w.deeper())
		if m, ok := t.(wire.Map); ok && err == nil {
			name, _ := m.Get(termof.TypeMark)
			if name, ok := name.(wire.Atom); ok && name == w.mark(v.Type().Elem()) {
				m.Put(termof.TypeMark, "*"+name)
			}
		}
		return t, err
	}
}

// interfaceTo uses the plan of the interface's value.
func interfaceTo(s style) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		if v.IsNil() {
			return nil, nil // the empty list; for package port no value
		}
		if err, ok := v.Interface().(error); ok && v.Type() == errorType {
			return errorTo(err, v.Elem(), s, w)
		}
		return dynamic(v.Elem(), s, w)
	}
}

// errorTo converts a field of type error: to the term that the error represents, or to the error itself, which the encoder
// then converts.
func errorTo(err error, v reflect.Value, s style, w walk) (any, error) {
	if _, ok := termof.Of(err); ok {
		return dynamic(v, s, w)
	}
	return err, nil
}

func dynamic(v reflect.Value, s style, w walk) (any, error) {
	if w.depth > maxNesting {
		return nil, tooDeep()
	}
	if w.names != nil && v.Type().Implements(errorType) && w.names(v.Type()) == "" && termof.Type(v.Type()) == nil {
		return v.Interface(), nil // the encoder converts it
	}
	return planOf(planKey{v.Type(), s}).to(v, w.inside(false))
}

// termerTo uses the method Term of a value or of its address; a nil pointer is left to the plan of its type.
func termerTo(otherwise func(reflect.Value, walk) (any, error)) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface {
			return otherwise(v, w)
		}
		t, ok := v.Interface().(wire.Termer)
		if !ok {
			if !v.CanAddr() { // a copy has an address
				c := reflect.New(v.Type())
				c.Elem().Set(v)
				v = c.Elem()
			}
			t = v.Addr().Interface().(wire.Termer)
		}
		return standing(t.Term(), w)
	}
}

// enteredTo uses the function registered for a type of this module; a nil pointer is left to the plan of its type.
func enteredTo(f func(any) any, otherwise func(reflect.Value, walk) (any, error)) func(reflect.Value, walk) (any, error) {
	return func(v reflect.Value, w walk) (any, error) {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return otherwise(v, w)
		}
		return standing(f(v.Interface()), w)
	}
}

// standing returns the term of the value v, which was returned by Term.
func standing(v any, w walk) (any, error) {
	if etfcodec.IsTerm(v) {
		return v, nil
	}
	return dynamic(reflect.ValueOf(v), style{}, w)
}

func (s *structure) to(v reflect.Value, w walk) (any, error) {
	if w.depth > maxNesting {
		return nil, tooDeep()
	}
	if s.shape == shapeTuple {
		return s.toTuple(v, w)
	}
	m := wire.MakeMap(len(s.fields))
	if name := w.mark(v.Type()); name != "" {
		m.Put(termof.TypeMark, name)
	}
	for i := range s.fields {
		f := &s.fields[i]
		x := v.FieldByIndex(f.index)
		if f.omitZero && x.IsZero() {
			continue
		}
		t, err := f.plan.to(x, w.inside(true))
		if err != nil {
			return nil, faults.Within(f.step, err)
		}
		m.Put(f.key, t)
	}
	return m, nil
}

func (s *structure) toTuple(v reflect.Value, w walk) (any, error) {
	tuple := make(wire.Tuple, 0, len(s.fields)+1)
	if s.tagged {
		tuple = append(tuple, s.tag)
	}
	for i := range s.fields {
		f := &s.fields[i]
		t, err := f.plan.to(v.FieldByIndex(f.index), w.inside(true))
		if err != nil {
			return nil, faults.Within(f.step, err)
		}
		tuple = append(tuple, t)
	}
	return tuple, nil
}
