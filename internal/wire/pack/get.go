package pack

import (
	"encoding"
	"errors"
	"math"
	"reflect"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/wire"
)

// errMismatch means that the bytes examined so far are well-formed, but do not encode a value of the expected type. They
// are read again as a term.
var errMismatch = errors.New("a value of another type")

// typed reads a value of the plan's type into v. ok is false if the value does not have that type; then nothing has been
// read, but v may have been written to.
func (r *reading) typed(at int, pl *plan, v reflect.Value) (ok bool, err error) {
	if r.inner == maxInner {
		return false, r.failAt(at, ErrLimit, "values of Go types nested deeper than %d", maxInner)
	}
	if r.limits.Elements == 0 {
		r.limits = r.d.Limits.filled()
	}
	if err := r.weigh(at, 1, pl.size); err != nil {
		return false, err
	}
	pos, pending, slots, standalone := r.pos, r.pending, r.slots, r.standalone
	r.standalone = true
	r.inner++
	r.pending--
	err = r.getSafely(pl, v)
	r.standalone = standalone
	r.inner--
	switch {
	case err == nil:
		return true, nil
	case faults.Owns(err):
		return false, err // no decoder would accept it
	}
	r.pos, r.pending, r.slots = pos, pending, slots
	return false, nil
}

// elementSize is the assumed size of an element in [Limits].Elements.
const elementSize = 16

// weigh counts the memory of n Go values of a size beyond elementSize, even if they turn out not to fit.
func (r *reading) weigh(at, n int, size uintptr) error {
	if size <= elementSize {
		return nil
	}
	r.weight += int(min(uint64(n)*uint64((size-1)/elementSize), math.MaxInt32/2))
	return r.slot(at, 0)
}

// getSafely is get for types with user methods, which may panic: then the bytes do not fit the type.
func (r *reading) getSafely(pl *plan, v reflect.Value) (err error) {
	b := r.b
	defer func() {
		if cause := recover(); cause != nil {
			r.b = b
			err = r.mismatch("a method of the type panics: %s", wire.Describe(cause, maxOutlineText))
		}
	}()
	return r.get(pl, v, 0)
}

// took continues after the bytes read by a function of msgp.
func (r *reading) took(rest []byte, err error) error {
	if err != nil {
		return errMismatch
	}
	r.pos = len(r.b) - len(rest)
	return nil
}

// get reads a value into v, which is zero and can be set. A nil is the zero value of each type.
func (r *reading) get(pl *plan, v reflect.Value, depth int) (err error) {
	if r.pos >= len(r.b) {
		return r.cut(1, "a field of a Go value")
	}
	b := r.b[r.pos:]
	if b[0] == tagNil {
		if pl.strict {
			return errMismatch
		}
		r.pos++
		v.SetZero()
		return nil
	}
	switch pl.op {
	case opInt:
		n, rest, err := msgp.ReadInt64Bytes(b)
		if v.OverflowInt(n) {
			return r.mismatch("%d", n)
		}
		v.SetInt(n)
		return r.took(rest, err)
	case opUint:
		n, rest, err := msgp.ReadUint64Bytes(b)
		if v.OverflowUint(n) {
			return r.mismatch("%d", n)
		}
		v.SetUint(n)
		return r.took(rest, err)
	case opBool:
		x, rest, err := msgp.ReadBoolBytes(b)
		v.SetBool(x)
		return r.took(rest, err)
	case opFloat32:
		x, rest, err := msgp.ReadFloat32Bytes(b)
		v.SetFloat(float64(x))
		return r.took(rest, err)
	case opFloat64:
		x, rest, err := msgp.ReadFloat64Bytes(b)
		v.SetFloat(x)
		return r.took(rest, err)
	case opString:
		x, err := r.blob(b)
		v.SetString(string(x))
		return err
	case opBytes:
		x, err := r.blob(b)
		v.SetBytes(append(make([]byte, 0, len(x)), x...))
		return err
	case opByteArray:
		x, err := r.blob(b)
		if to := v.Bytes(); err == nil && (copy(to, x) < len(x) || pl.strict && len(x) < len(to)) {
			err = errMismatch
		}
		return err
	case opAtom, opPID, opRef, opTime:
		return r.getIdentifier(pl, v, b)
	}
	if depth > maxGoDepth {
		return r.failAt(r.pos, ErrLimit, "a Go value nested deeper than %d levels", maxGoDepth)
	}
	return r.getParts(pl, v, depth+1)
}

// blob returns the bytes of a str or a bin, as a part of the input.
func (r *reading) blob(b []byte) (v []byte, err error) {
	var rest []byte
	if b[0] >= tagBin8 && b[0] <= tagBin32 {
		v, rest, err = msgp.ReadBytesZC(b)
	} else {
		v, rest, err = msgp.ReadStringZC(b)
	}
	return v, r.took(rest, err)
}

// extKind returns the type of the extension at the beginning of b, or false if there is none.
func extKind(b []byte) (kind byte, ok bool) {
	at := 1
	if b[0] >= tagExt8 && b[0] <= tagExt32 {
		at += 1 << (b[0] - tagExt8)
	} else if b[0] < tagFixExt1 || b[0] > tagFixExt16 {
		return 0, false
	}
	if at >= len(b) {
		return 0, false
	}
	return b[at], true
}

// getIdentifier reads a value that is encoded as an extension.
func (r *reading) getIdentifier(pl *plan, v reflect.Value, b []byte) (err error) {
	kind, ok := extKind(b)
	switch {
	case !ok:
		return errMismatch
	case pl.op == opAtom && kind >= extAtom && kind <= extAtomAt:
		var a wire.Atom
		a, err = r.atomHere("an atom")
		v.SetString(string(a))
	case pl.op == opPID && kind == extPID:
		*target[wire.PID](v), err = r.pidHere("a pid")
	case pl.op == opRef && kind == extRef:
		var n int
		if n, err = r.extHere(extRef, "a reference"); err == nil {
			*target[wire.Ref](v), err = r.ref(n)
		}
	case pl.op == opTime && kind == extTime:
		t, err := r.all()
		if err == nil {
			*target[time.Time](v) = t.(time.Time)
		}
		return err
	default:
		return errMismatch
	}
	return err
}

// getParts reads a value with parts or methods.
func (r *reading) getParts(pl *plan, v reflect.Value, depth int) error {
	switch pl.op {
	case opStruct:
		return r.getStruct(pl, v, depth)
	case opPointer:
		if err := r.weigh(r.pos, 1, pl.elem.size); err != nil {
			return err
		}
		to := reflect.New(pl.elem.typ)
		if err := r.get(pl.elem, to.Elem(), depth); err != nil {
			return err
		}
		v.Set(to)
		return nil
	case opSlice:
		return r.getSlice(pl, v, depth)
	case opArray:
		return r.getArray(pl, v, depth)
	case opMap:
		return r.getMap(pl, v, depth)
	case opAny:
		return r.getAny(target[any](v))
	case opReference:
		return r.getReference(v)
	case opError:
		return r.getError(target[error](v))
	case opTerm:
		t, err := r.all()
		if err != nil {
			return err
		}
		return setField(v, t)
	}
	return r.getMethod(pl, v)
}

// count reads the header of a map or an array and makes its parts pending.
func (r *reading) count(what string, isMap bool) (n int, err error) {
	at, size := r.pos, uint32(0)
	var rest []byte
	if isMap {
		size, rest, err = msgp.ReadMapHeaderBytes(r.b[r.pos:])
	} else {
		size, rest, err = msgp.ReadArrayHeaderBytes(r.b[r.pos:])
	}
	if err = r.took(rest, err); err != nil {
		return 0, err
	}
	if uint64(size) > uint64(len(r.b)) {
		return 0, r.failAt(at, ErrCut, "%s of %d in %d bytes that are left", what, size, len(r.b)-r.pos)
	}
	n = int(size)
	if isMap {
		return n, r.expect(at, what, 2*n)
	}
	return n, r.expect(at, what, n)
}

func (r *reading) getStruct(pl *plan, v reflect.Value, depth int) error {
	n, err := r.count("the fields of a struct", true)
	if err != nil {
		return err
	}
	next := 0
	for range n {
		r.pending--
		if r.pos >= len(r.b) {
			return r.cut(1, "the name of a field")
		}
		name, err := r.blob(r.b[r.pos:])
		if err != nil {
			return err
		}
		r.pending--
		if next >= len(pl.fields) || pl.fields[next].name != string(name) { // usually all fields are present, in order
			i, known := pl.byName[string(name)]
			if !known {
				if err := r.leaveOut(); err != nil {
					return err
				}
				continue
			}
			next = i
		}
		f := &pl.fields[next]
		next++
		if err := r.get(f.plan, v.FieldByIndex(f.index), depth); err != nil {
			return r.inPart(err, "."+f.name, f.plan.typ)
		}
	}
	return nil
}

// leaveOut skips the value of a field that the local type lacks.
func (r *reading) leaveOut() error {
	s, err := skip(r.b, r.pos, maxGoDepth)
	if err != nil {
		return err
	}
	r.pos, r.slots = s.end, r.slots+s.elements
	if r.slots > r.limits.Elements {
		return r.failAt(r.pos, ErrLimit, "more than %d elements", r.limits.Elements)
	}
	return nil
}

// chunk is the maximum number of bytes allocated for a slice before its elements have been read.
const chunk = 64 << 10

func (r *reading) getSlice(pl *plan, s reflect.Value, depth int) error {
	n, err := r.count("a slice", false)
	if err != nil {
		return err
	}
	if err := r.weigh(r.pos, n, pl.elem.size); err != nil {
		return err
	}
	have := min(n, max(chunk/int(max(pl.elem.size, 1)), 1))
	if s.SetZero(); n == 0 {
		s.Set(reflect.MakeSlice(pl.typ, 0, 0))
		return nil
	}
	s.Grow(have)
	s.SetLen(have)
	for i := range n {
		if i == have {
			s.Grow(min(n-i, i))
			have = min(s.Cap(), n)
			s.SetLen(have)
		}
		r.pending--
		if err := r.get(pl.elem, s.Index(i), depth); err != nil {
			return r.inPart(err, "["+itoa(i)+"]", pl.elem.typ)
		}
	}
	return nil
}

func (r *reading) getArray(pl *plan, v reflect.Value, depth int) error {
	n, err := r.count("an array", false)
	if err == nil && (n > v.Len() || pl.strict && n < v.Len()) {
		err = errMismatch
	}
	if err != nil {
		return err
	}
	for i := range n {
		r.pending--
		if err := r.get(pl.elem, v.Index(i), depth); err != nil {
			return r.inPart(err, "["+itoa(i)+"]", pl.elem.typ)
		}
	}
	return nil
}

func (r *reading) getMap(pl *plan, v reflect.Value, depth int) error {
	n, err := r.count("a map", true)
	if err != nil {
		return err
	}
	if err := r.weigh(r.pos, n, pl.key.size+pl.elem.size); err != nil {
		return err
	}
	most := max(chunk/int(pl.key.size+pl.elem.size+1), 1)
	m := reflect.MakeMapWithSize(pl.typ, min(n, most))
	key, elem := reflect.New(pl.key.typ).Elem(), reflect.New(pl.elem.typ).Elem()
	for i := range n {
		key.SetZero()
		elem.SetZero()
		r.pending--
		if err := r.get(pl.key, key, depth); err != nil {
			return err
		}
		r.pending--
		if err := r.get(pl.elem, elem, depth); err != nil {
			return r.inPart(err, string(pathKey(key)), pl.elem.typ)
		}
		m.SetMapIndex(key, elem)
		if m.Len() != i+1 {
			return errMismatch // duplicate key
		}
	}
	v.Set(m)
	return nil
}

// getAny reads a field of type any: a term in an extension.
func (r *reading) getAny(p *any) error {
	if kind, ok := extKind(r.b[r.pos:]); !ok || kind != extTerm {
		return errMismatch
	}
	_, n, err := r.anyExt("a term in a field")
	if err != nil {
		return err
	}
	b, pending, end := r.b, r.pending, r.pos+n
	r.b, r.pending = b[:end], 0
	t, err := r.all()
	if err == nil && r.pos != end {
		err = r.failAt(r.pos, ErrMalformed, "expected a term in a field to end at offset %d, as its length says", end)
	}
	r.b, r.pending = b, pending
	*p = t
	return err
}

// opened is implemented by a received error that is replaced on this node.
type opened interface{ Opened() error }

// getError reads a field of type error: a term in an extension, or a text.
func (r *reading) getError(p *error) error {
	if kind, ok := extKind(r.b[r.pos:]); !ok || kind != extTerm {
		b, err := r.blob(r.b[r.pos:])
		if err == nil {
			*p = errors.New(string(b))
		}
		return err
	}
	var v any
	if err := r.getAny(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case opened:
		*p = v.Opened()
	case error:
		*p = v
	default:
		return errMismatch
	}
	return nil
}

// getMethod reads a value with its own methods.
func (r *reading) getMethod(pl *plan, v reflect.Value) error {
	var b []byte
	var err error
	if pl.how >= byBinary {
		b, err = r.blob(r.b[r.pos:])
	} else {
		from := r.pos
		err = r.leaveOut() // which checks its lengths
		b = r.b[from:r.pos]
	}
	if err != nil {
		return err
	}
	if pl.addr {
		v = v.Addr()
	} else {
		v.Set(reflect.New(pl.typ.Elem()))
	}
	b = append(make([]byte, 0, len(b)), b...)
	if err := unmarshal(pl.how, v.Interface(), b); err != nil && err != errMismatch {
		return r.mismatch("it cannot read itself: %s", wire.Describe(err, maxOutlineText))
	} else if err != nil {
		return err
	}
	return nil
}

// unmarshal calls the method of v. It returns errMismatch if that fails, or reads less than b.
func unmarshal(how method, v any, b []byte) error {
	switch how {
	case byMsgp:
		if u, ok := v.(msgp.Unmarshaler); ok {
			rest, err := u.UnmarshalMsg(b)
			if err == nil && len(rest) > 0 {
				err = errMismatch
			}
			return err
		}
	case byMsgpack:
		if u, ok := v.(unmarshaler); ok {
			return u.UnmarshalMsgpack(b)
		}
	case byBinary:
		if u, ok := v.(encoding.BinaryUnmarshaler); ok {
			return u.UnmarshalBinary(b)
		}
	case byText:
		if u, ok := v.(encoding.TextUnmarshaler); ok {
			return u.UnmarshalText(b)
		}
	}
	return errMismatch
}

// setField stores a term in a field with a type of package wire, converted to that type.
func setField(v reflect.Value, t any) error {
	switch v.Interface().(type) {
	case wire.List:
		if l, ok := t.(wire.List); ok && l == nil {
			t = wire.List{}
		}
	case wire.Charlist:
		if s, ok := wire.AsText(t); ok {
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
	tv := reflect.ValueOf(t)
	if t == nil || tv.Type() != v.Type() {
		return errMismatch
	}
	v.Set(tv)
	return nil
}
