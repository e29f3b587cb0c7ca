package sched

// Store writes v to p, of which the caller is the only writer, without a fence
// where the machine allows that. A reader uses atomic.LoadUint32; one that has
// written something which the writer of p reads afterwards, and that must not
// miss the store, calls Barrier between its write and its read.
func Store(p *uint32, v uint32) { store(p, v) }

// Store64 is Store for 64 bits: for counters.
func Store64(p *uint64, v uint64) { store64(p, v) }

// Barrier is the reader's half of Store.
func Barrier() { barrier() }
