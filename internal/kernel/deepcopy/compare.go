package deepcopy

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/actornode/actornode/wire"
)

// Snapshot is a value and a copy of its state. It keeps both alive.
type Snapshot struct {
	live, was any
	plan      *plan
	seen      seen
	cut       bool
}

// Take returns a snapshot that follows at most this many bytes, or nil if the value cannot change.
func Take(v any, bytes int) *Snapshot {
	if !Copies(v) {
		return nil
	}
	p := planOf(reflect.TypeOf(v))
	if p.shape < pointer {
		return nil
	}
	s := &state{root: v, track: true, snapshot: true, left: bytes}
	if err := s.dynamicOf(anyType, unsafe.Pointer(&s.root), p); err != nil {
		return nil // unreachable: a snapshot refuses nothing
	}
	return &Snapshot{live: v, was: s.root, plan: p, seen: s.seen, cut: s.cut}
}

// Cut reports whether the value had more bytes than the snapshot has followed.
func (s *Snapshot) Cut() bool { return s.cut }

// Value returns the value.
func (s *Snapshot) Value() any { return s.live }

// Type returns the type of the value.
func (s *Snapshot) Type() reflect.Type { return s.plan.typ }

// Difference is a change of a value.
type Difference struct {
	Path     string // such as .Items[2].Done; "" for the value itself
	Was, Now string // short
}

// Compare returns the first difference between the value and its state at Take, or nil if there is none.
func (s *Snapshot) Compare() *Difference {
	c := comparing{seen: &s.seen, met: make(map[visit]bool)}
	return c.at(s.plan, unpack(anyType, unsafe.Pointer(&s.live), s.plan), unpack(anyType, unsafe.Pointer(&s.was), s.plan))
}

// comparing is the state of one Compare.
type comparing struct {
	seen *seen
	met  map[visit]bool
}

// visit is an object that has been compared, or is being compared.
type visit struct {
	at   unsafe.Pointer
	plan *plan
	n    int
}

func (d *Difference) under(part string) *Difference {
	if d != nil {
		d.Path = part + d.Path
	}
	return d
}

// differs returns the difference of a changed value.
func differs(p *plan, live, was unsafe.Pointer) *Difference {
	return &Difference{Was: brief(p, was), Now: brief(p, live)}
}

// brief formats a value that consists of plain bytes, and only the type of others.
func brief(p *plan, v unsafe.Pointer) string {
	switch {
	case p.flat:
		return short(wire.Describe(reflect.NewAt(p.typ, v).Elem().Interface(), longestKey))
	case p.typ.Kind() == reflect.String:
		return "another text" // what it refers to may be gone
	}
	return "a " + p.typ.String()
}

func short(s string) string {
	if len(s) > longestKey {
		return s[:longestKey] + "…"
	}
	return s
}

// at compares the value at live with the one at was.
func (c *comparing) at(p *plan, live, was unsafe.Pointer) *Difference {
	switch p.shape {
	case shared, guarded, refused:
		if isPointer(p.typ) && load(live) != load(was) {
			return differs(p, live, was)
		}
		return nil
	case pointer:
		return c.pointer(p, live, was)
	case slice:
		return c.slice(p, live, was)
	case mapping:
		return c.mapping(p, live, was)
	case dynamic:
		return c.dynamic(p, live, was)
	}
	if same(live, was, p.size) && p.shape == plain {
		return nil
	}
	switch {
	case len(p.fields) > 0:
		for i := range p.fields {
			f := &p.fields[i]
			if d := c.at(f.plan, at(live, f.offset), at(was, f.offset)); d != nil {
				return d.under("." + f.name)
			}
		}
		return nil
	case p.typ.Kind() == reflect.Array:
		return c.elems(p.elem, live, was, p.typ.Len())
	case p.typ.Kind() == reflect.Struct && p.typ.NumField() == 0, p.size == 0:
		return nil
	case p.typ.Kind() == reflect.String:
		return c.text(live, was)
	}
	return differs(p, live, was)
}

// same reports whether n bytes are equal.
func same(a, b unsafe.Pointer, n uintptr) bool {
	return string(unsafe.Slice((*byte)(a), n)) == string(unsafe.Slice((*byte)(b), n))
}

// text compares strings, both words of which are unchanged unless one was written.
func (c *comparing) text(live, was unsafe.Pointer) *Difference {
	now, then := len(*(*string)(live)), len(*(*string)(was))
	return &Difference{Was: fmt.Sprintf("a text of %d bytes", then), Now: fmt.Sprintf("another text, of %d bytes", now)}
}

func (c *comparing) elems(elem *plan, live, was unsafe.Pointer, n int) *Difference {
	for i := range n {
		offset := uintptr(i) * elem.size
		if d := c.at(elem, at(live, offset), at(was, offset)); d != nil {
			return d.under("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

// again reports whether an object is being compared already, or has been.
func (c *comparing) again(v unsafe.Pointer, p *plan, n int) bool {
	k := visit{v, p, n}
	if c.met[k] {
		return true
	}
	c.met[k] = true
	return false
}

func (c *comparing) pointer(p *plan, live, was unsafe.Pointer) *Difference {
	a, b := load(live), load(was)
	switch {
	case a == b: // shared, or nil
		return nil
	case a == nil:
		return &Difference{Was: "a " + p.typ.String(), Now: "nil"}
	case b == nil || c.seen.get(a, p.elem, 0) != b:
		return &Difference{Was: pointerText(p, b), Now: "another " + p.typ.String()}
	case c.again(a, p.elem, 0):
		return nil
	}
	return c.at(p.elem, a, b)
}

func pointerText(p *plan, v unsafe.Pointer) string {
	if v == nil {
		return "nil"
	}
	return "a " + p.typ.String()
}

func (c *comparing) slice(p *plan, live, was unsafe.Pointer) *Difference {
	a, b := *(*header)(live), *(*header)(was)
	switch {
	case a.len != b.len:
		return &Difference{Was: fmt.Sprintf("length %d", b.len), Now: fmt.Sprintf("length %d", a.len)}
	case a.data == b.data || a.len == 0 && a.data != nil && b.data != nil:
		return nil
	case a.data == nil || b.data == nil || c.seen.get(a.data, p, a.len) != b.data:
		return &Difference{Was: "a " + p.typ.String(), Now: "another " + p.typ.String()}
	case c.again(a.data, p, a.len):
		return nil
	case p.elem.flat && same(a.data, b.data, uintptr(a.len)*p.elem.size):
		return nil
	}
	return c.elems(p.elem, a.data, b.data, a.len)
}

func (c *comparing) mapping(p *plan, live, was unsafe.Pointer) *Difference {
	a, b := load(live), load(was)
	switch {
	case a == b:
		return nil
	case a == nil || b == nil || c.seen.get(a, p, 0) != b:
		return &Difference{Was: pointerText(p, b), Now: "another " + p.typ.String()}
	case c.again(a, p, 0):
		return nil
	}
	now, then := reflect.NewAt(p.typ, unsafe.Pointer(&a)).Elem(), reflect.NewAt(p.typ, unsafe.Pointer(&b)).Elem()
	x, y, k := reflect.New(p.elem.typ), reflect.New(p.elem.typ), reflect.New(p.key.typ)
	for i := then.MapRange(); i.Next(); {
		k.Elem().SetIterKey(i)
		y.Elem().SetIterValue(i)
		value := now.MapIndex(k.Elem())
		if !value.IsValid() {
			if k.Elem().Equal(k.Elem()) { // otherwise NaN, which cannot be found
				return &Difference{Path: keyText(k.Elem()), Was: "there", Now: "not there"}
			}
			continue
		}
		x.Elem().Set(value)
		if d := c.at(p.elem, x.UnsafePointer(), y.UnsafePointer()); d != nil {
			return d.under(keyText(k.Elem()))
		}
	}
	if n, m := now.Len(), then.Len(); n != m {
		return &Difference{Was: fmt.Sprintf("%d keys", m), Now: fmt.Sprintf("%d keys", n)}
	}
	return nil
}

func (c *comparing) dynamic(p *plan, live, was unsafe.Pointer) *Difference {
	if same(live, was, p.size) {
		return nil // shared, or nil
	}
	then := reflect.NewAt(p.typ, was).Elem()
	if then.IsNil() {
		return &Difference{Was: "nil", Now: "something"}
	}
	of := planOf(then.Elem().Type())
	if *(*uintptr)(live) != *(*uintptr)(was) { // another type, or nil
		return &Difference{Was: "a " + of.typ.String(), Now: "another value"}
	}
	a, b := unpack(p.typ, live, of), unpack(p.typ, was, of)
	if inPlace && !of.direct && (!of.copied() || c.seen.get(a, of, 0) != b) {
		return &Difference{Was: "a " + of.typ.String(), Now: "another"}
	}
	return c.at(of, a, b)
}

// SameValue reports whether two snapshots are of one value: the same pointer, or the same memory otherwise.
func (s *Snapshot) SameValue(o *Snapshot) bool {
	return s.plan == o.plan && same(unsafe.Pointer(&s.live), unsafe.Pointer(&o.live), anyType.Size())
}
