package pack

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/actornode/actornode/wire"
)

// What several places of one message refer to (a pointer, a map, the elements of a slice, a text) is
// written in the first of them. In the others stands its number, and before the message the offsets of
// all that has one. What refers to itself is found so, too.

// worth is from how many bytes on the elements of a slice, or a text, are written once. Pointers and
// maps always are.
const worth = 64

// MaxExpanded is the default of [Limits].Expanded and [Encoder].Expanded.
const MaxExpanded = 256 << 20

// errDeep ends the first attempt to write what is deep: see writing.message.
var errDeep = errors.New("pack: nested deeply")

// From how deep on a message is written once more with an eye on all that it refers to: levels of Go
// values, levels of terms.
const (
	deepGo    = 100
	deepTerms = 1000
)

// seen is what a message that is being written refers to, in the order in which it was met.
type seen struct {
	all    []object
	index  []int32 // places in all, and 1, by hash; empty while there are few
	shared []int32 // places in all, by number
}

// object is something that a message refers to. Its address keeps it where it is.
type object struct {
	p      unsafe.Pointer
	typ    reflect.Type
	n      int   // elements, or bytes; of pointers and maps 0
	at     int   // the offset of its bytes
	size   int   // of its bytes, with what the references in them stand for
	number int32 // of those that are referred to, from 1
	open   bool  // not all of it has been written
}

// fewObjects is up to how many are searched one by one.
const fewObjects = 8

func hashOf(p unsafe.Pointer) uint { return uint(uint64(uintptr(p)) * 0x9e3779b97f4a7c15 >> 32) }

// find returns the object of an address, -1 where there is none yet.
func (s *seen) find(p unsafe.Pointer, typ reflect.Type, n int) int {
	if len(s.index) == 0 {
		for i := range s.all {
			if o := &s.all[i]; o.p == p && o.n == n && o.typ == typ {
				return i
			}
		}
		return -1
	}
	mask := uint(len(s.index) - 1)
	for at := hashOf(p) & mask; s.index[at] != 0; at = (at + 1) & mask {
		if o := &s.all[s.index[at]-1]; o.p == p && o.n == n && o.typ == typ {
			return int(s.index[at] - 1)
		}
	}
	return -1
}

func (s *seen) add(o object) int {
	s.all = append(s.all, o)
	if len(s.all) <= fewObjects {
		return len(s.all) - 1
	}
	if 2*len(s.all) > len(s.index) {
		size := max(8*fewObjects, 2*len(s.index))
		if size <= cap(s.index) {
			s.index = s.index[:size]
			clear(s.index)
		} else {
			s.index = make([]int32, size)
		}
		for i := range s.all[:len(s.all)-1] {
			s.enter(i)
		}
	}
	s.enter(len(s.all) - 1)
	return len(s.all) - 1
}

func (s *seen) enter(i int) {
	mask := uint(len(s.index) - 1)
	at := hashOf(s.all[i].p) & mask
	for s.index[at] != 0 {
		at = (at + 1) & mask
	}
	s.index[at] = int32(i + 1)
}

// keptObjects is for how many of them memory is kept for later messages.
const keptObjects = 1 << 12

func (s *seen) reset() {
	if cap(s.all) > keptObjects {
		*s = seen{}
		return
	}
	clear(s.all)
	s.all, s.index, s.shared = s.all[:0], s.index[:0], s.shared[:0]
}

var seens = sync.Pool{New: func() any { return new(seen) }}

// message writes a term that nothing is around.
func (w *writing) message(t any) error {
	w.base, w.nests, w.shares = len(w.dst), deepGo, w.isExact()
	err := w.all(t)
	if err != nil && errors.Is(err, errDeep) {
		w.nested = false
		w.dst, w.cuts, w.flat = w.dst[:w.base], w.cuts[:0], w.flat[:0]
		w.cutBytes, w.expanded = 0, 0
		if w.seen != nil {
			w.seen.reset()
		}
		w.deep, w.nests = true, maxGoDepth
		err = w.all(t)
	}
	if w.seen == nil {
		return err
	}
	if err == nil && len(w.seen.shared) > 0 {
		w.shareHead()
	}
	w.seen.reset()
	seens.Put(w.seen)
	return err
}

// shareHead puts the offsets of what is referred to before the message.
func (w *writing) shareHead() {
	n := 4 * len(w.seen.shared)
	head := appendBin([]byte{fixArray | 3, tagFixExt1, extMark, markShared}, n)
	for _, i := range w.seen.shared {
		head = binary.BigEndian.AppendUint32(head, uint32(w.seen.all[i].at))
	}
	w.dst = slices.Insert(w.dst, w.base, head...)
	for i := range w.cuts {
		w.cuts[i].at += len(head)
	}
}

// offset is where in the message the next byte is.
func (w *writing) offset() int { return len(w.dst) - w.base + w.cutBytes }

// enter is called before what p is the address of is written, a value of a type with n elements. done:
// it was written before, and now its number. Else leave must be called with i when it has been written.
func (w *writing) enter(p unsafe.Pointer, typ reflect.Type, n int) (i int, done bool, err error) {
	if w.seen == nil {
		w.seen = seens.Get().(*seen)
	}
	i = w.seen.find(p, typ, n)
	if i < 0 {
		return w.seen.add(object{p: p, typ: typ, n: n, at: w.offset(), size: w.expanded, open: true}), false, nil
	}
	o := &w.seen.all[i]
	switch {
	case o.open:
		return 0, false, faults.New(ErrNoTerm, "a cycle: this %s refers to itself", nounOf(typ))
	case !w.shares || uint64(o.at) > math.MaxUint32:
		o.open = true
		return i, false, nil
	}
	if o.number == 0 {
		w.seen.shared = append(w.seen.shared, int32(i))
		o.number = int32(len(w.seen.shared))
	}
	most := w.Expanded
	if most <= 0 {
		most = MaxExpanded
	}
	if w.expanded += o.size; w.offset()+w.expanded > most {
		return 0, false, faults.New(ErrLimit, "what the message refers to several times makes it %d bytes, each time counted, "+
			"and more; at most %d are allowed", w.offset()+w.expanded, most)
	}
	switch number := uint32(o.number - 1); {
	case number <= math.MaxUint8:
		w.dst = append(w.dst, tagFixExt1, extShared, byte(number))
	case number <= math.MaxUint16:
		w.dst = append(w.dst, tagFixExt2, extShared, byte(number>>8), byte(number))
	default:
		w.dst = binary.BigEndian.AppendUint32(append(w.dst, tagFixExt4, extShared), number)
	}
	return 0, true, nil
}

func (w *writing) leave(i int) {
	o := &w.seen.all[i]
	o.open = false
	o.size = w.offset() - o.at + w.expanded - o.size
}

// moved is told that what has been written since there were n objects has moved by so many bytes.
func (w *writing) moved(n, by int) {
	if w.seen == nil || by == 0 {
		return
	}
	for i := n; i < len(w.seen.all); i++ {
		w.seen.all[i].at -= by
	}
}

func (w *writing) objects() int {
	if w.seen == nil {
		return 0
	}
	return len(w.seen.all)
}

func nounOf(typ reflect.Type) string {
	switch typ {
	case tupleType:
		return "tuple"
	case listType:
		return "list"
	case mapType:
		return "map"
	}
	return typ.String()
}

var (
	tupleType  = reflect.TypeFor[wire.Tuple]()
	listType   = reflect.TypeFor[wire.List]()
	mapType    = reflect.TypeFor[wire.Map]()
	bytesType  = reflect.TypeFor[[]byte]()
	stringType = reflect.TypeFor[string]()
)

// bodyOf is the address of a map's pairs: maps are references.
func bodyOf(m *wire.Map) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(m)) }

// isShared reports whether n bytes that a term refers to are written once.
func (w *writing) isShared(n int) bool { return n >= worth && w.shares && (w.nested || w.inner > 0) }

// sharedData writes bytes that are written once.
func (w *writing) sharedData(typ reflect.Type, b []byte) error {
	i, done, err := w.enter(unsafe.Pointer(unsafe.SliceData(b)), typ, len(b))
	if done || err != nil {
		return err
	}
	if err = w.data(b); err == nil {
		w.leave(i)
	}
	return err
}

// sharedText is sharedData for a text.
func (w *writing) sharedText(typ reflect.Type, s string) error {
	i, done, err := w.enter(unsafe.Pointer(unsafe.StringData(s)), typ, len(s))
	if done || err != nil {
		return err
	}
	if err = w.text(s); err == nil {
		w.leave(i)
	}
	return err
}

// pointed writes what a pointer to a value of a registered type, v, points to.
func (w *writing) pointed(g *goType, v reflect.Value) error {
	pl := g.plan
	if !w.shares && !w.deep || pl.size == 0 || !g.within && !w.nested && w.inner == 0 {
		return w.value(pl, v.UnsafePointer())
	}
	i, done, err := w.enter(v.UnsafePointer(), v.Type(), 0)
	if done || err != nil {
		return err
	}
	if err = w.value(pl, v.UnsafePointer()); err == nil {
		w.leave(i)
	}
	return err
}

// of adds the name of a type to the path of an error in a value of it.
func (w *writing) of(g *goType, err error) error {
	switch {
	case err == nil:
		return nil
	case w.nested || w.inner > 0:
		return faults.Within("("+string(g.name)+")", err)
	}
	return faults.Within(string(g.name), err)
}

// enterTerm is enter for a term with parts, of so many bytes.
func (w *writing) enterTerm(p unsafe.Pointer, typ reflect.Type, n, size int) (i int, done bool, err error) {
	if n == 0 || !w.deep && !w.isShared(size) {
		return -1, false, nil
	}
	return w.enter(p, typ, n)
}

// enterField is enter for what a field refers to. i is below zero where that is not noted.
func (w *writing) enterField(pl *plan, p unsafe.Pointer) (i int, done bool, err error) {
	if !w.shares && !w.deep {
		return -1, false, nil
	}
	var n, size int
	var to unsafe.Pointer
	switch pl.op {
	case opSlice:
		s := (*sliceHeader)(p)
		to, n = s.data, s.len
		if size = n * int(pl.elem.size); w.deep && size > 0 {
			size = worth
		}
	case opMethod:
		if pl.typ.Kind() == reflect.Pointer {
			to, size = *(*unsafe.Pointer)(p), worth
		}
	case opPointer:
		if to = *(*unsafe.Pointer)(p); pl.elem.size > 0 {
			size = worth
		}
	case opMap:
		to, size = *(*unsafe.Pointer)(p), worth
	}
	if to == nil || size < worth {
		return -1, false, nil
	}
	return w.enter(to, pl.typ, n)
}

// sliceHeader is how Go lays out a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// refers reports whether values of the plan's type refer to something that others can refer to.
func (pl *plan) refers() bool {
	switch pl.op {
	case opString, opBytes, opSlice, opMap, opPointer:
		return true
	}
	return pl.op == opMethod && pl.typ.Kind() == reflect.Pointer
}

// several reports whether a value of a type can refer to the same thing twice.
func (pl *plan) several() bool {
	s := counting{map[*plan]bool{}, map[reflect.Type]bool{}}
	return s.many(pl)
}

// meets reports whether a value of the plan's type can hold one of another type.
func (pl *plan) meets(typ reflect.Type, seen map[*plan]bool) bool {
	switch pl.op {
	case opAny, opTerm, opReference, opError:
		return true
	}
	if pl.typ == typ {
		return true
	}
	if seen[pl] {
		return false
	}
	seen[pl] = true
	for i := range pl.fields {
		if pl.fields[i].plan.meets(typ, seen) {
			return true
		}
	}
	return pl.key != nil && pl.key.meets(typ, seen) || pl.elem != nil && pl.elem.meets(typ, seen)
}

type counting struct {
	open map[*plan]bool
	met  map[reflect.Type]bool
}

func (s *counting) many(pl *plan) bool {
	switch pl.op {
	case opAny, opTerm, opReference, opError:
		return true
	}
	if s.open[pl] || pl.refers() && s.met[pl.typ] {
		return true
	}
	s.open[pl] = true
	defer delete(s.open, pl)
	if pl.refers() {
		s.met[pl.typ] = true
	}
	for i := range pl.fields {
		if s.many(pl.fields[i].plan) {
			return true
		}
	}
	for _, part := range []*plan{pl.key, pl.elem} {
		if part == nil {
			continue
		}
		if s.many(part) || pl.op != opPointer && s.holds(part) {
			return true
		}
	}
	return false
}

// holds reports whether the values of a type refer to anything: of several, two can be the same.
func (s *counting) holds(pl *plan) bool {
	if pl.refers() {
		return true
	}
	for i := range pl.fields {
		if s.holds(pl.fields[i].plan) {
			return true
		}
	}
	return pl.op == opArray && s.holds(pl.elem)
}

// sharing is what a message that is being read has numbered.
type sharing struct {
	base     int // of the offsets
	defs     []definition
	numbers  []int32 // places in defs, by number
	expanded int     // bytes that references have stood for
	again    int     // bytes that have been read again
	deep     int     // definitions that are being read again, within each other

	// The definition whose value is being read next: not to be taken for another one.
	now     int
	nowType reflect.Type
}

// definition is something that references refer to.
type definition struct {
	at     int // its offset
	size   int // of its bytes, with what the references in them stand for
	values []defined
}

// defined is what has been read there.
type defined struct {
	typ  reflect.Type // nil: a term with parts
	v    any
	open bool
}

// ErrShared: the term is whole, but it refers to parts of itself that are not there, or in a way
// that makes it too large. The [Decoder] can go on with the next term.
var ErrShared = errors.New("pack: a term with a wrong reference")

// wrong keeps the first wrong reference. Where it stands, nothing is read.
func (r *reading) wrong(at int, format string, args ...any) {
	if r.bad == nil {
		r.bad = r.failAt(at, ErrShared, format, args...)
	}
}

// sharedMark reads what follows the mark of a message with references: the offsets.
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
	s := &sharing{base: r.pos + size, defs: make([]definition, size/4), numbers: make([]int32, size/4), now: -1}
	for i := range s.defs {
		s.defs[i].at = s.base + int(binary.BigEndian.Uint32(r.b[r.pos:]))
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

// begin notes that a definition is being read as a value of a type.
func (s *sharing) begin(i int, typ reflect.Type) {
	d := &s.defs[i]
	d.values = append(d.values, defined{typ: typ, open: true})
	if d.size == 0 {
		d.size = -s.expanded - 1 // and end adds
	}
}

// end notes what has been read, up to an offset.
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

// drop forgets what could not be read.
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

// copy is s as it is now, for back. It is apart so that only messages with references pay for it.
func (s *sharing) copy() *sharing {
	was := *s
	return &was
}

// back forgets what has been begun of a value that could not be read, between two offsets; was is how it was
// before.
func (s *sharing) back(was *sharing, from, to int) {
	s.expanded, s.deep, s.now, s.nowType = was.expanded, was.deep, was.now, was.nowType
	for i, _ := s.find(from); i < len(s.defs) && s.defs[i].at <= to; i++ {
		d := &s.defs[i]
		d.values = slices.DeleteFunc(d.values, func(e defined) bool { return e.open })
		d.size = max(d.size, 0)
	}
}

// sharedPointer reads a pointer to a value of a type where a message has references.
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

// isDefined reports whether what begins here is to be noted as a value of a type.
func (s *sharing) isDefined(at int, typ reflect.Type) (i int, ok bool) {
	if i, ok = s.find(at); ok {
		for _, e := range s.defs[i].values {
			if e.typ == typ {
				return 0, false
			}
		}
	}
	return i, ok
}

// getShared reads a field where a reference may stand, or what references refer to. done: it has.
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

// define reads what references refer to.
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

// referred reads a reference to a value of a type, nil for a term with parts. Where that place has not been
// read as such a value, read does so, to where it is told. Not ok: it is wrong.
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
	if typ == nil { // a term: what it is, is seen there
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
	most := r.d.Limits.Expanded
	if most <= 0 {
		most = MaxExpanded
	}
	if s.expanded += max(d.size, 0); r.pos+s.expanded > most {
		r.wrong(at, "what it refers to several times makes it more than %d bytes, each time counted", most)
		return nil, false, nil
	}
	return d.values[j].v, true, nil
}

// Limits of what is read again, because the first time it was skipped, or was of another type.
const (
	maxAgainDepth = 32
	maxAgain      = 16 // times the bytes of the message
	leastAgain    = 64 << 10
)

// readAgain reads a definition as a value of another type than it was read before. The reference to it
// begins at an offset.
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

// sharedTerm reads a reference in the place of a term.
func (r *reading) sharedTerm(at int) (any, error) {
	r.pos = at
	v, _, err := r.referred(nil, nil)
	return v, err
}

// opens notes that a term with parts is being read, which begins at an offset.
func (r *reading) opens(at int, l *level) {
	if i, ok := r.shared.isDefined(at, nil); ok {
		r.shared.begin(i, nil)
		l.def = int32(i + 1)
	}
}

// whole notes a term without parts.
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
