//go:build go1.27 || actornode_portable || actornode_no_words

package deepcopy

import (
	"reflect"
	"unsafe"
)

const inPlace = false

func isDirect(reflect.Type) bool { return false }

func unpack(t reflect.Type, p unsafe.Pointer, of *plan) unsafe.Pointer {
	now := reflect.New(of.typ)
	now.Elem().Set(reflect.NewAt(t, p).Elem().Elem())
	return now.UnsafePointer()
}

func repack(t reflect.Type, p unsafe.Pointer, of *plan, now unsafe.Pointer) {
	reflect.NewAt(t, p).Elem().Set(reflect.NewAt(of.typ, now).Elem())
}

func cloneValue(p *plan, old unsafe.Pointer) unsafe.Pointer { return cloneNew(p.typ, old) }
