//go:build !linux || !amd64 || go1.27 || actornode_portable || actornode_no_box

package box

import (
	"encoding/binary"
	"reflect"
)

// Joined reports whether a binary, its slice header and its interface are one allocation, and a small integer is none.
const Joined = false

// TypeOf returns a number that is unique for the dynamic type of v: the address of its reflect.Type, or 0 if v is nil.
func TypeOf(v any) uintptr {
	if v == nil {
		return 0
	}
	return reflect.ValueOf(reflect.TypeOf(v)).Pointer()
}

// Bytes returns a copy of b, a []byte.
func Bytes(b []byte) any { return append(make([]byte, 0, len(b)), b...) }

// Block does nothing here: each binary has its own allocation.
type Block struct{}

// The limits of a block: its bytes, and its binaries.
const (
	BlockSize = 1408
	BlockMost = 16
)

// SizeInBlock returns the number of bytes that a binary of n bytes takes in a block.
func SizeInBlock(n int) int { return n }

// NewBlock returns a block for binaries that take this many bytes of it in all.
func NewBlock(int) Block { return Block{} }

// Add returns a copy of b, a []byte, like Bytes.
func (*Block) Add(b []byte) any { return Bytes(b) }

// FillBytes fills slots, which are nil, with the bytes of b as integers. Both have the same length.
func FillBytes(slots []any, b []byte) {
	for i, c := range b {
		slots[i] = int(c)
	}
}

// Ints makes integers. The zero value is ready to use.
type Ints struct{}

// Put puts n into a slot that is nil.
func (*Ints) Put(slot *any, n, _ int) { *slot = n }

// Run fills slots, which are nil, with the integers at the beginning of b, each the byte tag followed by four bytes,
// highest first. It returns their number.
func (*Ints) Run(slots []any, b []byte, tag byte, _ int) (n int) {
	for ; n < len(slots) && len(b) >= 5 && b[0] == tag; n, b = n+1, b[5:] {
		slots[n] = int(int32(binary.BigEndian.Uint32(b[1:])))
	}
	return n
}
