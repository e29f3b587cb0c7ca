//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_box

package box

import (
	"reflect"
	"sync"
	"unsafe"
)

// A long slice and its head are one as the short ones are, in a type that is made when
// the first of its size comes: with as many slots as there is room for where Go puts a
// slice of that length, so that nothing is wasted but the head. Types stay for ever,
// with a bit for each of their words, so there is an end to them: Most.

// Most is how many slots, at most, are one with the head of their slice: those that a
// mebibyte has room for. Beyond, an allocation more is nothing beside theirs.
const Most = (mostBytes - head) / slotSize

const (
	mostBytes = 1 << 20
	slotSize  = int(unsafe.Sizeof(any(nil)))
	page      = 8 << 10  // of the runtime
	lastClass = 32 << 10 // up to here, in bytes, it has classes of sizes; beyond, whole pages
)

// size is of the slices of up to room slots.
type size struct {
	room int
	once sync.Once
	kind reflect.Type
}

var (
	sizes  []size
	sizeOf []uint8 // the place of a length in sizes, as far as there are classes
	pages  [mostBytes/page + 1]size
	setUp  sync.Once
)

// findSizes asks the runtime for its classes.
func findSizes() {
	const word = int(unsafe.Sizeof(unsafe.Pointer(nil)))
	for {
		words := (head + len(sizeOf)*slotSize) / word
		bytes := word * cap(append([]unsafe.Pointer(nil), make([]unsafe.Pointer, words)...))
		if bytes > lastClass {
			break
		}
		room := (bytes - head) / slotSize
		for len(sizeOf) <= room {
			sizeOf = append(sizeOf, uint8(len(sizes)))
		}
		sizes = append(sizes, size{room: room})
	}
	for i := range pages {
		pages[i].room = max(0, (i*page-head)/slotSize)
	}
}

// long returns n slots, of more than compound has types for and at most Most, and
// their head.
func long(n int) *[]any {
	setUp.Do(findSizes)
	var s *size
	if n < len(sizeOf) {
		s = &sizes[sizeOf[n]]
	} else {
		s = &pages[(head+n*slotSize+page-1)/page]
	}
	s.once.Do(func() {
		s.kind = reflect.StructOf([]reflect.StructField{
			{Name: "Head", Type: reflect.TypeFor[[]any]()},
			{Name: "Room", Type: reflect.ArrayOf(s.room, reflect.TypeFor[any]())},
		})
	})
	p := reflect.New(s.kind).UnsafePointer()
	*(*[]any)(p) = unsafe.Slice((*any)(unsafe.Add(p, head)), n)
	return (*[]any)(p)
}
