package pack

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/actornode/actornode/wire"
)

// openTypes are the types within a registered one whose values must be walked
// before the library sees them: those that hold an any, which needs a box, and
// those that hold themselves, whose depth needs a bound.
type openTypes map[reflect.Type]bool

// maxGoDepth is how deep Go values may be nested in each other.
const maxGoDepth = 10_000

var (
	anyType   = reflect.TypeFor[any]()
	errorType = reflect.TypeFor[error]()
	timeType  = reflect.TypeFor[time.Time]()
	wirePath  = reflect.TypeFor[wire.PID]().PkgPath()
	// ownTypes are interfaces of types that write themselves.
	ownTypes = []reflect.Type{reflect.TypeFor[msgpack.CustomEncoder](), reflect.TypeFor[msgpack.Marshaler](),
		reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.TextMarshaler]()}
)

// checking walks a type to be registered. state is 1 for types that are being
// walked, 2 for those that are done.
type checking struct {
	open  openTypes
	state map[reflect.Type]uint8
}

// check reports whether values of t must be walked, or why they cannot travel.
func (c *checking) check(t reflect.Type, path string) (open bool, err error) {
	switch c.state[t] {
	case 1:
		for u, s := range c.state {
			if s == 1 { // all that lies on the way back to t, and perhaps more
				c.open[u] = true
			}
		}
		return true, nil
	case 2:
		return c.open[t], nil
	}
	if writesItself(t) {
		return false, nil
	}
	c.state[t] = 1
	open, err = c.parts(t, path)
	c.state[t] = 2
	if open {
		c.open[t] = true
	}
	return c.open[t], err
}

func (c *checking) parts(t reflect.Type, path string) (open bool, err error) {
	switch t.Kind() {
	case reflect.Interface:
		if t == anyType || t == errorType {
			return t == anyType, nil
		}
		return false, fmt.Errorf("%s is of type %v: of interfaces only any and error can travel", orWhole(path), t)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return false, fmt.Errorf("%s is of type %v, which cannot travel", orWhole(path), t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return c.check(t.Elem(), path)
	case reflect.Map:
		keys, err := c.check(t.Key(), path+" (key)")
		if err == nil && keys {
			err = fmt.Errorf("%s is of type %v: a key cannot hold an any, nor itself", orWhole(path), t)
		}
		if err != nil {
			return false, err
		}
		return c.check(t.Elem(), path)
	case reflect.Struct:
		return c.fields(t, path)
	}
	return false, nil
}

func (c *checking) fields(t reflect.Type, path string) (open bool, err error) {
	exported := t.NumField() == 0
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("msgpack") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		exported = true
		at := path + "." + f.Name
		if f.Anonymous && f.Type.Kind() == reflect.Pointer { // the library keeps a goroutine for ever for each such type
			return false, fmt.Errorf("%s is embedded by a pointer: embed the struct itself, or name the field", at)
		}
		part, err := c.check(f.Type, at)
		if err != nil {
			return false, err
		}
		open = open || part
	}
	if !exported {
		return false, fmt.Errorf("%s is of type %v, which has no exported field and would arrive empty", orWhole(path), t)
	}
	return open, nil
}

func orWhole(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// writesItself reports whether the library leaves values of t to methods of
// theirs, or to our code.
func writesItself(t reflect.Type) bool {
	if t == timeType || t.PkgPath() == wirePath && isTerm(reflect.Zero(t).Interface()) {
		return true
	}
	for _, own := range ownTypes {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return t.Kind() != reflect.Interface
		}
	}
	return false
}

var errDeep = errors.New("nested too deep")

// box puts what the any's in v hold into boxes, in copies of all that v shares
// with others.
func (o openTypes) box(v reflect.Value) error {
	w := walk{open: o, shared: true, do: func(v reflect.Value) {
		v.Set(reflect.ValueOf(anyTerm{v.Interface()}))
	}}
	if w.value(v, 0) != nil {
		return faults.New(ErrLimit, "a Go value of type %v is nested deeper than %d levels (does it hold itself?)", v.Type(),
			maxGoDepth)
	}
	return nil
}

// unbox takes them out again. What came without a box, the library has read in its
// own way, which is no term.
func (o openTypes) unbox(v reflect.Value) error {
	var bare reflect.Value
	w := walk{open: o, do: func(v reflect.Value) {
		switch b, ok := v.Interface().(anyTerm); {
		case !ok:
			bare = v
		case b.term == nil:
			v.SetZero()
		default:
			v.Set(reflect.ValueOf(b.term))
		}
	}}
	err := w.value(v, 0)
	if err == nil && bare.IsValid() {
		err = fmt.Errorf("a %v that is no term in a field of type any", bare.Elem().Type())
	}
	return err
}

// walk goes to all that is of type any within a value, as far as the library
// would.
type walk struct {
	open   openTypes
	shared bool // what v refers to is not its own: copy it
	do     func(reflect.Value)
}

func (w *walk) value(v reflect.Value, depth int) error {
	t := v.Type()
	switch {
	case !w.open[t]:
		return nil
	case depth > maxGoDepth:
		return errDeep
	}
	switch t.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.do(v)
		}
		return nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if w.shared {
			p := reflect.New(t.Elem())
			p.Elem().Set(v.Elem())
			v.Set(p)
		}
		return w.value(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("msgpack") != "-" && (f.IsExported() || f.Anonymous) {
				if err := w.value(v.Field(i), depth+1); err != nil {
					return err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if w.shared && t.Kind() == reflect.Slice && !v.IsNil() {
			s := reflect.MakeSlice(t, v.Len(), v.Len())
			reflect.Copy(s, v)
			v.Set(s)
		}
		for i := range v.Len() {
			if err := w.value(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		return w.mapping(v, depth)
	}
	return nil
}

func (w *walk) mapping(v reflect.Value, depth int) error {
	if v.IsNil() {
		return nil
	}
	m := reflect.MakeMapWithSize(v.Type(), v.Len())
	for pairs := v.MapRange(); pairs.Next(); {
		e := reflect.New(v.Type().Elem()).Elem()
		e.Set(pairs.Value())
		if err := w.value(e, depth+1); err != nil {
			return err
		}
		m.SetMapIndex(pairs.Key(), e)
	}
	v.Set(m)
	return nil
}
