//go:build !actornode_portable && !actornode_no_words

package deepcopy

import (
	"reflect"
	"unsafe"
)

// An interface is two words: what says the type, and a pointer, which is the value if that is one, else leads
// to it. Go allocates what it leads to once and never writes there again. Reflect shows neither, and so
// allocates twice where one copy would do. This file reads and writes the words.

// inPlace reports whether unpack shows the memory of the value itself.
const inPlace = true

// words is an interface as Go lays it out.
type words struct{ typ, data unsafe.Pointer }

// isDirect reports whether an interface has a value of the type in the place of a pointer to one.
func isDirect(t reflect.Type) bool {
	v := reflect.Zero(t).Interface()
	return (*words)(unsafe.Pointer(&v)).data == nil
}

// unpack returns where the value is that is in the interface at p; of is the value's plan.
func unpack(_ reflect.Type, p unsafe.Pointer, of *plan) unsafe.Pointer {
	i := (*words)(p)
	if of.direct {
		return unsafe.Pointer(&i.data)
	}
	return i.data
}

// repack puts the value at now, which nobody writes any more, into the interface at p in the place of another of
// the same type.
func repack(_ reflect.Type, p unsafe.Pointer, of *plan, now unsafe.Pointer) {
	if !of.direct {
		(*words)(p).data = now
	}
}

// cloneValue is clone where there are pointers. Reflect copies a value when it is put into an interface. reflect.NewAt
// would look up the type of the pointer each time.
func cloneValue(p *plan, old unsafe.Pointer) unsafe.Pointer {
	at := p.null
	if at == nil {
		return cloneNew(p.typ, old)
	}
	(*words)(unsafe.Pointer(&at)).data = old
	v := reflect.ValueOf(at).Elem().Interface()
	return (*words)(unsafe.Pointer(&v)).data
}
