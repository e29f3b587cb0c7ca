package inbox

import (
	"iter"
	"slices"
	"sync"

	"github.com/actornode/actornode/mailbox"
)

// RunSize is the capacity of a Run in messages. LeastRun is the minimum number of messages for which a Run is worthwhile,
// because it takes the memory of RunSize messages as long as it exists.
const (
	RunSize  = 64
	LeastRun = 8
)

// Run is a group of messages that are pushed together, or are adjacent at the end of a long queue: in the mailbox they are
// one node, until the reader drops them, one by one. The zero value is not a run; NewRun makes an empty one.
type Run struct{ *run }

// run is the data of a Run; as the Msg of its own node it marks that node as a run. Invariant: msgs[i:n] are messages, the
// oldest first, and all others are nil; in a mailbox there is at least one.
type run struct {
	node Node
	msgs [RunSize]any
	i, n int
	pin  *pin // of a position behind its only message
}

// runs recycles empty runs.
var runs = sync.Pool{New: func() any {
	r := new(run)
	r.node.Msg = r
	return r
}}

// NewRun returns a run without messages.
func NewRun() Run { return Run{runs.Get().(*run)} }

// Add appends a message. The run must not be full.
func (r Run) Add(msg any) {
	r.msgs[r.n] = msg
	r.n++
}

// Len returns the number of messages.
func (r Run) Len() int { return r.n - r.i }

// Unused returns the unused slots, for Fill.
func (r Run) Unused() []any { return r.msgs[r.n:] }

// Fill adds the first n messages that have been written into Unused to r.
func (r Run) Fill(n int) { r.n += n }

// All yields the messages, the oldest first.
func (r Run) All() iter.Seq[any] { return slices.Values(r.msgs[r.i:r.n]) }

// Clear removes all messages.
func (r Run) Clear() {
	clear(r.msgs[:r.n])
	r.i, r.n = 0, 0
}

// drop removes the oldest message. It reports whether that was the last.
func (r *run) drop() (last bool) {
	r.msgs[r.i] = nil
	r.i++
	return r.i == r.n
}

// remove removes the message at index k of msgs. It reports whether that was the last.
func (r *run) remove(k int) (last bool) {
	copy(r.msgs[k:], r.msgs[k+1:r.n])
	r.n--
	r.msgs[r.n] = nil
	return r.i == r.n
}

// free recycles an empty run.
func (r *run) free() {
	r.node.next = nil
	r.i, r.n, r.pin = 0, 0, nil
	runs.Put(r)
}

// PushRun is Push for all messages of a run, which must not be empty, in order and without other messages in between. The
// run then belongs to the mailbox, unless the result is Closed.
func (b *Inbox) PushRun(r Run) mailbox.Result { return b.Push(&r.node) }

// count returns the number of messages in n.
func (n *Node) count() int {
	switch m := n.Msg.(type) {
	case *run:
		return m.n - m.i
	case *mark:
		return 0
	}
	return 1
}

// all yields the messages in n, which must not be a mark.
func (n *Node) all() iter.Seq[any] {
	return func(yield func(any) bool) {
		r, ok := n.Msg.(*run)
		if !ok {
			yield(n.Msg)
			return
		}
		for _, msg := range r.msgs[r.i:r.n] {
			if !yield(msg) {
				return
			}
		}
	}
}
