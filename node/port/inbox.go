package port

import (
	"sync"

	"github.com/actornode/actornode/node"
)

// inboxBytes is how many bytes of frames may wait for the actor before the reader waits.
const inboxBytes = 1 << 20

// frameCost is what a frame counts besides its bytes.
const frameCost = 64

// wake is the reason of the signal by which a port's goroutines wake its actor: a
// signal gets into a mailbox past its bound, and no other code has the type.
type wake struct{}

// Events, beside frames, that a port's goroutines report to its actor.
type (
	queueHasSpace struct{}             // there is space again for messages to the program
	stalled       struct{}             // the program has read nothing for too long
	closed        struct{ what any }   // the program has closed its stdin or its stdout
	corrupt       struct{ reason any } // what the program has written is not a valid frame
	expired       struct{ a *ask }     // a call by the program has taken too long
	unready       struct{}             // the program should have been ready by now
	ended         struct {             // the program is gone, and all goroutines but the runner
		code   int
		signal string // "": it has exited with code
		forced bool   // by a signal of the runner's
	}
)

// inbox is what goes from a port's goroutines to its actor.
//
// Invariants:
//
//  1. While there is anything in it that take has not returned, a wake is under
//     way: at most one is.
//  2. Frames hold inboxBytes at most, and one more frame. Events are few: each
//     goroutine has a handful to tell, and the program's calls are bounded.
type inbox struct {
	node *node.Node
	pid  node.PID

	mu     sync.Mutex
	space  sync.Cond
	ops    []any
	size   int // of ops
	events []any
	woken  bool // a wake is under way
	over   bool // nobody takes anything any more
}

func newInbox(n *node.Node, pid node.PID) *inbox {
	b := &inbox{node: n, pid: pid}
	b.space.L = &b.mu
	return b
}

// put adds the content of a frame of size bytes, as soon as there is space. It reports
// whether the actor will take it.
func (b *inbox) put(op any, size int) bool {
	b.mu.Lock()
	for b.size >= inboxBytes && !b.over {
		b.space.Wait()
	}
	if b.over {
		b.mu.Unlock()
		return false
	}
	b.ops, b.size = append(b.ops, op), b.size+size+frameCost
	b.wakeLocked()
	return true
}

// note adds an event.
func (b *inbox) note(e any) {
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		return
	}
	b.events = append(b.events, e)
	b.wakeLocked()
}

// wakeLocked wakes the actor, and unlocks b.
func (b *inbox) wakeLocked() {
	first := !b.woken
	b.woken = true
	b.mu.Unlock()
	if first {
		b.node.Exit(b.pid, wake{})
	}
}

// take returns all that there is: frames, then events.
func (b *inbox) take() (ops, events []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops, events = b.ops, b.events
	b.ops, b.size, b.events, b.woken = nil, 0, nil, false
	b.space.Signal()
	return ops, events
}

// close ends put and note: the actor is gone.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.ops, b.events = true, nil, nil
	b.space.Broadcast()
}
