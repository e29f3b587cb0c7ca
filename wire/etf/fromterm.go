package etf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// termPlan returns the plan for one type of package wire.
func termPlan(t reflect.Type) plan {
	return plan{
		to: func(v reflect.Value, _ walk) (any, error) {
			if v.Kind() == reflect.Pointer && v.IsNil() || namesNobody(v) {
				return wire.AtomUndefined, nil
			}
			return v.Interface(), nil
		},
		from: func(term any, v reflect.Value, _ walk) error {
			x := respelled(term, t)
			if term == wire.AtomUndefined && isIdentifier(t) {
				v.SetZero()
				return nil
			}
			if x == nil || reflect.TypeOf(x) != t {
				return mismatch(term, "a "+t.String())
			}
			v.Set(reflect.ValueOf(x))
			return nil
		},
	}
}

// isIdentifier reports whether t is PID or Ref. Their zero value is not a term: in a struct it is undefined.
func isIdentifier(t reflect.Type) bool {
	return t == reflect.TypeFor[wire.PID]() || t == reflect.TypeFor[wire.Ref]()
}

func namesNobody(v reflect.Value) bool { return isIdentifier(v.Type()) && v.IsZero() }

// respelled returns term in the Go type t, if that type can represent it.
func respelled(term any, t reflect.Type) any {
	switch t {
	case reflect.TypeFor[wire.Atom]():
		if b, ok := term.(bool); ok && b {
			return wire.AtomTrue
		} else if ok {
			return wire.AtomFalse
		}
	case reflect.TypeFor[wire.List]():
		if l, ok := wire.AsList(term); ok {
			return l
		}
	case reflect.TypeFor[wire.Charlist]():
		if l, ok := wire.AsList(term); ok {
			if s, ok := wire.AsText(l); ok {
				return wire.Charlist(s)
			}
		}
	case reflect.TypeFor[*big.Int]():
		if n := bigIntOf(term); n != nil {
			return n
		}
	case reflect.TypeFor[wire.Bitstring]():
		switch b := term.(type) {
		case []byte:
			return wire.NewBitstring(b, 8*len(b))
		case string:
			return wire.NewBitstring([]byte(b), 8*len(b))
		}
	}
	return term
}

// bigIntOf returns the integer t, or nil if t is not an integer.
func bigIntOf(t any) *big.Int {
	if n, ok := t.(*big.Int); ok {
		return n
	}
	if n, ok := wire.AsInt(t); ok {
		return big.NewInt(n)
	}
	switch u := t.(type) {
	case uint64:
		return new(big.Int).SetUint64(u)
	case uint:
		return new(big.Int).SetUint64(uint64(u))
	case uintptr:
		return new(big.Int).SetUint64(uint64(u))
	}
	return nil
}

// bytesOf returns the bytes of a binary.
func bytesOf(t any) ([]byte, bool) {
	switch b := t.(type) {
	case []byte:
		return b, true
	case string:
		return []byte(b), true
	case wire.Bitstring:
		return b.Bytes(), b.BitLen()%8 == 0
	}
	return nil, false
}

func boolFrom(t any, v reflect.Value, _ walk) error {
	b, ok := wire.AsBool(t)
	if !ok {
		return mismatch(t, "true or false")
	}
	v.SetBool(b)
	return nil
}

func intFrom(t any, v reflect.Value, _ walk) error {
	n, ok := wire.AsInt(t)
	if !ok || v.OverflowInt(n) {
		return mismatch(t, "an integer that fits "+v.Type().String())
	}
	v.SetInt(n)
	return nil
}

func uintFrom(t any, v reflect.Value, _ walk) error {
	n := bigIntOf(t)
	if n == nil || !n.IsUint64() || v.OverflowUint(n.Uint64()) {
		return mismatch(t, "an integer that fits "+v.Type().String())
	}
	v.SetUint(n.Uint64())
	return nil
}

func floatFrom(t any, v reflect.Value, _ walk) error {
	switch f := t.(type) {
	case float64:
		if v.OverflowFloat(f) {
			return mismatch(t, "a float that fits "+v.Type().String())
		}
		v.SetFloat(f)
		return nil
	case float32:
		v.SetFloat(float64(f))
		return nil
	}
	n, ok := wire.AsInt(t)
	if f := float64(n); !ok || f >= math.MaxInt64 || int64(f) != n || v.Kind() == reflect.Float32 && float64(float32(f)) != f {
		return mismatch(t, "a float")
	}
	v.SetFloat(float64(n))
	return nil
}

func textPlan(style textStyle) plan {
	return plan{textTo(style), func(t any, v reflect.Value, _ walk) error {
		a, atom := respelled(t, reflect.TypeFor[wire.Atom]()).(wire.Atom)
		switch {
		case style == asAtom && atom:
			v.SetString(string(a))
			return nil
		case style == asAtom || atom:
			return mismatch(t, [...]string{"a binary", "a charlist", "an atom"}[style])
		}
		if b, ok := bytesOf(t); ok {
			v.SetString(string(b))
			return nil
		}
		s, ok := wire.AsText(t)
		if !ok {
			return mismatch(t, "a binary or charlist")
		}
		v.SetString(s)
		return nil
	}}
}

func bytesFrom(t any, v reflect.Value, _ walk) error {
	b, ok := bytesOf(t)
	if !ok {
		l, _ := wire.AsList(t)
		b = make([]byte, 0, len(l))
		for _, e := range l {
			c, ok := byteOf(e)
			if !ok {
				return mismatch(t, "a binary")
			}
			b = append(b, c)
		}
		if len(l) == 0 && !wire.Equal(t, nil) {
			return mismatch(t, "a binary")
		}
	}
	if v.Kind() == reflect.Slice {
		v.SetBytes(b)
		return nil
	}
	if len(b) != v.Len() {
		return mismatch(t, fmt.Sprintf("a binary of %d bytes", v.Len()))
	}
	reflect.Copy(v, reflect.ValueOf(b))
	return nil
}

func durationPlan(unit time.Duration) plan {
	unit = max(unit, 1)
	return plan{durationTo(unit), func(t any, v reflect.Value, _ walk) error {
		n, ok := wire.AsInt(t)
		if !ok || n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
			return mismatch(t, fmt.Sprintf("an integer of units of %v", unit))
		}
		v.SetInt(n * int64(unit))
		return nil
	}}
}

func timeFrom(t any, v reflect.Value, _ walk) error {
	if x, ok := t.(time.Time); ok { // a Go value within a term
		v.Set(reflect.ValueOf(x))
		return nil
	}
	if s, ok := wire.AsText(t); ok {
		if x, err := time.Parse(time.RFC3339Nano, s); err == nil {
			v.Set(reflect.ValueOf(x))
			return nil
		}
	}
	return mismatch(t, "a time as in RFC 3339")
}

// referenceFrom makes a reference on the node that reads the term.
func referenceFrom(t any, v reflect.Value, w walk) error {
	if reflect.TypeOf(t) == v.Type() {
		v.Set(reflect.ValueOf(t))
		return nil
	}
	x, ok, err := termof.Read(w.host, v.Type(), t)
	switch {
	case !ok:
		return mismatch(t, "a "+v.Type().String()+", which a node reads")
	case err != nil:
		return faults.Within("", err)
	}
	v.Set(reflect.ValueOf(x))
	return nil
}

func slicePlan(elem *plan) plan {
	return plan{sliceTo(elem), func(t any, v reflect.Value, w walk) error {
		l, ok := wire.AsList(t)
		switch {
		case w.depth > maxNesting:
			return tooDeep()
		case !ok:
			return mismatch(t, "a list")
		case v.Kind() == reflect.Array && len(l) != v.Len():
			return mismatch(t, fmt.Sprintf("a list of %d elements", v.Len()))
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), len(l), len(l)))
		}
		for i, e := range l {
			if err := elem.from(e, v.Index(i), w.deeper()); err != nil {
				return faults.Within(fmt.Sprintf("[%d]", i), err)
			}
		}
		return nil
	}}
}

func mapPlan(key, value *plan) plan {
	return plan{mapTo(key, value), func(t any, v reflect.Value, w walk) error {
		m, ok := t.(wire.Map)
		switch {
		case w.depth > maxNesting:
			return tooDeep()
		case !ok:
			return mismatch(t, "a map")
		}
		x := reflect.MakeMapWithSize(v.Type(), m.Len())
		for k, e := range m.Unordered() {
			gk, ge := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			if err := key.from(k, gk, w.deeper()); err != nil {
				return faults.Within("[key "+brief(k)+"]", err)
			}
			if !gk.Comparable() {
				return faults.Within("[key "+brief(k)+"]", mismatch(k, "a key that Go can compare"))
			}
			if err := value.from(e, ge, w.deeper()); err != nil {
				return faults.Within("["+brief(k)+"]", err)
			}
			x.SetMapIndex(gk, ge)
		}
		v.Set(x)
		return nil
	}}
}

func pointerPlan(elem *plan) plan {
	return plan{pointerTo(elem), func(t any, v reflect.Value, w walk) error {
		if w.depth > maxNesting {
			return tooDeep()
		}
		if a, ok := t.(wire.Atom); ok && (a == wire.AtomUndefined || a == "nil") {
			v.SetZero()
			return nil
		}
		if reflect.TypeOf(t) == v.Type() { // a Go value within a term
			v.Set(reflect.ValueOf(t))
			return nil
		}
		x := reflect.New(v.Type().Elem())
		if err := elem.from(t, x.Elem(), w.deeper()); err != nil {
			return err
		}
		v.Set(x)
		return nil
	}}
}

func interfacePlan(s style) plan {
	return plan{interfaceTo(s), func(t any, v reflect.Value, _ walk) error {
		if t == nil {
			t = wire.List(nil)
		}
		x := reflect.ValueOf(t)
		if v.Type() == errorType && !x.Type().Implements(errorType) {
			text, ok := bytesOf(t)
			switch {
			case ok:
				x = reflect.ValueOf(errors.New(string(text)))
			case wire.Equal(t, nil):
				v.SetZero()
				return nil
			}
		}
		if !x.Type().AssignableTo(v.Type()) {
			return mismatch(t, "a "+v.Type().String())
		}
		v.Set(x)
		return nil
	}}
}

func receiverFrom(t any, v reflect.Value, _ walk) error {
	if err := v.Addr().Interface().(Receiver).SetTerm(t); err != nil {
		return faults.Within("", err)
	}
	return nil
}

func (s *structure) from(t any, v reflect.Value, w walk) error {
	if w.depth > maxNesting {
		return tooDeep()
	}
	if s.shape == shapeTuple {
		return s.fromTuple(t, v, w)
	}
	m, ok := t.(wire.Map)
	if !ok && reflect.TypeOf(t) == v.Type() { // a Go value within a term
		v.Set(reflect.ValueOf(t))
		return nil
	}
	if !ok {
		return mismatch(t, "a map")
	}
	for i := range s.fields {
		f := &s.fields[i]
		x, ok := m.Get(f.key)
		if !ok {
			if f.required {
				return faults.Within(f.step, mismatch(t, "a map with the key "+wire.Format(f.key)))
			}
			continue
		}
		if err := f.plan.from(x, v.FieldByIndex(f.index), w.deeper()); err != nil {
			return faults.Within(f.step, err)
		}
	}
	return nil
}

func (s *structure) fromTuple(t any, v reflect.Value, w walk) error {
	tuple, ok := t.(wire.Tuple)
	if !ok {
		return mismatch(t, "a tuple")
	}
	if s.tagged {
		if len(tuple) == 0 || !wire.Equal(tuple[0], s.tag) {
			return mismatch(t, "a tuple that begins with the atom "+wire.Format(s.tag))
		}
		tuple = tuple[1:]
	}
	if len(tuple) != len(s.fields) {
		return mismatch(t, fmt.Sprintf("a tuple with %d fields", len(s.fields)))
	}
	for i := range s.fields {
		f := &s.fields[i]
		if err := f.plan.from(tuple[i], v.FieldByIndex(f.index), w.deeper()); err != nil {
			return faults.Within(f.step, err)
		}
	}
	return nil
}

// byteOf returns the integer t as a byte, if it is one.
func byteOf(t any) (byte, bool) {
	n, ok := wire.AsInt(t)
	return byte(n), ok && n == int64(byte(n))
}
