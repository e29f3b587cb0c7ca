package pack

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// plan says how values of one Go type are written and read. It is made once, when the type is
// registered, and is then never changed.
type plan struct {
	op     op
	how    method // of opMethod
	addr   bool   // of opMethod: the methods are those of a pointer to the value
	typ    reflect.Type
	elem   *plan // of a pointer, slice, array or map
	key    *plan // of a map
	size   uintptr
	len    int            // of an array
	strict bool           // of an array: no element is missing
	fields []field        // of a struct
	byName map[string]int // the index in fields
	spare  sync.Pool      // pointers to zero values of typ: what is not addressable is copied to one
}

// field is an exported field of a struct, or of a struct that is embedded in it.
type field struct {
	plan   *plan
	offset uintptr
	name   string
	head   []byte // the name as it is on the wire
	omit   bool   // when it is empty
}

// op is how a value is written.
type op uint8

const (
	opBool op = iota
	opInt
	opInt8
	opInt16
	opInt32
	opInt64
	opUint
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opString
	opBytes     // a slice of bytes
	opByteArray // an array of bytes
	opSlice
	opArray
	opMap
	opPointer
	opStruct
	opAny
	opError
	opTime
	opAtom
	opPID
	opRef
	opTerm // another type of package wire
	opReference
	opMethod // by methods of the type's
)

// method is by which methods a type writes and reads itself.
type method uint8

const (
	byMsgp    method = iota + 1 // MarshalMsg and UnmarshalMsg, as the generator of msgp makes them
	byMsgpack                   // MarshalMsgpack and UnmarshalMsgpack
	byBinary                    // MarshalBinary and UnmarshalBinary
	byText                      // MarshalText and UnmarshalText
)

// A type that writes itself as a MessagePack object.
type (
	marshaler   interface{ MarshalMsgpack() ([]byte, error) }
	unmarshaler interface{ UnmarshalMsgpack([]byte) error }
)

var (
	anyType   = reflect.TypeFor[any]()
	errorType = reflect.TypeFor[error]()
	timeType  = reflect.TypeFor[time.Time]()
	wirePath  = reflect.TypeFor[wire.PID]().PkgPath()
	methods   = []struct {
		how method
		typ reflect.Type
	}{
		{byMsgp, reflect.TypeFor[msgp.Marshaler]()},
		{byMsgpack, reflect.TypeFor[marshaler]()},
		{byBinary, reflect.TypeFor[encoding.BinaryMarshaler]()},
		{byText, reflect.TypeFor[encoding.TextMarshaler]()},
	}
	kindOps = map[reflect.Kind]op{reflect.Bool: opBool, reflect.Int: opInt, reflect.Int8: opInt8, reflect.Int16: opInt16,
		reflect.Int32: opInt32, reflect.Int64: opInt64, reflect.Uint: opUint, reflect.Uint8: opUint8, reflect.Uint16: opUint16,
		reflect.Uint32: opUint32, reflect.Uint64: opUint64, reflect.Float32: opFloat32, reflect.Float64: opFloat64,
		reflect.String: opString, reflect.Slice: opSlice, reflect.Array: opArray, reflect.Map: opMap, reflect.Pointer: opPointer,
		reflect.Struct: opStruct}
)

// planning makes plans, one for each type, also where types hold themselves.
type planning struct {
	plans map[reflect.Type]*plan
	open  map[reflect.Type]bool // types whose plan is being made
	loops map[reflect.Type]bool // and those of them that were met again
}

// planOf returns the plan of a type, or why its values cannot travel.
func planOf(t reflect.Type) (*plan, error) {
	m := planning{map[reflect.Type]*plan{}, map[reflect.Type]bool{}, map[reflect.Type]bool{}}
	return m.plan(t, "")
}

func (m *planning) plan(t reflect.Type, path string) (*plan, error) {
	if p := m.plans[t]; p != nil {
		if m.open[t] {
			m.loops[t] = true
		}
		return p, nil
	}
	p := &plan{typ: t, size: t.Size()}
	p.spare.New = func() any { return reflect.New(t).Interface() }
	m.plans[t] = p
	if m.itself(p) {
		return p, nil
	}
	m.open[t] = true
	err := m.parts(p, path)
	delete(m.open, t)
	return p, err
}

// itself fills the plan of a type that is no composition of others.
func (m *planning) itself(p *plan) bool {
	t := p.typ
	switch {
	case t == timeType:
		p.op = opTime
		return true
	case termof.IsReference(t):
		p.op = opReference
		return true
	case t.PkgPath() == wirePath && isTerm(reflect.Zero(t).Interface()):
		switch t {
		case reflect.TypeFor[wire.Atom]():
			p.op = opAtom
		case reflect.TypeFor[wire.PID]():
			p.op = opPID
		case reflect.TypeFor[wire.Ref]():
			p.op = opRef
		default:
			p.op = opTerm
		}
		return true
	case t.Kind() == reflect.Interface:
		return false
	}
	for _, own := range methods {
		switch {
		case t.Implements(own.typ) && t.Kind() == reflect.Pointer:
		case reflect.PointerTo(t).Implements(own.typ):
			p.addr = true
		default:
			continue
		}
		p.op, p.how = opMethod, own.how
		return true
	}
	return false
}

func (m *planning) parts(p *plan, path string) (err error) {
	t := p.typ
	switch t.Kind() {
	case reflect.Interface:
		switch t {
		case anyType:
			p.op = opAny
		case errorType:
			p.op = opError
		default:
			return fmt.Errorf("%s is of type %v: of interfaces only any and error can travel", orWhole(path), t)
		}
		return nil
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return fmt.Errorf("%s is of type %v, which cannot travel", orWhole(path), t)
	}
	p.op = kindOps[t.Kind()]
	switch p.op {
	case opSlice, opArray:
		if t.Kind() == reflect.Array {
			p.len = t.Len()
		}
		if t.Elem().Kind() == reflect.Uint8 {
			p.op -= opSlice - opBytes
		}
		p.elem, err = m.plan(t.Elem(), path)
	case opPointer:
		p.elem, err = m.plan(t.Elem(), path)
	case opMap:
		if p.key, err = m.plan(t.Key(), path+" (key)"); err != nil {
			return err
		}
		if holdsAny(t.Key(), map[reflect.Type]bool{}) || m.loops[t.Key()] {
			return fmt.Errorf("%s is of type %v: a key cannot hold an any, nor itself", orWhole(path), t)
		}
		p.elem, err = m.plan(t.Elem(), path)
	case opStruct:
		return m.structure(p, path)
	}
	return err
}

// holdsAny reports whether a key of a map holds an interface, or a pointer.
func holdsAny(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return holdsAny(t.Elem(), seen)
	case reflect.Struct:
		if t == timeType || t.PkgPath() == wirePath {
			return false
		}
		for i := range t.NumField() {
			if holdsAny(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

func orWhole(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

func (m *planning) structure(p *plan, path string) error {
	p.byName = map[string]int{}
	if err := m.fields(p, p.typ, 0, path, false, map[string]string{}); err != nil {
		return err
	}
	if len(p.fields) == 0 && p.typ.Size() > 0 { // one without size has nothing to lose
		return fmt.Errorf("%s is of type %v, which has no exported field and would arrive empty", orWhole(path), p.typ)
	}
	return nil
}

// fields adds the fields of t, which lies at an offset in the struct. Taken are the names that they travel by, those for
// reading too, with the fields that have them: a second one would be lost, although embedded deeper.
func (m *planning) fields(p *plan, t reflect.Type, offset uintptr, path string, omit bool, taken map[string]string) error {
	var embedded []func() error
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("msgpack"), ",")
		has := func(option string) bool {
			for _, o := range tag[1:] {
				if o == option {
					return true
				}
			}
			return false
		}
		at := path + "." + f.Name
		switch {
		case termof.Stays(f):
			continue
		case f.Name == "_msgpack":
			if has("as_array") || has("asArray") {
				return fmt.Errorf("%s: fields travel by their names, not as_array", at)
			}
			omit = omit || has("omitempty")
			continue
		case !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("%s is embedded by a pointer: embed the struct itself, or name the field", at)
		}
		part, err := m.plan(f.Type, at)
		if err != nil {
			return err
		}
		if f.Anonymous && part.op == opStruct && tag[0] == "" && !has("noinline") {
			embedded = append(embedded, func() error {
				return m.fields(p, f.Type, offset+f.Offset, at, omit, taken)
			})
			continue
		}
		if !f.IsExported() {
			continue
		}
		name := tag[0]
		if name == "" {
			name = f.Name
		}
		names := []string{name}
		for _, o := range tag[1:] {
			if alias, ok := strings.CutPrefix(o, "alias:"); ok {
				names = append(names, alias)
			}
		}
		for _, n := range names {
			if other, is := taken[n]; is {
				return fmt.Errorf("%s and %s both have the name %q: give one another by a tag, as `msgpack:\"name\"`", other, at, n)
			}
			taken[n], p.byName[n] = at, len(p.fields)
		}
		p.fields = append(p.fields, field{plan: part, offset: offset + f.Offset, name: name,
			head: append(appendStr(nil, len(name)), name...), omit: omit || has("omitempty")})
	}
	for _, add := range embedded {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}
