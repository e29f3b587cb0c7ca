package pack

import (
	"encoding"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// maxGoDepth is the maximum nesting depth of Go values, because reading and writing them is recursive.
const maxGoDepth = 10_000

// value writes the target of p, a value of the plan's type. If a user's method panics, the value is not a term.
func (w *writing) value(pl *plan, p unsafe.Pointer) (err error) {
	if w.inner == maxInner {
		return faults.New(ErrLimit, "values of registered types nested deeper than %d levels in fields of type any", maxInner)
	}
	if w.inner >= deepInner {
		at := place{p, reflect.PointerTo(pl.typ), 0}
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
	return w.put(pl, p, 0)
}

// boxed writes v, a value of the plan's type.
func (w *writing) boxed(pl *plan, v reflect.Value) error {
	spare := pl.spare.Get()
	copied := reflect.ValueOf(spare)
	copied.Elem().Set(v)
	err := w.value(pl, copied.UnsafePointer())
	copied.Elem().SetZero()
	pl.spare.Put(spare)
	return err
}

// put writes the target of p.
func (w *writing) put(pl *plan, p unsafe.Pointer, depth int) error {
	switch pl.op {
	case opBool:
		w.dst = msgp.AppendBool(w.dst, *(*bool)(p))
	case opInt:
		w.dst = AppendInt(w.dst, int64(*(*int)(p)))
	case opInt8:
		w.dst = AppendInt(w.dst, int64(*(*int8)(p)))
	case opInt16:
		w.dst = AppendInt(w.dst, int64(*(*int16)(p)))
	case opInt32:
		w.dst = AppendInt(w.dst, int64(*(*int32)(p)))
	case opInt64:
		w.dst = AppendInt(w.dst, *(*int64)(p))
	case opUint:
		w.dst = AppendUint(w.dst, uint64(*(*uint)(p)))
	case opUint8:
		w.dst = AppendUint(w.dst, uint64(*(*uint8)(p)))
	case opUint16:
		w.dst = AppendUint(w.dst, uint64(*(*uint16)(p)))
	case opUint32:
		w.dst = AppendUint(w.dst, uint64(*(*uint32)(p)))
	case opUint64:
		w.dst = AppendUint(w.dst, *(*uint64)(p))
	case opFloat32:
		w.dst = msgp.AppendFloat32(w.dst, *(*float32)(p))
	case opFloat64:
		w.dst = msgp.AppendFloat64(w.dst, *(*float64)(p))
	case opString:
		return w.text(*(*string)(p))
	case opBytes:
		if b := *(*[]byte)(p); b != nil {
			return w.data(b)
		}
		w.dst = append(w.dst, tagNil)
	case opByteArray:
		return w.data(unsafe.Slice((*byte)(p), pl.len))
	case opTime:
		w.dst = appendTime(w.dst, *(*time.Time)(p))
	case opAtom:
		return w.atom(*(*wire.Atom)(p))
	case opPID:
		pid := (*wire.PID)(p)
		return w.numbered(extPID, pid.Origin(), pid.Number())
	case opRef:
		return w.ref(*(*wire.Ref)(p))
	default:
		if depth > maxGoDepth {
			return faults.New(ErrLimit, "a Go value of type %v is nested deeper than %d levels", pl.typ, maxGoDepth)
		}
		if err := w.room(); err != nil {
			return err
		}
		if depth > deepGo || w.inner > deepInner {
			return w.putDeep(pl, p, depth+1)
		}
		return w.putParts(pl, p, depth+1)
	}
	return nil
}

// putParts writes a value with parts or methods.
func (w *writing) putParts(pl *plan, p unsafe.Pointer, depth int) error {
	switch pl.op {
	case opStruct:
		return w.putStruct(pl, p, depth)
	case opPointer:
		if to := *(*unsafe.Pointer)(p); to != nil {
			return w.put(pl.elem, to, depth)
		}
		w.dst = append(w.dst, tagNil)
		return nil
	case opSlice:
		v := reflect.NewAt(pl.typ, p).Elem()
		if v.IsNil() {
			w.dst = append(w.dst, tagNil)
			return nil
		}
		return w.putElements(pl.elem, v.UnsafePointer(), v.Len(), depth)
	case opArray:
		return w.putElements(pl.elem, p, pl.len, depth)
	case opMap:
		return w.putMap(pl, reflect.NewAt(pl.typ, p).Elem(), depth)
	case opAny:
		return w.putAny(*(*any)(p))
	case opReference:
		v := reflect.NewAt(pl.typ, p).Elem()
		if v.IsZero() {
			return w.putAny(nil)
		}
		return w.putAny(v.Interface())
	case opError:
		return w.putError(*(*error)(p))
	case opTerm:
		v := reflect.NewAt(pl.typ, p).Elem()
		if v.Kind() == reflect.Slice && v.IsNil() {
			w.dst = append(w.dst, tagNil) // unlike an empty slice, as for all slices in a struct
			return nil
		}
		return w.all(v.Interface())
	}
	return w.putMethod(pl, p)
}

func (w *writing) putStruct(pl *plan, p unsafe.Pointer, depth int) error {
	n := len(pl.fields)
	for i := range pl.fields {
		if f := &pl.fields[i]; f.omit && isEmpty(f.plan, unsafe.Add(p, f.offset)) {
			n--
		}
	}
	omits := n < len(pl.fields)
	w.dst = msgp.AppendMapHeader(w.dst, uint32(n))
	for i := range pl.fields {
		f := &pl.fields[i]
		at := unsafe.Add(p, f.offset)
		if omits && f.omit && isEmpty(f.plan, at) {
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

// isEmpty reports whether a field with omitempty is empty.
func isEmpty(pl *plan, p unsafe.Pointer) bool {
	v := reflect.NewAt(pl.typ, p)
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (pl.op != opPointer || !v.Elem().IsNil()) {
		return z.IsZero()
	}
	switch v = v.Elem(); v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (w *writing) putElements(pl *plan, first unsafe.Pointer, n, depth int) error {
	if err := fits(n, "the elements of a slice"); err != nil {
		return err
	}
	w.dst = msgp.AppendArrayHeader(w.dst, uint32(n))
	for i := range n {
		if err := w.put(pl, unsafe.Add(first, uintptr(i)*pl.size), depth); err != nil {
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
	key, elem := reflect.New(pl.key.typ), reflect.New(pl.elem.typ)
	for pairs := m.MapRange(); pairs.Next(); {
		key.Elem().SetIterKey(pairs)
		elem.Elem().SetIterValue(pairs)
		err := w.put(pl.key, key.UnsafePointer(), depth)
		if err == nil {
			err = w.put(pl.elem, elem.UnsafePointer(), depth)
		}
		if err != nil {
			return within(err, string(pathKey(key.Elem())), depth)
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
func (w *writing) putMethod(pl *plan, p unsafe.Pointer) (err error) {
	v := reflect.NewAt(pl.typ, p)
	if isNilable(pl.typ.Kind()) && v.Elem().IsNil() {
		w.dst = append(w.dst, tagNil)
		return nil
	}
	if !pl.addr {
		v = v.Elem()
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
