//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_box

package box

import "unsafe"

// Joined reports whether a binary, its slice header and its interface are one allocation, and a small integer is none.
const Joined = true

// An interface contains a pointer to its value, which Go allocates when the value is converted: a slice header of 24 bytes
// for each binary, and 8 bytes for each integer beyond a byte. This package allocates the slice header together with its
// bytes, or many values at a time, and makes interfaces that point to them. The value is written before its interface is
// made, and never again.

// iface is the runtime's memory layout of an interface value.
type iface struct{ kind, data unsafe.Pointer }

func kindOf(v any) unsafe.Pointer { return (*iface)(unsafe.Pointer(&v)).kind }

// TypeOf returns a number that is unique for the dynamic type of v: the address of its reflect.Type, or 0 if v is nil.
func TypeOf(v any) uintptr { return uintptr(kindOf(v)) }

var (
	kindBytes = kindOf([]byte{})
	kindInt   = kindOf(0)
)

// view returns the interface value with a kind and the value at data.
func view(kind, data unsafe.Pointer) (v any) {
	i := (*iface)(unsafe.Pointer(&v))
	i.kind, i.data = kind, data
	return v
}

// head is the size of a slice header in Go: pointer, length and capacity.
const head = int(unsafe.Sizeof([]byte{}))

// oneBytes is the maximum size of a binary that is allocated together with its slice header. Beyond it Go's size classes
// would waste memory, and another allocation costs little compared to the copy.
const oneBytes = 1024 - head

var noBytes any = []byte{}

// Bytes returns a copy of b, a []byte.
//
// The header and the bytes are one pointer-free allocation for the garbage collector, which does not move memory: a
// reference to one of them keeps both, so it need not scan either.
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

// whole turns m, pointer-free memory, into a slice header and its bytes, copied from b.
func whole(m, b []byte) any {
	p, n := unsafe.Pointer(&m[0]), uintptr(len(b))
	*(*[3]uintptr)(p) = [3]uintptr{uintptr(p) + uintptr(head), n, n}
	copy(m[head:], b)
	return view(kindBytes, p)
}

// Block is one allocation for several short binaries, each preceded by its slice header. A reference to one of them keeps
// the whole block in memory, so it is small: BlockSize.
type Block struct{ free []byte }

// The limits of a block: its bytes, and its binaries.
const (
	BlockSize = 1408
	BlockMost = 16
)

// SizeInBlock returns the number of bytes that a binary of n bytes takes in a block.
func SizeInBlock(n int) int { return (head + n + 7) &^ 7 }

// NewBlock returns a block for binaries that take bytes bytes in total.
func NewBlock(bytes int) Block { return Block{make([]byte, bytes)} }

// Add returns a copy of b, a []byte, like Bytes.
func (k *Block) Add(b []byte) any {
	size := SizeInBlock(len(b))
	m := k.free[:size]
	k.free = k.free[size:]
	return whole(m, b)
}
