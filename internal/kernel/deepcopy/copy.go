package deepcopy

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"unsafe"
)

// Error reports why a value cannot be copied.
type Error struct {
	Type reflect.Type // of the part that cannot be copied
	Path string       // where it is in the value, such as .Items[2].Done; "" for the value itself
	Why  string
}

func (e *Error) Error() string {
	where := "it"
	if e.Path != "" {
		where = e.Path
	}
	return fmt.Sprintf("%s is a %v, which cannot be copied: %s", where, e.Type, e.Why)
}

// under prepends to the path.
func (e *Error) under(part string) *Error {
	if e.Path = part + e.Path; len(e.Path) > longestPath {
		e.Path = e.Path[:longestPath] + "…"
	}
	return e
}

// longestPath is the maximum number of bytes shown of a path.
const longestPath = 300

// deepest is the maximum depth of references.
const deepest = 100_000

// state is the state of one copy.
type state struct {
	seen
	root    any
	scratch header
	track   bool
	depth   int

	snapshot bool // what cannot be copied is shared
	left     int  // bytes that a snapshot may still copy
	cut      bool // that was not enough
}

var states = sync.Pool{New: func() any { return new(state) }}

var anyType = reflect.TypeFor[any]()

// Copy returns a copy of a value. The error is an [*Error].
func Copy(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	p := planOf(reflect.TypeOf(v))
	if p.shape <= shared {
		return v, nil
	}
	if p.direct && p.last() {
		p.copyLast(unpack(anyType, unsafe.Pointer(&v), p))
		return v, nil
	}
	s := states.Get().(*state)
	s.root, s.track = v, p.track()
	err := s.dynamicOf(anyType, unsafe.Pointer(&s.root), p)
	v = s.root
	s.done()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Of is Copy for a statically known type.
func Of[T any](v T) (T, error) {
	if in, ok := any(&v).(*any); ok { // the type is not known statically
		now, err := Copy(*in)
		*in = now
		return v, err
	}
	p := planOf(reflect.TypeFor[T]())
	if p.shape <= shared {
		return v, nil
	}
	s := states.Get().(*state)
	s.track = p.track()
	now := v
	err := s.fix(p, unsafe.Pointer(&now))
	s.done()
	if err != nil {
		var none T
		return none, err
	}
	return now, nil
}

// last reports whether values are pointers to memory without references to copy. They need no state.
func (p *plan) last() bool { return p.shape == pointer && !p.elem.copied() }

// copyLast is fix for such a pointer.
func (p *plan) copyLast(v unsafe.Pointer) {
	if old := load(v); old != nil && p.elem.size > 0 {
		store(v, p.elem.clone(old))
	}
}

// done returns s to the pool.
func (s *state) done() {
	s.reset()
	s.root, s.track, s.depth = nil, false, 0
	states.Put(s)
}

// Copies reports whether a value has anything that Copy copies or refuses, as far as its type tells.
func Copies(v any) bool { return v != nil && planOf(reflect.TypeOf(v)).shape > shared }

// fix replaces the references in the value at v, whose own memory is a copy already, by copies. It returns an untyped nil if
// there is no *Error.
func (s *state) fix(p *plan, v unsafe.Pointer) error {
	switch p.shape {
	case structure:
		return s.fields(p, v)
	case array:
		return s.elems(p, v, p.typ.Len())
	case pointer:
		return s.pointer(p, v)
	case slice:
		return s.slice(p, v)
	case mapping:
		return s.mapping(p, v)
	case dynamic:
		if reflect.NewAt(p.typ, v).Elem().IsNil() {
			return nil
		}
		return s.dynamicOf(p.typ, v, planOf(reflect.NewAt(p.typ, v).Elem().Elem().Type()))
	case guarded:
		return s.refuse(p, "it holds a lock or an atomic, and is no pointer")
	case refused:
		if !reflect.NewAt(p.typ, v).Elem().IsZero() {
			return s.refuse(p, p.why)
		}
	}
	return nil
}

// fields is fix for a struct. It follows pointers directly, not through fix: most of a tree is that.
func (s *state) fields(p *plan, v unsafe.Pointer) error {
	for i := range p.refs {
		f := &p.refs[i]
		v := at(v, f.offset)
		var err error
		switch {
		case f.plan.shape != pointer:
			err = s.fix(f.plan, v)
		case load(v) != nil:
			err = s.pointer(f.plan, v)
		}
		if err != nil {
			return err.(*Error).under("." + f.name)
		}
	}
	return nil
}

// refuse returns the error for a value that cannot be copied; a snapshot shares it.
func (s *state) refuse(p *plan, why string) error {
	if s.snapshot {
		return nil
	}
	return &Error{Type: p.typ, Why: why}
}

// enter counts a reference that is followed. Each enter that returns nil must be followed by a leave.
func (s *state) enter(p *plan) error {
	if s.depth++; s.depth > deepest {
		s.depth--
		return &Error{Type: p.typ, Why: fmt.Sprintf("its references are more than %d deep", deepest)}
	}
	return nil
}

func (s *state) leave() { s.depth-- }

// spend reports whether a snapshot may copy this many bytes more; each part costs another 64.
func (s *state) spend(bytes uintptr) bool {
	if !s.snapshot {
		return true
	}
	if cost := bytes + 64; cost <= uintptr(s.left) {
		s.left -= int(cost)
		return true
	}
	s.left, s.cut = 0, true
	return false
}

func (s *state) pointer(p *plan, v unsafe.Pointer) error {
	old := load(v)
	if old == nil || p.elem.size == 0 {
		return nil
	}
	if s.track {
		if now := s.get(old, p.elem, 0); now != nil {
			store(v, now)
			return nil
		}
	}
	if s.snapshot && p.elem.shape == refused || !s.spend(p.elem.size) {
		return nil
	}
	now := p.elem.clone(old)
	if s.track {
		s.put(old, p.elem, 0, now)
	}
	store(v, now)
	if !p.elem.copied() {
		return nil
	}
	if err := s.enter(p); err != nil {
		return s.tooDeep(err)
	}
	var err error
	if p.elem.shape == structure {
		err = s.fields(p.elem, now)
	} else {
		err = s.fix(p.elem, now)
	}
	s.leave()
	return err
}

// tooDeep converts the error of enter.
func (s *state) tooDeep(err error) error {
	if s.snapshot {
		s.cut = true
		return nil
	}
	return err
}

func (s *state) slice(p *plan, v unsafe.Pointer) error {
	h := (*header)(v)
	if h.data == nil {
		return nil
	}
	old, n := h.data, h.len
	if s.track && n > 0 {
		if now := s.get(old, p, n); now != nil {
			h.data, h.cap = now, n
			return nil
		}
	}
	if !s.spend(uintptr(n) * p.elem.size) {
		return nil
	}
	p.cloneElems(h, &s.scratch)
	if s.track && n > 0 {
		s.put(old, p, n, h.data)
	}
	if !p.elem.copied() {
		return nil
	}
	if err := s.enter(p); err != nil {
		return s.tooDeep(err)
	}
	err := s.elems(p, h.data, n)
	s.leave()
	return err
}

// elems fixes n elements from v on.
func (s *state) elems(p *plan, v unsafe.Pointer, n int) error {
	for i := range n {
		if err := s.fix(p.elem, at(v, uintptr(i)*p.elem.size)); err != nil {
			return err.(*Error).under("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

func (s *state) mapping(p *plan, v unsafe.Pointer) error {
	old := load(v)
	if old == nil {
		return nil
	}
	if s.track {
		if now := s.get(old, p, 0); now != nil {
			store(v, now)
			return nil
		}
	}
	was := reflect.NewAt(p.typ, unsafe.Pointer(&old)).Elem()
	n := was.Len()
	if !s.spend(uintptr(n) * (p.key.size + p.elem.size)) {
		return nil
	}
	if p.quick != nil {
		p.quick(v)
		if s.track {
			s.put(old, p, 0, load(v))
		}
		return nil
	}
	now := reflect.MakeMapWithSize(p.typ, n)
	if s.track {
		s.put(old, p, 0, now.UnsafePointer())
	}
	store(v, now.UnsafePointer())
	if err := s.enter(p); err != nil {
		return s.tooDeep(err)
	}
	err := s.pairs(p, was, now)
	s.leave()
	return err
}

// pairs copies the contents of a map. A snapshot shares the keys.
func (s *state) pairs(p *plan, was, now reflect.Value) error {
	k, v := reflect.New(p.key.typ), reflect.New(p.elem.typ)
	key, value := k.Elem(), v.Elem()
	for i := was.MapRange(); i.Next(); {
		key.SetIterKey(i)
		value.SetIterValue(i)
		if p.key.copied() && !s.snapshot {
			if err := s.fix(p.key, k.UnsafePointer()); err != nil {
				return err.(*Error).under(keyText(key))
			}
		}
		if p.elem.copied() {
			if err := s.fix(p.elem, v.UnsafePointer()); err != nil {
				return err.(*Error).under(keyText(key))
			}
		}
		now.SetMapIndex(key, value)
	}
	return nil
}

// longestKey is the maximum number of bytes shown of a key in a path.
const longestKey = 40

// keyText formats a key of a map for a path.
func keyText(key reflect.Value) string {
	text := fmt.Sprintf("%v", key)
	if key.Kind() == reflect.String {
		text = strconv.Quote(key.String())
	}
	if len(text) > longestKey {
		text = text[:longestKey] + "…"
	}
	return "[" + text + "]"
}

// dynamicOf fixes the value, with plan p, in the interface at v, of type t.
func (s *state) dynamicOf(t reflect.Type, v unsafe.Pointer, p *plan) error {
	if !p.copied() {
		return nil
	}
	if !inPlace || !p.direct {
		if !s.spend(p.size) {
			return nil
		}
	}
	was := unpack(t, v, p)
	now := was
	if !inPlace || !p.direct {
		now = p.clone(was)
		if s.snapshot {
			s.put(was, p, 0, now)
		}
	}
	if err := s.enter(p); err != nil {
		return s.tooDeep(err)
	}
	err := s.fix(p, now)
	s.leave()
	if err == nil {
		repack(t, v, p, now)
	}
	return err
}
