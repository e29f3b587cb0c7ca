package waiting

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/node/internal/promise"
)

// Kind is what a process waits for.
type Kind uint8

const (
	None     Kind = iota
	Message       // in a receive
	Reply         // to a call
	Future        // the value of one
	Exit          // of a process
	Start         // of a process: that its Init returns
	Receipt       // of a message, by another node
	Space         // in a mailbox, or for what is to be sent to a node
	Blocking      // for what its handler does that blocks
	kinds
)

var names = [kinds]string{"", "message", "reply", "future", "exit", "start", "receipt", "space", "blocking"}

// String is what people and programs read.
func (k Kind) String() string { return names[k] }

var verbs = [kinds]string{Reply: "calls", Future: "awaits a future of", Exit: "awaits the exit of",
	Start: "awaits the start of", Space: "waits for space in the mailbox of"}

// Verb is what stands between one who waits for k and of whom.
func (k Kind) Verb() string { return verbs[k] }

// kindBits is how many bits of a word are the Kind; the others are the number of a process.
const kindBits = 4

// Record is what a process waits for. The zero value: it has not waited yet.
type Record struct {
	what  atomic.Uint64 // number of a process<<kindBits | Kind
	since atomic.Uint64
	use   atomic.Uint64 // the ticket of the promise that the rest is about
}

// Set says that the process waits until t is settled: since when, for what, and on which process, as
// a number below 2⁶⁰. Only the process calls it, with each ticket once.
func (r *Record) Set(k Kind, process uint64, since int64, t promise.Ticket) {
	bias.StoreUint64(&r.what, process<<kindBits|uint64(k))
	bias.StoreUint64(&r.since, uint64(since))
	bias.StoreUint64(&r.use, uint64(t))
}

// Get returns what Set was last told, if p, the promise of the process, still waits. Anybody may ask.
func (r *Record) Get(p *promise.Promise) (k Kind, process uint64, since int64) {
	t := r.use.Load()
	what, since := r.what.Load(), int64(r.since.Load())
	if t == 0 || !p.Pending(promise.Ticket(t)) {
		return None, 0, 0
	}
	return Kind(what & (1<<kindBits - 1)), what >> kindBits, since
}
