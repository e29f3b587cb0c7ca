package lifetime

import (
	"sync"
	"weak"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// hold is the mailbox of a process with an Owner, and decides whether the process refers to its Owner. Its lock comes
// last in the lock order: whoever takes it may hold the lock of the process, and takes no other lock while holding it.
//
// Invariants, whenever nobody holds the lock:
//
//  1. While count is not 0, owner or lost is set. A message that the process handles or has left as unhandled counts.
//  2. Owner or lost is also set while kept or busy is, and from the start of the process until it first looks for
//     messages.
//  3. Once self is nil the process gets no more messages. A Terminator or a blocking process still does: lost is set
//     then, and the process ends when it waits, count is 0, and nothing keeps it.
//  4. A hold that is kept or lost, and not closed, is in sweeps, or about to be.
type hold struct {
	// Set by Own.
	self   weak.Pointer[Owner]
	code   *code // of a Terminator; nil: the Owner has it
	blocks bool  // a blocking process

	mu      sync.Mutex
	pid     node.PID
	process *process.Process // nil: Own has not returned, or the process ended before
	owner   *Owner           // nil: the process does not refer to it
	kept    bool             // by something other than an Owner, at the last look
	busy    bool             // activations wait
	lost    bool             // there is no Owner any more, but the process goes on until it has nothing to do
	listed  bool             // in sweeps

	messages ring.Ring[any]
	count    int  // messages that wait or are being handled
	armed    bool // the next message wakes the process
	closed   bool
	last     bool // no further message gets in
}

var (
	_ mailbox.Forcer = (*hold)(nil)
	_ inbox.Keeper   = (*hold)(nil)
)

// holdOf finds the hold of a process.
func holdOf(p *process.Process) (*hold, bool) {
	if !p.Boxed {
		return nil, false
	}
	h, ok := p.Cold.Box.(*hold)
	return h, ok
}

// reach returns the Owner, or nil if nobody can reach it any more.
func (h *hold) reach() *Owner {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reachLocked()
}

func (h *hold) reachLocked() *Owner {
	if h.owner != nil {
		return h.owner
	}
	return h.self.Value()
}

// enter begins a turn of p. It returns the Owner, or nil if there is none any more.
func (h *hold) enter(p *process.Process) *Owner {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.process, h.pid = p, p.PID() // Own may not have returned yet
	return h.reachLocked()
}

// reachCode returns the code of an Actor, or nil if nobody can reach it any more.
func (h *hold) reachCode() *code {
	if h.code != nil {
		return h.code
	}
	if o := h.reach(); o != nil {
		return o.code
	}
	return nil
}

// survives reports whether the process outlives its Owners, to do a last thing.
func (h *hold) survives() bool { return h.blocks || h.code != nil }

// Owner is part of inbox.Keeper.
func (h *hold) Owner() any {
	if o := h.reach(); o != nil {
		return o
	}
	return nil
}

// Keep is part of inbox.Keeper.
func (h *hold) Keep() {
	h.mu.Lock()
	list := false
	if !h.closed {
		h.kept, h.owner = true, h.reachLocked()
		list = h.list()
	}
	h.mu.Unlock()
	if list {
		sweeps.add(h)
	}
}

// list reports whether the caller must put h into sweeps. The caller has the lock.
func (h *hold) list() bool {
	list := !h.listed && !h.closed
	h.listed = h.listed || list
	return list
}

// Push is part of mailbox.Box.
func (h *hold) Push(msg any) mailbox.Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.last {
		return mailbox.Closed
	}
	if h.owner = h.reachLocked(); h.owner == nil && !h.survives() {
		return mailbox.Closed
	}
	return h.push(msg)
}

// push adds msg. The caller has the lock.
func (h *hold) push(msg any) mailbox.Result {
	h.messages.Push(msg)
	h.count++
	if !h.armed {
		return mailbox.Queued
	}
	h.armed = false
	return mailbox.Wake
}

// Force is part of mailbox.Forcer.
func (h *hold) Force(msg any) mailbox.Result { return h.Push(msg) }

// Pop is part of mailbox.Box.
func (h *hold) Pop() (any, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.messages.Len() == 0 {
		h.armed = !h.closed
		h.letGo()
		return nil, false
	}
	return h.messages.Shift(), true
}

// letGo drops the Owner if the process no longer needs it. The caller has the lock.
func (h *hold) letGo() {
	if h.armed && h.count == 0 && !h.kept && !h.busy {
		h.owner = nil
		if h.messages.Cap() > smallRing {
			h.messages = ring.Ring[any]{}
		}
	}
}

// smallRing is the longest ring of messages that an idle process keeps.
const smallRing = 64

// Done is part of mailbox.Box.
func (h *hold) Done() {
	h.mu.Lock()
	h.count--
	h.mu.Unlock()
}

// Len is part of mailbox.Box.
func (h *hold) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// Close is part of mailbox.Box: the process has ended.
func (h *hold) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed, h.armed, h.owner = true, false, nil
	h.messages, h.count = ring.Ring[any]{}, 0
}

// unreachable is the cleanup that runs when the collector has found that nobody can reach the Owner.
func (h *hold) unreachable() {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	if !h.survives() {
		h.closed = true
		p := h.process
		h.mu.Unlock()
		if p != nil { // else it has ended
			p.Exit(&p.System.Plain, Collected)
		}
		return
	}
	h.lost = true
	list := h.list()
	h.mu.Unlock()
	if list && h.review() {
		sweeps.add(h)
	}
}

// review checks whether h is still kept, and ends a process that is lost and has nothing to do. It reports whether
// to review h again. The caller has taken h from sweeps.
func (h *hold) review() (again bool) {
	h.mu.Lock()
	p := h.process
	if p == nil { // Own has not returned, or the process has ended
		again, h.listed = !h.closed, !h.closed
		h.mu.Unlock()
		return again
	}
	h.mu.Unlock()
	p.Mu.Lock()
	kept := !p.Gone() && isKept(p)
	h.mu.Lock()
	h.kept = kept
	ends := !h.closed && h.lost && !kept && h.count == 0 && !h.busy && h.armed && (!h.blocks || waits(p))
	h.listed = !h.closed && !ends && (kept || h.lost)
	again = h.listed
	switch {
	case ends && h.blocks:
		h.closed = true
	case ends:
		h.last = true
		h.push(finish{})
	default:
		h.letGo()
	}
	h.mu.Unlock()
	p.Mu.Unlock()
	switch {
	case ends && h.blocks:
		p.Exit(&p.System.Plain, Collected)
	case ends:
		p.Runner().Prod(&p.System.Plain)
	}
	return again
}

// waits reports whether p, a blocking process whose mailbox is empty, waits for a message without a timeout. It stays
// so as long as no message gets in. The caller has the lock of p.
func waits(p *process.Process) bool {
	st, _ := p.Runner().Doing()
	within, _ := runner.Timed(p)
	return st == observe.Waiting && !within && p.WaitLocked(st).For == calls.WaitMessage.String()
}

// isKept reports whether something keeps p besides its Owner and its messages. The caller has the lock of p.
func isKept(p *process.Process) bool {
	k := p.Cold
	if p.Tied || p.Global || k.Name != "" || k.Links.Len() != 0 || len(k.Watching) != 0 || len(k.Aliases) != 0 {
		return true
	}
	if _, asks := p.System.ByName.Load(p); asks {
		return true
	}
	for c := range k.Calls.Oldest() {
		if c.Tag != process.OfExit {
			return true
		}
	}
	for m := range k.Watchers.Oldest() {
		if m.Watcher == nil { // of another node: perhaps for a call
			return true
		}
	}
	return false
}
