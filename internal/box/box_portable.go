//go:build !linux || !amd64 || race || actornode_portable || actornode_no_box

package box

import "encoding/binary"

// Joined says that an interface and the value in it are one allocation.
const Joined = false

// Most is how many slots, at most, are made together with their interface: none here.
const Most = 0

// Tuple returns n slots, to be filled, and nil: the caller makes a wire.Tuple of them.
func Tuple(n int) (slots []any, v any) { return make([]any, n), nil }

// List is Tuple for a wire.List.
func List(n int) (slots []any, v any) { return make([]any, n), nil }

// Bytes returns a copy of b, a []byte.
func Bytes(b []byte) any { return append(make([]byte, 0, len(b)), b...) }

// Block stands for memory for several short binaries. Here each has its own.
type Block struct{}

// A block has so many bytes, and binaries, at most.
const (
	BlockSize = 1408
	BlockMost = 16
)

// RoomFor returns how many bytes of a block a binary of n bytes takes.
func RoomFor(n int) int { return n }

// NewBlock returns a block for binaries that take so many bytes of it.
func NewBlock(int) Block { return Block{} }

// Add returns a copy of b, a []byte, as Bytes does.
func (*Block) Add(b []byte) any { return Bytes(b) }

// Octets fills slots, which are nil, with the bytes of b, which are as many.
func Octets(slots []any, b []byte) {
	for i, c := range b {
		slots[i] = int(c)
	}
}

// Ints makes integers. Its zero value is ready to use.
type Ints struct{}

// Put puts n into a slot that is nil.
func (*Ints) Put(slot *any, n, _ int) { *slot = n }

// Run fills slots, which are nil, with the integers that b begins with, each four
// bytes, the highest first, behind a byte that is tag. It returns how many they are.
func (*Ints) Run(slots []any, b []byte, tag byte, _ int) (n int) {
	for ; n < len(slots) && len(b) >= 5 && b[0] == tag; n, b = n+1, b[5:] {
		slots[n] = int(int32(binary.BigEndian.Uint32(b[1:])))
	}
	return n
}
