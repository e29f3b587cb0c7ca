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

// Data that several places of a message refer to (by a pointer, a map, a slice, a text) is written at the first place. The
// other places have its number, and the message is preceded by the offsets of all numbered data. This also detects cycles.

// worth is the minimum size in bytes of the elements of a slice, or of a text, that are written only once. The targets of
// pointers and maps always are.
const worth = 64

// MaxExpanded is the default of [Limits].Expanded and [Encoder].Expanded.
const MaxExpanded = 256 << 20

// mostExpanded returns the limit for a setting.
func mostExpanded(n int) int {
	if n <= 0 {
		return MaxExpanded
	}
	return n
}

// errDeep ends the first attempt to write a deeply nested message: see writing.message.
var errDeep = errors.New("pack: nested deeply")

// The nesting depth, of Go values and of terms, from which a message is written again while recording all references.
const (
	deepGo    = 100
	deepTerms = 1000
)

// seen records the objects that a message refers to, in the order of their occurrence.
type seen struct {
	all    []object
	index  []int32 // indices in all plus 1, by hash; empty while there are few
	shared []int32 // indices in all, by number
}

// object is data that a message refers to. The address keeps it alive.
type object struct {
	p      unsafe.Pointer
	typ    reflect.Type
	n      int   // elements or bytes; 0 for pointers and maps
	at     int   // the offset of its bytes
	size   int   // of its bytes, with references expanded
	number int32 // number among the referenced ones, from 1
	open   bool  // it is being written
}

// fewObjects is the maximum number of objects that are searched linearly.
const fewObjects = 8

func hashOf(p unsafe.Pointer) uint { return uint(uint64(uintptr(p)) * 0x9e3779b97f4a7c15 >> 32) }

// find returns the object at an address, or -1.
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

// keptObjects is the maximum number of objects for which memory is kept for later messages.
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

// message writes a top-level term.
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

// shareHead inserts the offsets of shared data before the message.
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

// offset returns the offset of the next byte in the message.
func (w *writing) offset() int { return len(w.dst) - w.base + w.cutBytes }

// enter must be called before the data at p is written, a value of type typ with n elements. If done is true, it was
// written before, and its number has been written now. Otherwise leave must be called with i after it has been written.
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
	most := mostExpanded(w.Expanded)
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

// moved records that the data written since there were n objects has moved by by bytes.
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

// bodyOf returns the address of a map's body: maps are references.
func bodyOf(m *wire.Map) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(m)) }

// isShared reports whether n bytes that a term refers to are written only once.
func (w *writing) isShared(n int) bool { return n >= worth && w.shares && (w.nested || w.inner > 0) }

// sharedData writes bytes that are shared within the message.
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

// pointed writes the target of v, a pointer to a value of a registered type.
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

// enterTerm is enter for a term with parts, of size bytes.
func (w *writing) enterTerm(p unsafe.Pointer, typ reflect.Type, n, size int) (i int, done bool, err error) {
	if n == 0 || !w.deep && !w.isShared(size) {
		return -1, false, nil
	}
	return w.enter(p, typ, n)
}

// enterField is enter for data that a field refers to. i is negative if that is not recorded.
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

// sliceHeader is Go's memory layout of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// refers reports whether values of the plan's type refer to data that others can refer to.
func (pl *plan) refers() bool {
	switch pl.op {
	case opString, opBytes, opSlice, opMap, opPointer:
		return true
	}
	return pl.op == opMethod && pl.typ.Kind() == reflect.Pointer
}

// several reports whether a value of a type can refer to the same data twice.
func (pl *plan) several() bool {
	s := counting{map[*plan]bool{}, map[reflect.Type]bool{}}
	return s.many(pl)
}

// meets reports whether a value of the plan's type can contain one of type typ.
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

// holds reports whether the values of a type refer to anything: two of several references can be the same.
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
