package pack

import (
	"encoding"
	"math"
	"reflect"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// maxGoDepth is the maximum nesting depth of Go values, because reading and writing them is recursive.
const maxGoDepth = 10_000

// value writes v, an addressable value of the plan's type. If a user's method panics, the value is not a term.
func (w *writing) value(pl *plan, v reflect.Value) (err error) {
	if w.inner == maxInner {
		return faults.New(ErrLimit, "values of registered types nested deeper than %d levels in fields of type any", maxInner)
	}
	if w.inner >= deepInner {
		at := place{v.Addr().UnsafePointer(), reflect.PointerTo(pl.typ), 0}
		if err := w.enter(at); err != nil {
			return err
		}
		defer w.leave(at)
	}
	dict, split := w.dict, w.split
	w.dict, w.split = nil, false
	w.inner++
	defer func() {
		w.dict, w.split = dict, split
		w.inner--
		if cause := recover(); cause != nil {
			err = faults.New(ErrNoTerm, "a Go value of type %v panics when asked for its bytes: %v", pl.typ, cause)
		}
	}()
	return w.put(pl, v, 0)
}

// boxed writes v, a value of the plan's type.
func (w *writing) boxed(pl *plan, v reflect.Value) error {
	spare := pl.spare.Get()
	copied := reflect.ValueOf(spare).Elem()
	copied.Set(v)
	err := w.value(pl, copied)
	copied.SetZero()
	pl.spare.Put(spare)
	return err
}

// put writes v.
func (w *writing) put(pl *plan, v reflect.Value, depth int) error {
	switch pl.op {
	case opBool:
		w.dst = msgp.AppendBool(w.dst, v.Bool())
	case opInt:
		w.dst = AppendInt(w.dst, v.Int())
	case opUint:
		w.dst = AppendUint(w.dst, v.Uint())
	case opFloat32:
		w.dst = msgp.AppendFloat32(w.dst, float32(v.Float()))
	case opFloat64:
		w.dst = msgp.AppendFloat64(w.dst, v.Float())
	case opString:
		return w.text(v.String())
	case opBytes:
		if b := v.Bytes(); b != nil {
			return w.data(b)
		}
		w.dst = append(w.dst, tagNil)
	case opByteArray:
		return w.data(v.Bytes())
	case opTime:
		w.dst = appendTime(w.dst, *target[time.Time](v))
	case opAtom:
		return w.atom(wire.Atom(v.String()))
	case opPID:
		pid := target[wire.PID](v)
		return w.numbered(extPID, pid.Origin(), pid.Number())
	case opRef:
		return w.ref(*target[wire.Ref](v))
	default:
		if depth > maxGoDepth {
			return faults.New(ErrLimit, "a Go value of type %v is nested deeper than %d levels", pl.typ, maxGoDepth)
		}
		if err := w.room(); err != nil {
			return err
		}
		if depth > deepGo || w.inner > deepInner {
			return w.putDeep(pl, v, depth+1)
		}
		return w.putParts(pl, v, depth+1)
	}
	return nil
}

// target returns a pointer to v, whose type is T.
func target[T any](v reflect.Value) *T { return v.Addr().Interface().(*T) }

// putParts writes a value with parts or methods.
func (w *writing) putParts(pl *plan, v reflect.Value, depth int) error {
	switch pl.op {
	case opStruct:
		return w.putStruct(pl, v, depth)
	case opPointer:
		if !v.IsNil() {
			return w.put(pl.elem, v.Elem(), depth)
		}
		w.dst = append(w.dst, tagNil)
		return nil
	case opSlice:
		if v.IsNil() {
			w.dst = append(w.dst, tagNil)
			return nil
		}
		return w.putElements(pl.elem, v, depth)
	case opArray:
		return w.putElements(pl.elem, v, depth)
	case opMap:
		return w.putMap(pl, v, depth)
	case opAny:
		return w.putAny(v.Interface())
	case opReference:
		if v.IsZero() {
			return w.putAny(nil)
		}
		return w.putAny(v.Interface())
	case opError:
		return w.putError(*target[error](v))
	case opTerm:
		if v.Kind() == reflect.Slice && v.IsNil() {
			w.dst = append(w.dst, tagNil) // unlike an empty slice, as for all slices in a struct
			return nil
		}
		return w.all(v.Interface())
	}
	return w.putMethod(pl, v)
}

func (w *writing) putStruct(pl *plan, v reflect.Value, depth int) error {
	n := len(pl.fields)
	for i := range pl.fields {
		if f := &pl.fields[i]; f.omit && isEmpty(v.FieldByIndex(f.index)) {
			n--
		}
	}
	omits := n < len(pl.fields)
	w.dst = msgp.AppendMapHeader(w.dst, uint32(n))
	for i := range pl.fields {
		f := &pl.fields[i]
		at := v.FieldByIndex(f.index)
		if omits && f.omit && isEmpty(at) {
			continue
		}
		w.dst = append(w.dst, f.head...)
		if err := w.put(f.plan, at, depth); err != nil {
			return within(err, "."+f.name, depth)
		}
	}
	return nil
}

// within adds a step to the path of an error. Only the first steps of a deep path are shown.
func within(err error, step string, depth int) error {
	if depth > maxPathDepth && faults.Owns(err) {
		return err
	}
	return faults.Within(step, err)
}

// maxPathDepth is the maximum depth of the path of an error in a Go value.
const maxPathDepth = 200

// isEmpty reports whether v, a field with omitempty, is empty.
func isEmpty(v reflect.Value) bool {
	if z, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (w *writing) putElements(pl *plan, v reflect.Value, depth int) error {
	n := v.Len()
	if err := fits(n, "the elements of a slice"); err != nil {
		return err
	}
	w.dst = msgp.AppendArrayHeader(w.dst, uint32(n))
	for i := range n {
		if err := w.put(pl, v.Index(i), depth); err != nil {
			return within(err, "["+itoa(i)+"]", depth)
		}
	}
	return nil
}

func (w *writing) putMap(pl *plan, m reflect.Value, depth int) error {
	if m.IsNil() {
		w.dst = append(w.dst, tagNil)
		return nil
	}
	if err := fits(m.Len(), "the pairs of a map"); err != nil {
		return err
	}
	w.dst = msgp.AppendMapHeader(w.dst, uint32(m.Len()))
	key, elem := reflect.New(pl.key.typ).Elem(), reflect.New(pl.elem.typ).Elem()
	for pairs := m.MapRange(); pairs.Next(); {
		key.SetIterKey(pairs)
		elem.SetIterValue(pairs)
		err := w.put(pl.key, key, depth)
		if err == nil {
			err = w.put(pl.elem, elem, depth)
		}
		if err != nil {
			return within(err, string(pathKey(key)), depth)
		}
	}
	return nil
}

// Errors nested deeper than maxErrors in fields are written as text, and so are errors with fewer than errorLevels
// remaining levels, because the result of Foreign for an error is itself nested.
const (
	maxErrors   = 4
	errorLevels = 12
)

// putError writes a field of type error: the result of Foreign, or a value of a registered type, like a field of type any.
// An error that would not arrive as an error is written as its text.
func (w *writing) putError(err error) error {
	if err == nil {
		w.dst = append(w.dst, tagNil)
		return nil
	}
	if w.isExact() && w.Foreign != nil && w.errors < maxErrors && w.inner+errorLevels <= maxInner {
		v := any(err)
		if _, stands := termof.Of(err); !stands {
			v, _ = w.standIn(err)
		}
		if v != nil {
			if g, _ := w.Types.of(v); g != nil {
				w.errors++
				defer func() { w.errors-- }()
				return w.putAny(v)
			}
		}
	}
	return w.text(err.Error())
}

// putAny writes a term in a field of type any, as an extension, so that readers without the field need not understand
// terms.
func (w *writing) putAny(t any) error {
	if t == nil {
		w.dst = append(w.dst, tagNil)
		return nil
	}
	const most = 6 // maximum bytes before the data of an extension
	at := len(w.dst)
	w.dst = append(w.dst, make([]byte, most)...)
	if err := w.all(t); err != nil {
		return err
	}
	n := len(w.dst) - at - most
	if uint64(n) > math.MaxUint32 {
		return fits(n, "a term in a field")
	}
	head := appendExt(w.dst[at:at], extTerm, n)
	copy(w.dst[at+len(head):], w.dst[at+most:])
	w.dst = w.dst[:at+len(head)+n]
	return nil
}

// putMethod writes a value with its own methods.
func (w *writing) putMethod(pl *plan, v reflect.Value) (err error) {
	if isNilable(pl.typ.Kind()) && v.IsNil() {
		w.dst = append(w.dst, tagNil)
		return nil
	}
	if pl.addr {
		v = v.Addr()
	}
	var b []byte
	switch v := v.Interface(); pl.how {
	case byMsgp:
		b, err = v.(msgp.Marshaler).MarshalMsg(nil)
	case byMsgpack:
		b, err = v.(marshaler).MarshalMsgpack()
	case byBinary:
		b, err = v.(encoding.BinaryMarshaler).MarshalBinary()
	default:
		b, err = v.(encoding.TextMarshaler).MarshalText()
	}
	switch {
	case err != nil:
		return faults.New(ErrNoTerm, "a Go value of type %v: %v", pl.typ, err)
	case pl.how >= byBinary:
		return w.data(b)
	}
	if s, err := skip(b, 0, maxGoDepth); err != nil || s.end != len(b) {
		return faults.New(ErrNoTerm, "a Go value of type %v writes %d bytes that are not one object of MessagePack", pl.typ, len(b))
	}
	w.dst = append(w.dst, b...)
	return nil
}

func isNilable(k reflect.Kind) bool {
	return k == reflect.Slice || k == reflect.Map || k == reflect.Pointer
}
