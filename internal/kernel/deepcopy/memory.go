package deepcopy

import (
	"reflect"
	"unsafe"
)

// header is the memory layout of a slice in Go.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// clone returns a copy of the memory of a value, including its references.
func (p *plan) clone(old unsafe.Pointer) unsafe.Pointer {
	if p.flat {
		return cloneFlat(old, p.size)
	}
	return cloneValue(p, old)
}

// cloneFlat is clone for memory without pointers.
func cloneFlat(old unsafe.Pointer, size uintptr) unsafe.Pointer {
	words := make([]uint64, (size+7)/8)
	now := unsafe.Pointer(unsafe.SliceData(words))
	copy(unsafe.Slice((*byte)(now), size), unsafe.Slice((*byte)(old), size))
	return now
}

// cloneNew is clone by reflection.
func cloneNew(t reflect.Type, old unsafe.Pointer) unsafe.Pointer {
	now := reflect.New(t)
	now.Elem().Set(reflect.NewAt(t, old).Elem())
	return now.UnsafePointer()
}

// cloneElems gives the slice at h, of the type of p, memory of its own. scratch is temporary space.
func (p *plan) cloneElems(h, scratch *header) {
	n, old, size := h.len, h.data, p.elem.size
	switch {
	case n == 0 || size == 0:
		h.data, h.cap = unsafe.Pointer(&empty), n
	case p.elem.flat && size%8 == 0:
		words := append([]uint64(nil), unsafe.Slice((*uint64)(old), uintptr(n)*size/8)...)
		h.data, h.cap = unsafe.Pointer(unsafe.SliceData(words)), n
	case p.elem.flat && size == 1:
		bytes := append([]byte(nil), unsafe.Slice((*byte)(old), n)...)
		h.data, h.cap = unsafe.Pointer(unsafe.SliceData(bytes)), n
	case p.elem.flat:
		h.data, h.cap = cloneFlat(old, uintptr(n)*size), n
	case p.elem.typ.Kind() == reflect.String:
		texts := append([]string(nil), unsafe.Slice((*string)(old), n)...)
		h.data, h.cap = unsafe.Pointer(unsafe.SliceData(texts)), n
	default:
		*scratch, *h = *h, header{}
		now := reflect.NewAt(p.typ, unsafe.Pointer(h)).Elem()
		now.Grow(n)
		now.SetLen(n)
		now.SetCap(n)
		reflect.Copy(now, reflect.NewAt(p.typ, unsafe.Pointer(scratch)).Elem())
		*scratch = header{}
	}
}

// empty is the memory of empty slices.
var empty [0]uint64

// at returns the memory at an offset.
func at(p unsafe.Pointer, offset uintptr) unsafe.Pointer { return unsafe.Add(p, offset) }

// load and store access memory that holds a pointer.
func load(p unsafe.Pointer) unsafe.Pointer { return *(*unsafe.Pointer)(p) }

func store(p, v unsafe.Pointer) { *(*unsafe.Pointer)(p) = v }
