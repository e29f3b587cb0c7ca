package deepcopy

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// shape is what is done with the values of a type.
type shape uint8

const (
	plain   shape = iota // nothing: it has no reference to mutable memory
	shared               // nothing, and it is not compared
	guarded              // it holds a lock or an atomic: references to it are shared
	refused              // it cannot be copied: see plan.why
	pointer              // this and the following are copied
	slice
	mapping
	dynamic // an interface
	structure
	array
)

// plan describes how values of a type are copied. It is set once, except once.
type plan struct {
	typ    reflect.Type
	shape  shape
	direct bool // a value of the type is a pointer, and is stored directly in an interface
	flat   bool // a value has no pointers at all
	size   uintptr
	why    string // of refused
	elem   *plan  // of a pointer, a slice, an array, a map
	key    *plan  // of a map
	fields []field
	refs   []field                // those of fields that need copying
	quick  func(p unsafe.Pointer) // copies a map of a common type, or nil
	null   any                    // a nil pointer to the type; nil if a value is an interface, or is stored directly in one

	once  sync.Once
	loops bool // see track
}

// field is a field of a struct. Plain ones are only for comparing.
type field struct {
	name   string
	offset uintptr
	plan   *plan
}

// copied reports whether a value needs copying.
func (p *plan) copied() bool { return p.shape >= guarded }

var (
	plans   sync.Map // reflect.Type to *plan
	making  sync.Mutex
	unknown = make(map[reflect.Type]*plan) // those that are being made; guarded by making
)

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	making.Lock()
	defer making.Unlock()
	p := plan_(t)
	for t, p := range unknown {
		plans.Store(t, p)
	}
	clear(unknown)
	return p
}

// plan_ is planOf with making locked.
func plan_(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p := unknown[t]; p != nil {
		return p
	}
	p := &plan{typ: t, size: t.Size(), direct: t.Kind() != reflect.Interface && isDirect(t), flat: isFlat(t)}
	if !p.direct && t.Kind() != reflect.Interface {
		p.null = reflect.Zero(reflect.PointerTo(t)).Interface()
	}
	unknown[t] = p
	p.shape, p.why = shapeOf(t)
	switch p.shape {
	case pointer, slice, array:
		p.elem = plan_(t.Elem())
	case mapping:
		p.key, p.elem, p.quick = plan_(t.Key()), plan_(t.Elem()), quickMap(t)
	case plain, structure:
		if _, whole := always[t]; whole {
			break
		}
		if t.Kind() == reflect.Struct {
			p.addFields()
		} else if t.Kind() == reflect.Array {
			p.elem = plan_(t.Elem())
		}
	}
	return p
}

func (p *plan) addFields() {
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		one := plan_(f.Type)
		if f.Tag.Get("isolation") == "share" {
			one = &plan{typ: f.Type, shape: shared, size: f.Type.Size()}
		}
		p.fields = append(p.fields, field{f.Name, f.Offset, one})
		if one.copied() {
			p.refs = append(p.refs, field{f.Name, f.Offset, one})
		}
	}
}

var (
	contexts  = reflect.TypeFor[context.Context]()
	errors_   = reflect.TypeFor[error]()
	types     = reflect.TypeFor[reflect.Type]()
	immutable = reflect.TypeFor[interface{ Immutable() }]()

	always = map[reflect.Type]shape{
		reflect.TypeFor[time.Time]():      plain,
		reflect.TypeFor[time.Location]():  guarded,
		reflect.TypeFor[regexp.Regexp]():  guarded,
		reflect.TypeFor[*time.Location](): shared,
		reflect.TypeFor[os.File]():        guarded,
		reflect.TypeFor[slog.Logger]():    guarded,
	}
)

// shapeOf decides by the type alone. It looks into structs and arrays, and through one pointer for a lock.
func shapeOf(t reflect.Type) (shape, string) {
	if s, ok := always[t]; ok {
		return s, ""
	}
	if isShared(t) {
		return shared, ""
	}
	switch t.Kind() {
	case reflect.Func:
		return refused, "a function may have captured anything"
	case reflect.UnsafePointer:
		return refused, "nobody knows what it leads to"
	case reflect.Chan:
		return shared, ""
	case reflect.Interface:
		return dynamic, ""
	case reflect.Slice:
		return slice, ""
	case reflect.Map:
		return mapping, ""
	case reflect.Pointer:
		if isGuarded(t.Elem()) {
			return shared, ""
		}
		return pointer, ""
	case reflect.Array:
		s, why := shapeOf(t.Elem())
		switch {
		case t.Len() == 0 || s <= shared:
			return plain, ""
		case s <= refused:
			return s, why
		}
		return array, ""
	case reflect.Struct:
		return shapeOfStruct(t)
	}
	return plain, ""
}

// shapeOfStruct is shapeOf for a struct.
func shapeOfStruct(t reflect.Type) (shape, string) {
	path := t.PkgPath()
	if isGuarded(t) {
		return guarded, ""
	}
	if path == "unique" {
		return shared, ""
	}
	if path == "weak" {
		return shapeOfWeak(t)
	}
	all, hides := plain, false
	for i := range t.NumField() {
		f := t.Field(i)
		switch s, _ := shapeOf(f.Type); {
		case s <= shared:
		case f.Tag.Get("isolation") == "share":
			all = structure // to be compared without that field
		default:
			hides = hides || !f.IsExported() && f.Name != "_"
			all = structure
		}
	}
	if hides && standard(path) && !data[path+"."+t.Name()] {
		return refused, "the standard library hides what is in it"
	}
	return all, ""
}

// shapeOfWeak is shapeOf for a weak.Pointer. Nothing would keep the target of a copy alive.
func shapeOfWeak(t reflect.Type) (shape, string) {
	value, _ := t.MethodByName("Value")
	if s, _ := shapeOf(value.Type.Out(0)); s <= shared {
		return shared, ""
	}
	return refused, "a copy of what a weak pointer leads to would be held by nobody"
}

// isGuarded reports whether a value of a type is for concurrent use: it holds a lock or an atomic. A field that is shared
// anyway does not count.
func isGuarded(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isGuarded(t.Elem())
	case reflect.Struct:
		if s, ok := always[t]; ok {
			return s == guarded
		}
		if path := t.PkgPath(); path == "sync" || path == "sync/atomic" {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("isolation") != "share" && isGuarded(f.Type) {
				return true
			}
		}
	}
	return false
}

// isShared reports whether values of a type are shared because of their type.
func isShared(t reflect.Type) bool {
	switch {
	case t.Implements(immutable):
		return true
	case t.Kind() == reflect.Interface:
		return t == types || t == contexts
	case t.Implements(errors_), t.Implements(contexts), t.Implements(types):
		return true
	}
	return t.Kind() != reflect.Pointer && t.Name() != "" && reflect.PointerTo(t).Implements(immutable)
}

// data are structs of the standard library that are plain data, though their fields are unexported.
var data = map[string]bool{
	"bytes.Buffer": true, "bytes.Reader": true, "strings.Builder": true, "strings.Reader": true,
	"math/big.Int": true, "math/big.Rat": true, "math/big.Float": true,
	"container/list.List": true, "container/list.Element": true, "container/ring.Ring": true,
	"net/url.URL": true, "net/netip.Addr": true, "net/netip.Prefix": true, "net/netip.AddrPort": true,
}

// standard reports whether a package belongs to Go's standard library.
func standard(path string) bool {
	if path == "" {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	if strings.Contains(first, ".") || first == "main" || first == "command-line-arguments" {
		return false
	}
	return !ours()[first]
}

// ours are the first elements of the paths of the program's modules.
var ours = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(b.Deps, &b.Main) {
			first, _, _ := strings.Cut(m.Path, "/")
			all[first] = true
		}
	}
	return all
})

// isPointer reports whether a value of the type is a single pointer.
func isPointer(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	}
	return false
}

// isFlat reports whether a value of a type has no pointers in it.
func isFlat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() == 0 || isFlat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isFlat(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() <= reflect.Complex128
}

// track reports whether two references in a value of the type can refer to the same object.
func (p *plan) track() bool {
	p.once.Do(func() { p.loops = repeats(p, false, make(map[*plan]bool)) })
	return p.loops
}

// repeats reports whether a referenced type can occur twice in a value of p; many reports that p can.
func repeats(p *plan, many bool, met map[*plan]bool) bool {
	switch p.shape {
	case dynamic:
		return true
	case structure:
		for _, f := range p.fields {
			if repeats(f.plan, many, met) {
				return true
			}
		}
	case array:
		return repeats(p.elem, many || p.typ.Len() > 1, met)
	case pointer, slice, mapping:
		if many || met[p] {
			return true
		}
		met[p] = true
		if p.shape == mapping && repeats(p.key, true, met) {
			return true
		}
		return repeats(p.elem, p.shape != pointer, met)
	}
	return false
}
