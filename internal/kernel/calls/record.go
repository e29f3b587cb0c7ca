package calls

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/sched/bias"
)

// WaitKind is what a process waits for.
type WaitKind uint8

const (
	WaitNone     WaitKind = iota
	WaitMessage           // in a receive
	WaitReply             // to a call
	WaitFuture            // the value of one
	WaitExit              // of a process
	WaitStart             // of a process: that its Init returns
	WaitReceipt           // of a message, by another node
	WaitSpace             // in a mailbox, or for what is to be sent to a node
	WaitBlocking          // for what its handler does that blocks
	waitKinds
)

var waitNames = [waitKinds]string{"", "message", "reply", "future", "exit", "start", "receipt", "space", "blocking"}

// String is what people and programs read.
func (k WaitKind) String() string { return waitNames[k] }

var waitVerbs = [waitKinds]string{WaitReply: "calls", WaitFuture: "awaits a future of", WaitExit: "awaits the exit of",
	WaitStart: "awaits the start of", WaitSpace: "waits for space in the mailbox of"}

// Verb is what stands between one who waits for k and of whom.
func (k WaitKind) Verb() string { return waitVerbs[k] }

// kindBits is how many bits of a word are the WaitKind; the others are the number of a process.
const kindBits = 4

// WaitRecord is what a process waits for. The zero value: it has not waited yet.
type WaitRecord struct {
	what  atomic.Uint64 // number of a process<<kindBits | WaitKind
	since atomic.Uint64
	use   atomic.Uint64 // the ticket of the promise that the rest is about
}

// Set says that the process waits until t is settled: since when, for what, and on which process, as
// a number below 2⁶⁰. Only the process calls it, with each ticket once.
func (r *WaitRecord) Set(k WaitKind, process uint64, since int64, t Ticket) {
	bias.StoreUint64(&r.what, process<<kindBits|uint64(k))
	bias.StoreUint64(&r.since, uint64(since))
	bias.StoreUint64(&r.use, uint64(t))
}

// Get returns what Set was last told, if p, the promise of the process, still waits. Anybody may ask.
func (r *WaitRecord) Get(p *Promise) (k WaitKind, process uint64, since int64) {
	t := r.use.Load()
	what, since := r.what.Load(), int64(r.since.Load())
	if t == 0 || !p.Pending(Ticket(t)) {
		return WaitNone, 0, 0
	}
	return WaitKind(what & (1<<kindBits - 1)), what >> kindBits, since
}
