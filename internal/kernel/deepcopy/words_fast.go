//go:build !go1.27 && !actornode_portable && !actornode_no_words

package deepcopy

import (
	"reflect"
	"unsafe"
)

// An interface is two words: the type, and a pointer, which is the value if that is a pointer, otherwise its address. Go
// allocates the value once and never writes to it again. Reflection exposes neither word, and so allocates twice where one
// copy would do. This file reads and writes the words.

// inPlace reports whether unpack returns the memory of the value itself.
const inPlace = true

// words is the memory layout of an interface in Go.
type words struct{ typ, data unsafe.Pointer }

// isDirect reports whether an interface stores a value of the type directly, instead of a pointer to it.
func isDirect(t reflect.Type) bool {
	v := reflect.Zero(t).Interface()
	return (*words)(unsafe.Pointer(&v)).data == nil
}

// unpack returns the address of the value in the interface at p; of is the value's plan.
func unpack(_ reflect.Type, p unsafe.Pointer, of *plan) unsafe.Pointer {
	i := (*words)(p)
	if of.direct {
		return unsafe.Pointer(&i.data)
	}
	return i.data
}

// repack replaces the value in the interface at p by the one at now, of the same type, which is not written any more.
func repack(_ reflect.Type, p unsafe.Pointer, of *plan, now unsafe.Pointer) {
	if !of.direct {
		(*words)(p).data = now
	}
}

// cloneValue is clone for memory with pointers. Reflection copies a value when it is put into an interface. reflect.NewAt
// would look up the pointer's type each time.
func cloneValue(p *plan, old unsafe.Pointer) unsafe.Pointer {
	at := p.null
	if at == nil {
		return cloneNew(p.typ, old)
	}
	(*words)(unsafe.Pointer(&at)).data = old
	v := reflect.ValueOf(at).Elem().Interface()
	return (*words)(unsafe.Pointer(&v)).data
}
