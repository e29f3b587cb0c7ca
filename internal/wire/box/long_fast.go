//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_box

package box

import (
	"reflect"
	"sync"
	"unsafe"
)

// A long slice and its header are one allocation, too, of a type that is made with the first slice of its size class. The
// type has as many slots as fit into the size class, so that only the header is wasted. Types are never freed, and take a
// bit for each of their words, so MaxJoined limits their number.

// MaxJoined is the maximum number of slots that are allocated together with their slice header: those that fit into a
// mebibyte. Beyond it the cost of another allocation is negligible.
const MaxJoined = (mostBytes - head) / slotSize

const (
	mostBytes = 1 << 20
	slotSize  = int(unsafe.Sizeof(any(nil)))
	page      = 8 << 10  // of the runtime
	lastClass = 32 << 10 // largest size class in bytes; beyond, whole pages
)

// size is a size class: slices of up to this many slots.
type size struct {
	slots int
	once  sync.Once
	kind  reflect.Type
}

var (
	sizes  []size
	sizeOf []uint8 // the place of a length in sizes, as far as there are classes
	pages  [mostBytes/page + 1]size
	setUp  sync.Once
)

// findSizes gets the runtime's size classes.
func findSizes() {
	const word = int(unsafe.Sizeof(unsafe.Pointer(nil)))
	for {
		words := (head + len(sizeOf)*slotSize) / word
		bytes := word * cap(append([]unsafe.Pointer(nil), make([]unsafe.Pointer, words)...))
		if bytes > lastClass {
			break
		}
		slots := (bytes - head) / slotSize
		for len(sizeOf) <= slots {
			sizeOf = append(sizeOf, uint8(len(sizes)))
		}
		sizes = append(sizes, size{slots: slots})
	}
	for i := range pages {
		pages[i].slots = max(0, (i*page-head)/slotSize)
	}
}

// long returns the header of n slots, more than compound has types for and at most MaxJoined.
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
			{Name: "Slots", Type: reflect.ArrayOf(s.slots, reflect.TypeFor[any]())},
		})
	})
	p := reflect.New(s.kind).UnsafePointer()
	*(*[]any)(p) = unsafe.Slice((*any)(unsafe.Add(p, head)), n)
	return (*[]any)(p)
}
