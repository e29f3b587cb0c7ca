package tables

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
)

// chunkLen is the number of slots allocated at a time.
const chunkLen = 1024

// segments is the maximum number of segments of a table, enough for 2^27 slots.
const segments = 18

// Table finds processes by number. A lookup takes no lock. A number is serial<<32 | slot; a slot's serial is incremented with
// each process, so no number repeats within 2^32 uses of a slot.
//
// Slots are in segments, each as long as all previous ones together. A segment is set once, before made includes its slots,
// and never moves: what a lookup reads before the process itself depends on the number only. P is the process.
type Table[P any] struct {
	_     [64]byte // each message reads what follows
	made  atomic.Uint32
	procs [segments][]atomic.Pointer[P]
	_     [64]byte

	serial [segments][]uint32 // of the next process in the slot; for the holder of the slot's number

	mu     sync.Mutex
	vacant []vacancy // by chunk
	listed uint32    // the first chunk, plus 1, in the list of those with vacant slots
	next   uint32    // first slot never assigned
	max    uint32
}

// place returns the segment of a slot, and its index there.
func place(slot uint32) (segment, at uint32) {
	k := uint32(bits.Len32(slot / chunkLen))
	return k, slot - first(k)
}

// first returns the first slot of a segment.
func first(segment uint32) uint32 { return chunkLen / 2 << segment &^ (chunkLen - 1) }

// vacancy is the set of vacant slots of a chunk: a bit each, because a list would grow to megabytes after the end of a
// million processes, on pages that are new to the machine. Guarded by Table.mu.
type vacancy struct {
	slots [chunkLen / 64]uint64
	n     uint32 // number of set bits; 0 if not in the list
	next  uint32 // in the list, like Table.listed
}

// slotBatch is the number of free slots that a cache takes or gives at once.
const slotBatch = 64

// Slots is a cache of free slots with one owner. Its zero value is empty.
type Slots struct{ free []uint32 }

// Init sets the maximum number of processes. It must be called first.
func (t *Table[P]) Init(max int) {
	t.max = uint32(max)
}

// At returns the process in the slot of a number, or nil if there is none. The process may have another number, of the same
// slot: only the caller can tell.
func (t *Table[P]) At(id uint64) *P {
	if uint32(id) >= t.made.Load() {
		return nil
	}
	k, at := place(uint32(id))
	return t.procs[k][at].Load()
}

// Reserve returns an unused number, and false if the table is full. c may be nil.
func (t *Table[P]) Reserve(c *Slots) (uint64, bool) {
	var slot uint32
	if c == nil {
		t.mu.Lock()
		ok := t.take(1, func(s uint32) { slot = s })
		t.mu.Unlock()
		if !ok {
			return 0, false
		}
	} else {
		if len(c.free) == 0 {
			t.mu.Lock()
			ok := t.take(slotBatch, func(s uint32) { c.free = append(c.free, s) })
			t.mu.Unlock()
			if !ok {
				return 0, false
			}
		}
		slot = c.free[len(c.free)-1]
		c.free = c.free[:len(c.free)-1]
	}
	k, at := place(slot)
	serial := &t.serial[k][at]
	*serial++
	return uint64(*serial-1)<<32 | uint64(slot), true
}

// take hands out up to n free slots, and returns false if there is none.
func (t *Table[P]) take(n int, give func(uint32)) bool {
	got := 0
	for got < n && t.listed != 0 {
		k := t.listed - 1
		v := &t.vacant[k]
		for i := range v.slots {
			for ; v.slots[i] != 0 && got < n; got++ {
				give(k*chunkLen + uint32(64*i+bits.TrailingZeros64(v.slots[i])))
				v.slots[i] &= v.slots[i] - 1
				v.n--
			}
		}
		if v.n == 0 {
			t.listed = v.next
		}
	}
	for ; got < n && t.next < t.max; got++ {
		if t.next%chunkLen == 0 {
			t.grow()
			t.vacant = append(t.vacant, vacancy{})
		}
		give(t.next)
		t.next++
	}
	return got > 0
}

// grow allocates chunkLen slots from next on. The caller holds mu.
func (t *Table[P]) grow() {
	k, at := place(t.next)
	if at == 0 {
		n := max(chunkLen, t.next)
		t.procs[k] = make([]atomic.Pointer[P], n)
		t.serial[k] = make([]uint32, n)
	}
	clear(t.serial[k][at : at+chunkLen]) // reading a fresh page before it is written costs two page faults
	t.made.Store(t.next + chunkLen)
}

// Put enters p under a number that was reserved for it.
func (t *Table[P]) Put(id uint64, p *P) {
	k, at := place(uint32(id))
	t.procs[k][at].Store(p)
}

// Remove removes the process with a number, and releases the number. c may be nil.
func (t *Table[P]) Remove(id uint64, c *Slots) {
	t.Put(id, nil) // a concurrent lookup finds the process dead
	t.release(uint32(id), c)
}

// release frees a slot.
func (t *Table[P]) release(slot uint32, c *Slots) {
	if c != nil {
		if c.free = append(c.free, slot); len(c.free) < 2*slotBatch {
			return
		}
		t.mu.Lock()
		for _, slot := range c.free[slotBatch:] {
			t.vacate(slot)
		}
		t.mu.Unlock()
		c.free = c.free[:slotBatch]
		return
	}
	t.mu.Lock()
	t.vacate(slot)
	t.mu.Unlock()
}

// vacate marks a slot as vacant. The caller holds mu.
func (t *Table[P]) vacate(slot uint32) {
	k, bit := slot/chunkLen, slot%chunkLen
	v := &t.vacant[k]
	v.slots[bit/64] |= 1 << (bit % 64)
	if v.n++; v.n == 1 {
		v.next, t.listed = t.listed, k+1
	}
}

// All yields the processes that are alive at some time during the iteration, in the order of their slots.
func (t *Table[P]) All() iter.Seq[*P] {
	return func(yield func(*P) bool) {
		for slot := range t.made.Load() {
			k, at := place(slot)
			if p := t.procs[k][at].Load(); p != nil && !yield(p) {
				return
			}
		}
	}
}
