//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_box

package box

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Most integers in messages are small. A static table has a place for each of them: pointing to it is free, and the garbage
// collector does not scan it. The table is filled, and takes memory, only up to the largest number needed so far.
const (
	least = -512
	most  = 1<<16 - 1
)

var (
	small  [most - least + 1]int
	filled atomic.Uint32 // number of filled places of small
	fills  sync.Mutex
)

// fill writes small beyond place i.
func fill(i uint) {
	fills.Lock()
	defer fills.Unlock()
	const page = 512 // integers: 4 KiB
	end := min((i/page+1)*page, uint(len(small)))
	for j := uint(filled.Load()); j < end; j++ {
		small[j] = int(j) + least
	}
	filled.Store(uint32(max(end, uint(filled.Load()))))
}

// point makes small[i], which is filled, the value of a slot, which is nil; table is the address of small. It stores
// without a write barrier, which takes time while the garbage collector runs. The collector need not know of the old value,
// which is nil, or of the new one, which is not in the heap.
func point(slot *any, kind, table uintptr, i uint) {
	w := (*[2]uintptr)(unsafe.Pointer(slot))
	w[0], w[1] = kind, table+uintptr(i)*unsafe.Sizeof(small[0])
}

// places returns the arguments kind and table of point.
func places() (kind, table uintptr) { return uintptr(kindInt), uintptr(unsafe.Pointer(&small)) }

// FillBytes fills slots, which are nil, with the bytes of b as integers. Both have the same length.
func FillBytes(slots []any, b []byte) {
	const end = 256 - least
	if filled.Load() < end {
		fill(end - 1)
	}
	kind, table := places()
	slots = slots[:len(b)]
	for i, c := range b {
		point(&slots[i], kind, table, uint(int(c)-least))
	}
}

// maxInts is the maximum number of integers that are allocated together: a reference to one of them keeps them all in
// memory.
const maxInts = 128

// Ints makes integers. It allocates several at a time of those that are not small. The zero value is ready to use.
type Ints struct{ free []int }

// Put puts n into a slot that is nil. If it must allocate, it allocates for expected integers, including this one, up to
// 128: a reference to one of them keeps the memory of all.
func (x *Ints) Put(slot *any, n, expected int) {
	if i := uint(n - least); i < uint(len(small)) {
		if i >= uint(filled.Load()) {
			fill(i)
		}
		*slot = view(kindInt, unsafe.Pointer(&small[i]))
		return
	}
	if len(x.free) == 0 {
		x.free = make([]int, max(1, min(expected, maxInts)))
	}
	x.free[0] = n
	*slot = view(kindInt, unsafe.Pointer(&x.free[0]))
	x.free = x.free[1:]
}

// tagged is an integer after a tag, highest byte first.
type tagged [1 + 4]byte

func (t *tagged) int() int { return int(int32(binary.BigEndian.Uint32(t[1:]))) }

// Run fills slots, which are nil, with the integers at the beginning of b, each the byte tag followed by four bytes,
// highest first. It returns their number. It allocates for at most expected integers.
func (x *Ints) Run(slots []any, b []byte, tag byte, expected int) (n int) {
	in := unsafe.Slice((*tagged)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/len(tagged{}))
	in = in[:min(len(in), len(slots))]
	for n < len(in) && in[n][0] == tag {
		more := runSmall(slots[n:], in[n:], tag)
		if more == 0 {
			more = x.runLarge(slots[n:], in[n:], tag, expected-n)
		}
		n += more
	}
	return n
}

// runSmall is Run while the integers are small and filled.
func runSmall(slots []any, in []tagged, tag byte) int {
	slots = slots[:len(in)]
	kind, table := places()
	filled := uint(filled.Load())
	for i := range in {
		v := uint(in[i].int() - least)
		if v >= filled || in[i][0] != tag {
			return i
		}
		point(&slots[i], kind, table, v)
	}
	return len(in)
}

// runLarge is Run for at least one integer, and while they are large and x has free places.
func (x *Ints) runLarge(slots []any, in []tagged, tag byte, expected int) int {
	x.Put(&slots[0], in[0].int(), expected)
	in = in[1:min(len(in), 1+len(x.free))]
	slots, free := slots[1:][:len(in)], x.free[:len(in)]
	n := 0
	for ; n < len(in); n++ {
		v := in[n].int()
		if least <= v && v <= most || in[n][0] != tag {
			break
		}
		free[n] = v
		slots[n] = view(kindInt, unsafe.Pointer(&free[n]))
	}
	x.free = x.free[n:]
	return 1 + n
}
