package pack

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"unsafe"
)

// sharing has the numbered data of the message being read.
type sharing struct {
	base     int // of the offsets
	defs     []definition
	numbers  []int32 // indices in defs, by number
	expanded int     // bytes represented by references
	again    int     // bytes read again
	deep     int     // nesting depth of definitions being read again

	// The definition whose value is being read next, so that it is not mistaken for another one.
	now     int
	nowType reflect.Type
}

// definition is data that references refer to.
type definition struct {
	at     int // its offset
	size   int // of its bytes, with references expanded
	values []defined
}

// definitionSlots is the number of elements that a definition counts for, by its memory.
const definitionSlots = 4

// defined is a value read from a definition.
type defined struct {
	typ  reflect.Type // nil for a term with parts
	v    any
	open bool
}

// ErrShared means that the term is complete, but has invalid references to parts of itself, or is too large with references
// expanded. The [Decoder] can continue with the next term.
var ErrShared = errors.New("pack: a term with a wrong reference")

// wrong records the first invalid reference. Nothing is read in its place.
func (r *reading) wrong(at int, format string, args ...any) {
	if r.bad == nil {
		r.bad = r.failAt(at, ErrShared, format, args...)
	}
}

// sharedMark reads the offsets of a message with references, after its mark.
func (r *reading) sharedMark(at, n int) error {
	if at != 0 || n != 2 {
		return r.failAt(at, ErrMalformed, "the mark of a message with references in %d elements at offset %d, not in 2 at 0", n, at)
	}
	if r.pos >= len(r.b) {
		return r.cut(1, "the offsets of what is referred to")
	}
	tag := r.b[r.pos]
	if tag < tagBin8 || tag > tagBin32 {
		return r.failAt(r.pos, ErrMalformed, "expected the offsets of what is referred to, not a term that begins with 0x%02x", tag)
	}
	r.pos++
	size, err := r.length(tag-tagBin8, "the offsets of what is referred to")
	if err != nil {
		return err
	}
	if size%4 != 0 {
		return r.failAt(r.pos, ErrMalformed, "offsets of what is referred to of %d bytes", size)
	}
	r.pending--
	if err := r.slot(at, size/4*definitionSlots); err != nil {
		return err
	}
	s := &sharing{base: r.pos + size, defs: make([]definition, size/4), numbers: make([]int32, size/4), now: -1}
	for i := range s.defs {
		offset := min(uint64(binary.BigEndian.Uint32(r.b[r.pos:])), uint64(len(r.b))) // because an int may have 32 bits
		s.defs[i].at = s.base + int(offset)
		r.pos += 4
	}
	offsets := make([]int, len(s.defs))
	for i := range s.defs {
		offsets[i] = s.defs[i].at
	}
	slices.SortFunc(s.defs, func(a, b definition) int { return a.at - b.at })
	s.defs = slices.CompactFunc(s.defs, func(a, b definition) bool { return a.at == b.at })
	for i, at := range offsets {
		place, _ := s.find(at)
		s.numbers[i] = int32(place)
	}
	r.shared = s
	return nil
}

func (s *sharing) find(at int) (i int, found bool) {
	return slices.BinarySearchFunc(s.defs, at, func(d definition, at int) int { return d.at - at })
}

// begin records that a definition is being read as a value of a type.
func (s *sharing) begin(i int, typ reflect.Type) {
	d := &s.defs[i]
	d.values = append(d.values, defined{typ: typ, open: true})
	if d.size == 0 {
		d.size = -s.expanded - 1 // end adds the rest
	}
}

// end records the value read for a definition, which ends at offset at.
func (s *sharing) end(i int, typ reflect.Type, v any, at int) {
	d := &s.defs[i]
	for j := range d.values {
		if e := &d.values[j]; e.typ == typ && e.open {
			e.v, e.open = v, false
		}
	}
	if d.size < 0 {
		d.size += 1 + s.expanded + at - d.at
	}
}

// drop discards a definition that could not be read.
func (s *sharing) drop(i int, typ reflect.Type) {
	d := &s.defs[i]
	d.values = slices.DeleteFunc(d.values, func(e defined) bool { return e.typ == typ && e.open })
	if d.size < 0 {
		d.size = 0
	}
}

func (s *sharing) has(i int, typ reflect.Type) bool {
	return slices.ContainsFunc(s.defs[i].values, func(e defined) bool { return e.typ == typ })
}

// copy returns a copy of s, for back. It is a separate function so that only messages with references pay for it.
func (s *sharing) copy() *sharing {
	was := *s
	return &was
}

// back discards definitions of a value that could not be read, between two offsets; was is the earlier state.
func (s *sharing) back(was *sharing, from, to int) {
	s.expanded, s.deep, s.now, s.nowType = was.expanded, was.deep, was.now, was.nowType
	for i, _ := s.find(from); i < len(s.defs) && s.defs[i].at <= to; i++ {
		d := &s.defs[i]
		d.values = slices.DeleteFunc(d.values, func(e defined) bool { return e.open })
		d.size = max(d.size, 0)
	}
}

// sharedPointer reads a pointer to a value of the plan's type in a message with references.
func (r *reading) sharedPointer(at int, pl *plan) (v any, ok bool, err error) {
	s, typ := r.shared, reflect.PointerTo(pl.typ)
	if r.pos < len(r.b) && isReference(r.b[r.pos:]) {
		r.pending--
		from := r.pos
		v, ok, err := r.referred(typ, func(to unsafe.Pointer) error {
			p := reflect.New(pl.typ)
			*(*unsafe.Pointer)(to) = p.UnsafePointer()
			return r.getSafely(pl, p.UnsafePointer())
		})
		if err == errMismatch {
			r.pos = from
			r.pending++
			return nil, false, nil
		}
		return v, ok || r.bad != nil, err
	}
	i, defines := s.isDefined(r.pos, typ)
	if defines {
		s.begin(i, typ)
	}
	p := reflect.New(pl.typ)
	if ok, err = r.typed(at, pl, p.UnsafePointer()); ok {
		v = p.Interface()
	}
	switch {
	case defines && ok:
		s.end(i, typ, v, r.pos)
	case defines:
		s.drop(i, typ)
	}
	return v, ok, err
}

// isDefined reports whether the data at offset at is a definition that must be recorded as a value of a type.
func (s *sharing) isDefined(at int, typ reflect.Type) (i int, ok bool) {
	i, ok = s.find(at)
	return i, ok && !s.has(i, typ)
}

// getShared reads a field that may be a reference or a definition. done reports whether it did.
func (r *reading) getShared(pl *plan, p unsafe.Pointer, depth int) (done bool, err error) {
	s := r.shared
	if !pl.refers() || s.now == r.pos && s.nowType == pl.typ {
		return false, nil
	}
	if isReference(r.b[r.pos:]) {
		v, ok, err := r.referred(pl.typ, func(to unsafe.Pointer) error { return r.get(pl, to, depth+1) })
		if ok && err == nil {
			reflect.NewAt(pl.typ, p).Elem().Set(reflect.ValueOf(v))
		}
		return true, err
	}
	i, ok := s.isDefined(r.pos, pl.typ)
	if !ok {
		return false, nil
	}
	return true, r.define(i, pl, p, depth)
}

// define reads a definition.
func (r *reading) define(i int, pl *plan, p unsafe.Pointer, depth int) error {
	s := r.shared
	s.begin(i, pl.typ)
	s.now, s.nowType = r.pos, pl.typ
	if err := r.get(pl, p, depth); err != nil {
		s.drop(i, pl.typ)
		return err
	}
	s.end(i, pl.typ, reflect.NewAt(pl.typ, p).Elem().Interface(), r.pos)
	return nil
}

func isReference(b []byte) bool {
	kind, ok := extKind(b)
	return ok && kind == extShared
}

// referred reads a reference to a value of type typ, or nil for a term with parts. If the definition has not been read as
// such a value, it calls read for that. ok is false if the reference is invalid.
func (r *reading) referred(typ reflect.Type, read func(to unsafe.Pointer) error) (v any, ok bool, err error) {
	at := r.pos
	_, n, err := r.anyExt("a reference")
	if err != nil {
		return nil, false, err
	}
	number := bigEndian(r.b[r.pos : r.pos+min(n, 8)])
	r.pos += n
	s := r.shared
	switch {
	case s == nil:
		r.wrong(at, "a reference in a message without any")
		return nil, false, nil
	case n > 8 || number >= uint64(len(s.numbers)):
		r.wrong(at, "the reference %d, of %d", number, len(s.numbers))
		return nil, false, nil
	}
	i := int(s.numbers[number])
	d := &s.defs[i]
	if d.at >= at {
		r.wrong(at, "a reference forward, to offset %d", d.at)
		return nil, false, nil
	}
	if typ == nil { // a term, whose kind is determined there
		switch tag := r.b[d.at]; {
		case tag >= tagBin8 && tag <= tagBin32:
			typ = bytesType
		case tag >= fixStr && tag < tagNil || tag >= tagStr8 && tag <= tagStr32:
			typ = stringType
		}
	}
	if slices.ContainsFunc(d.values, func(e defined) bool { return e.open }) {
		r.wrong(at, "a reference to what is around it, at offset %d", d.at)
		return nil, false, nil
	}
	has := func(e defined) bool { return e.typ == typ }
	j := slices.IndexFunc(d.values, has)
	if j < 0 {
		if err := r.readAgain(i, at, typ, read); err != nil || r.bad != nil {
			return nil, false, err
		}
		if j = slices.IndexFunc(d.values, has); j < 0 {
			r.wrong(at, "a reference to a value of another type, at offset %d", d.at)
			return nil, false, nil
		}
	}
	most := mostExpanded(r.d.Limits.Expanded)
	if s.expanded += max(d.size, 0); r.pos+s.expanded > most {
		r.wrong(at, "what it refers to several times makes it more than %d bytes, each time counted", most)
		return nil, false, nil
	}
	return d.values[j].v, true, nil
}

// Limits for data that is read again because it was first skipped or read as another type.
const (
	maxAgainDepth = 32
	maxAgain      = 16 // times the bytes of the message
	leastAgain    = 64 << 10
)

// readAgain reads a definition again as a value of another type. The reference to it is at offset at.
func (r *reading) readAgain(i, at int, typ reflect.Type, read func(to unsafe.Pointer) error) error {
	s := r.shared
	if s.deep == maxAgainDepth || s.again > maxAgain*len(r.b)+leastAgain {
		r.wrong(at, "too much that is referred to has been left out, or is of other types")
		return nil
	}
	b, pos, pending, standalone := r.b, r.pos, r.pending, r.standalone
	now, nowType := s.now, s.nowType
	r.b, r.pos, r.pending, r.standalone = b[:at], s.defs[i].at, 0, true
	s.deep++
	var err error
	if read != nil {
		s.begin(i, typ)
		s.now, s.nowType = r.pos, typ
		to := reflect.New(typ)
		if err = read(to.UnsafePointer()); err == nil {
			s.end(i, typ, to.Elem().Interface(), r.pos)
		} else {
			s.drop(i, typ)
		}
	} else {
		var v any
		if v, err = r.all(); err == nil && typ == nil && !s.has(i, nil) { // a term without parts
			s.defs[i].values = append(s.defs[i].values, defined{v: v})
		}
	}
	s.again += r.pos - s.defs[i].at
	s.deep--
	s.now, s.nowType = now, nowType
	r.b, r.pos, r.pending, r.standalone = b, pos, pending, standalone
	if err != nil && err != errMismatch {
		r.wrong(at, "a reference to offset %d, where no such value is: %v", s.defs[i].at, err)
		err = nil
	}
	return err
}

// sharedTerm reads a reference that replaces a term.
func (r *reading) sharedTerm(at int) (any, error) {
	r.pos = at
	v, _, err := r.referred(nil, nil)
	return v, err
}

// opens records that a term with parts, at offset at, is being read.
func (r *reading) opens(at int, l *level) {
	if i, ok := r.shared.isDefined(at, nil); ok {
		r.shared.begin(i, nil)
		l.def = int32(i + 1)
	}
}

// whole records a term without parts.
func (r *reading) whole(at int, v any) {
	var typ reflect.Type
	switch v.(type) {
	case []byte:
		typ = bytesType
	case string:
		typ = stringType
	default:
		return
	}
	if isReference(r.b[at:]) {
		return
	}
	if i, ok := r.shared.isDefined(at, typ); ok {
		r.shared.begin(i, typ)
		r.shared.end(i, typ, v, r.pos)
	}
}
