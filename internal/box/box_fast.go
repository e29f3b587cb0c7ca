//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_box

package box

import (
	"unsafe"

	"github.com/actornode/actornode/wire"
)

// Joined says that an interface and the value in it are one allocation.
const Joined = true

// An interface holds a pointer to its value, which Go allocates when the value is
// put into it: a slice header of 24 bytes for each tuple, list and binary, and 8
// bytes for each integer beyond a byte. A decoder makes the values together with
// what they are for, or many at a time, and interfaces that point to them. What
// such an interface points to is written before, and never again.

// iface is an interface value as the runtime lays it out.
type iface struct{ kind, data unsafe.Pointer }

func kindOf(v any) unsafe.Pointer { return (*iface)(unsafe.Pointer(&v)).kind }

var (
	kindTuple = kindOf(wire.Tuple{})
	kindList  = kindOf(wire.List{})
	kindBytes = kindOf([]byte{})
	kindInt   = kindOf(0)
)

// view returns the interface of a kind whose value is at data.
func view(kind, data unsafe.Pointer) (v any) {
	i := (*iface)(unsafe.Pointer(&v))
	i.kind, i.data = kind, data
	return v
}

// slots is a slice and its elements in one.
type slots[A any] struct {
	head []any
	room A
}

// Tuple returns n slots, to be filled, and the wire.Tuple that they are; nil for none,
// and for more than [Most].
func Tuple(n int) (slots []any, v any) { return compound(kindTuple, n) }

// List is Tuple for a wire.List.
func List(n int) (slots []any, v any) { return compound(kindList, n) }

func compound(kind unsafe.Pointer, n int) (s []any, v any) {
	var head *[]any
	switch {
	case n == 1:
		m := new(slots[[1]any])
		head, m.head = &m.head, m.room[:]
	case n == 2:
		m := new(slots[[2]any])
		head, m.head = &m.head, m.room[:]
	case n == 3:
		m := new(slots[[3]any])
		head, m.head = &m.head, m.room[:]
	case n == 4:
		m := new(slots[[4]any])
		head, m.head = &m.head, m.room[:]
	case n == 5:
		m := new(slots[[5]any])
		head, m.head = &m.head, m.room[:]
	case n == 6:
		m := new(slots[[6]any])
		head, m.head = &m.head, m.room[:]
	case 7 <= n && n <= 8:
		m := new(slots[[8]any])
		head, m.head = &m.head, m.room[:n:n]
	case 9 <= n && n <= 12:
		m := new(slots[[12]any])
		head, m.head = &m.head, m.room[:n:n]
	case 13 <= n && n <= 16:
		m := new(slots[[16]any])
		head, m.head = &m.head, m.room[:n:n]
	case 16 < n && n <= Most:
		head = long(n)
	default:
		return make([]any, n), nil
	}
	return *head, view(kind, unsafe.Pointer(head))
}

// head is the size of a slice as Go has it: where it is, its length, its room.
const head = int(unsafe.Sizeof([]byte{}))

// oneBytes is the longest binary, in bytes, that is one with its slice. Beyond, room
// that Go rounds up would be wasted, and an allocation more is little beside the copy.
const oneBytes = 1024 - head

var noBytes any = []byte{}

// Bytes returns a copy of b, a []byte.
//
// The pointer in the slice points to where the slice itself is, so that whoever has
// the one has the other, and the collector of garbage, which moves nothing, need not
// look at either: to it, this is memory without pointers.
func Bytes(b []byte) any {
	n := len(b)
	if n == 0 {
		return noBytes
	}
	if n > oneBytes {
		return append(make([]byte, 0, n), b...)
	}
	return whole(make([]byte, head+n), b)
}

// whole makes of m, memory without pointers, a slice and its bytes, which are those of b.
func whole(m, b []byte) any {
	p, n := unsafe.Pointer(&m[0]), uintptr(len(b))
	*(*[3]uintptr)(p) = [3]uintptr{uintptr(p) + uintptr(head), n, n}
	copy(m[head:], b)
	return view(kindBytes, p)
}

// Block is memory for several short binaries, each with its slice before it: for a
// decoder that has many at a time, at the cost of one allocation for all of them. Who
// keeps one of them keeps the block, so it is small: BlockSize.
type Block struct{ room []byte }

// A block has so many bytes, and binaries, at most.
const (
	BlockSize = 1408
	BlockMost = 16
)

// RoomFor returns how many bytes of a block a binary of n bytes takes.
func RoomFor(n int) int { return (head + n + 7) &^ 7 }

// NewBlock returns a block for binaries that take so many bytes of it.
func NewBlock(bytes int) Block { return Block{make([]byte, bytes)} }

// Add returns a copy of b, a []byte, as Bytes does.
func (k *Block) Add(b []byte) any {
	size := RoomFor(len(b))
	m := k.room[:size]
	k.room = k.room[size:]
	return whole(m, b)
}
