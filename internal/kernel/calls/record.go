package calls

import (
	"sync/atomic"
)

// WaitKind is what a process waits for.
type WaitKind uint8

const (
	WaitNone     WaitKind = iota
	WaitMessage           // in a receive
	WaitReply             // to a call
	WaitFuture            // the value of one
	WaitExit              // of a process
	WaitStart             // of a process: the return of its Init
	WaitReceipt           // of a message, by another node
	WaitSpace             // in a mailbox, or in the queue for a node
	WaitBlocking          // for a blocking operation of its handler
	waitKinds
)

var waitNames = [waitKinds]string{"", "message", "reply", "future", "exit", "start", "receipt", "space", "blocking"}

// String returns the name of k, for people and programs.
func (k WaitKind) String() string { return waitNames[k] }

var waitVerbs = [waitKinds]string{WaitReply: "calls", WaitFuture: "awaits a future of", WaitExit: "awaits the exit of",
	WaitStart: "awaits the start of", WaitSpace: "waits for space in the mailbox of"}

// Verb returns the words between a waiter for k and whom it waits for.
func (k WaitKind) Verb() string { return waitVerbs[k] }

// kindBits is the number of bits of a word for the WaitKind; the others are the number of a process.
const kindBits = 4

// WaitRecord is what a process waits for. The zero value is that of a process that has not waited yet.
type WaitRecord struct {
	what  atomic.Uint64 // number of a process<<kindBits | WaitKind
	since atomic.Uint64
	use   atomic.Uint64 // the ticket of the promise that the rest is about
}

// Set records that the process waits until t is settled: for k, on process, a number below 2⁶⁰, and since when. Only the
// process calls it, once with each ticket.
func (r *WaitRecord) Set(k WaitKind, process uint64, since int64, t Ticket) {
	r.what.Store(process<<kindBits | uint64(k))
	r.since.Store(uint64(since))
	r.use.Store(uint64(t))
}

// Get returns the arguments of the last Set, if p, the promise of the process, still waits. It may be called concurrently.
func (r *WaitRecord) Get(p *Promise) (k WaitKind, process uint64, since int64) {
	t := r.use.Load()
	what, since := r.what.Load(), int64(r.since.Load())
	if t == 0 || !p.Pending(Ticket(t)) {
		return WaitNone, 0, 0
	}
	return WaitKind(what & (1<<kindBits - 1)), what >> kindBits, since
}
