package table

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
)

// chunkLen is the number of processes in a chunk of the table.
const chunkLen = 1024

type chunk[P any] struct {
	procs  [chunkLen]atomic.Pointer[P]
	serial [chunkLen]uint32 // of the next process in the slot; whoever holds the slot's number
}

// Table finds processes by number. A lookup is two loads and takes no lock. A
// number is serial<<32 | slot; a slot's serial goes up with each process, so no
// number comes twice in 2^32 uses of a slot. P is the process.
type Table[P any] struct {
	_      [64]byte // each message looks at it
	chunks atomic.Pointer[[]*chunk[P]]
	_      [64]byte

	mu     sync.Mutex
	vacant []vacancy // by chunk
	listed uint32    // the chunk, plus 1, of the first in the list of those with vacant slots
	next   uint32    // slots never given out start here
	max    uint32
}

// vacancy is which slots of a chunk have been given back: a bit each, as a million
// processes that end would otherwise have a list grow to megabytes, each page of which is
// new to the machine. Guarded by Table.mu.
type vacancy struct {
	slots [chunkLen / 64]uint64
	n     uint32 // bits; 0: not in the list
	next  uint32 // in the list, as Table.listed
}

// slotBatch is how many free slots a cache takes or gives at once.
const slotBatch = 64

// Slots is a cache of free slots with one owner. Its zero value is empty.
type Slots struct{ free []uint32 }

// Init sets how many processes there may be at a time. It comes before all else.
func (t *Table[P]) Init(max int) {
	t.max = uint32(max)
	t.chunks.Store(new([]*chunk[P]))
}

// At returns the process in the slot of a number; nil: there is none. The process may
// have another number, of the same slot: only who holds it can tell.
func (t *Table[P]) At(id uint64) *P {
	slot := uint32(id)
	chunks := *t.chunks.Load()
	if int(slot/chunkLen) >= len(chunks) {
		return nil
	}
	return chunks[slot/chunkLen].procs[slot%chunkLen].Load()
}

// Reserve returns a number that no process has; false if the table is full. c may
// be nil.
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
	serial := &t.chunk(slot).serial[slot%chunkLen]
	*serial++
	return uint64(*serial-1)<<32 | uint64(slot), true
}

// take hands out up to n free slots, at least one or false.
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
			c := new(chunk[P])
			clear(c.serial[:])                   // what is read in a fresh page before it is written costs two page faults
			grown := append(*t.chunks.Load(), c) // readers see the old length or the new
			t.chunks.Store(&grown)
			t.vacant = append(t.vacant, vacancy{})
		}
		give(t.next)
		t.next++
	}
	return got > 0
}

func (t *Table[P]) chunk(slot uint32) *chunk[P] { return (*t.chunks.Load())[slot/chunkLen] }

// Put has p found by a number that was reserved for it.
func (t *Table[P]) Put(id uint64, p *P) {
	t.chunk(uint32(id)).procs[uint32(id)%chunkLen].Store(p)
}

// Remove forgets the process with a number, which no process has from now on. c may be
// nil.
func (t *Table[P]) Remove(id uint64, c *Slots) {
	slot := uint32(id)
	ch := t.chunk(slot)
	ch.procs[slot%chunkLen].Store(nil) // who finds the process nevertheless finds it dead
	t.release(slot, c)
}

// release gives a slot back.
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

// vacate notes that a slot has been given back. The caller holds mu.
func (t *Table[P]) vacate(slot uint32) {
	k, bit := slot/chunkLen, slot%chunkLen
	v := &t.vacant[k]
	v.slots[bit/64] |= 1 << (bit % 64)
	if v.n++; v.n == 1 {
		v.next, t.listed = t.listed, k+1
	}
}

// All yields the processes that are alive at some time during the iteration, in the order
// of their slots.
func (t *Table[P]) All() iter.Seq[*P] {
	return func(yield func(*P) bool) {
		for _, c := range *t.chunks.Load() {
			for i := range c.procs {
				if p := c.procs[i].Load(); p != nil && !yield(p) {
					return
				}
			}
		}
	}
}
