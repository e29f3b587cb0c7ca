package pool

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// queue is what a pool's processes have in common: the messages that wait, and which workers are idle. It is the mailbox of the
// front, but the front does not see the messages of the pool. A sender puts them here and wakes a worker that is idle; one that
// is not takes the next when it has handled the last.
//
// Invariants, whenever nobody holds the lock:
//
//  1. A worker has at most one message of the pool: what waits is in a slot, with the policy of Bounds.
//  2. If a message waits in a slot, no worker that may take it is armed, or one that was armed has been woken.
//  3. An armed worker that may take messages from a slot that it shares is in idle. Others may be, too.
type queue struct {
	n       *node.Node
	o       Options
	dropped func(msg any) // of the Bounds that the user has set
	begun   time.Time

	mu      sync.Mutex
	control ring.Ring[any] // for the front itself
	shared  *slot          // has the box of all slots; nil: each has its own
	slots   []*slot        // where messages go
	retired []*slot        // those that have been taken away and still have something to do
	idle    []*worker
	turn    uint64 // of RoundRobin
	lost    []any  // by the policy, in the push that is going on
	armed   bool   // the next control message wakes the front
	closed  bool
	front   *process.Process // nil: it does not run yet
	sizer   node.PID
	last    int // the highest id of a slot
}

// slot is the place of a worker, which is started there again when it ends.
type slot struct {
	id  int
	box *inbox.Bounded // nil: without limits

	// Guarded by the lock of the queue.
	all     ring.Ring[any] // the messages, without a box
	back    ring.Ring[any] // messages that a worker had taken when it was killed, and had not begun with: they come first
	worker  *worker        // the last that has started; nil: none yet
	running int            // workers that have started, and whose end the front has not seen
	senders int            // that are putting messages into the box
	leaves  bool
}

var (
	_ mailbox.Forcer = (*queue)(nil)
	_ mailbox.Waiter = (*queue)(nil)
	_ mailbox.Forcer = (*box)(nil)
)

func newQueue(n *node.Node, o Options) *queue {
	q := &queue{n: n, o: o, begun: time.Now(), dropped: o.Bounds.Dropped}
	q.o.Bounds.Dropped = func(msg any) { q.lost = append(q.lost, msg) }
	if !o.Route.fixed {
		q.shared = &slot{box: q.newBox()}
	}
	for range o.Workers {
		q.slots = append(q.slots, q.newSlot())
	}
	return q
}

// newSlot makes a slot. The caller has the lock, or is alone.
func (q *queue) newSlot() *slot {
	q.last++
	s := &slot{id: q.last}
	if q.shared == nil {
		s.box = q.newBox()
	}
	return s
}

func (q *queue) newBox() *inbox.Bounded {
	if inbox.Limited(q.o.Bounds) {
		return inbox.NewBounded(q.o.Bounds)
	}
	return nil
}

// source returns the slot whose messages the worker of s takes.
func (q *queue) source(s *slot) *slot {
	if q.shared != nil {
		return q.shared
	}
	return s
}

// len returns the number of messages that wait. The caller has the lock of the queue.
func (s *slot) len() int {
	if s.box == nil {
		return s.back.Len() + s.all.Len()
	}
	return s.back.Len() + s.box.Len()
}

// push adds a message. The caller has the lock of the queue.
func (s *slot) push(msg any) mailbox.Result {
	if s.box == nil {
		s.all.Push(msg)
		return mailbox.Queued
	}
	return s.box.Push(msg)
}

// pop takes the next message. The caller has the lock of the queue.
func (s *slot) pop() (msg any, ok bool) {
	switch {
	case s.back.Len() > 0:
		return s.back.Shift(), true
	case s.box != nil:
		if msg, ok = s.box.Pop(); ok {
			s.box.Done() // it no longer counts: a sender that waits may put its message in
		}
		return msg, ok
	case s.all.Len() > 0:
		return s.all.Shift(), true
	}
	return nil, false
}

// route returns the slot that a message waits in. The caller has the lock.
func (q *queue) route(hash uint64) *slot {
	if q.shared != nil {
		return q.shared
	}
	if q.o.Route.hash == nil {
		hash = q.turn
		q.turn++
	}
	return q.slots[hash%uint64(len(q.slots))]
}

// hash returns the hash of a message, if it is routed by one.
func (q *queue) hash(msg any) (h uint64) {
	if q.o.Route.hash == nil {
		return 0
	}
	if crash := sysmsg.Guard(func() { h = q.o.Route.hash(bodyOf(q.n, msg)) }); crash != nil {
		q.n.Log().Error("the hash function of a pool panicked; the message goes to its first worker", "pool", q.o.Name,
			"message", sysmsg.Brief(q.n, msg), "error", crash)
		return 0
	}
	return h
}

// plain is who acts for the queue: no process.
func (q *queue) plain() *process.Acting { return &q.n.Inside(process.Key{}).System().Plain }

// Push is part of mailbox.Box.
func (q *queue) Push(msg any) mailbox.Result {
	bare := msg
	if m, ok := msg.(node.PeerMessage); ok {
		bare = m.Message
	}
	if isControl(bare) {
		return q.Force(msg)
	}
	if !q.o.Worker.ShowPeer {
		msg = bare
	}
	hash := q.hash(bare)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return mailbox.Closed
	}
	s := q.route(hash)
	r := s.push(msg)
	lost := q.lost
	q.lost = nil
	r, w := q.added(s, r)
	q.mu.Unlock()
	w.wake(q.plain())
	for _, m := range lost {
		q.drop(m)
	}
	return r
}

// added returns the result of a push into the box of s, and who must be woken. The caller has the lock.
func (q *queue) added(s *slot, r mailbox.Result) (mailbox.Result, *worker) {
	if r != mailbox.Queued && r != mailbox.Wake {
		return r, nil
	}
	return mailbox.Queued, q.choose(s)
}

// choose returns a worker that is to be woken for a message in s, or nil: all are busy. The caller has the lock.
func (q *queue) choose(s *slot) *worker {
	if s != q.shared {
		if s.worker.disarm() {
			return s.worker
		}
		return nil
	}
	for last := len(q.idle) - 1; last >= 0; last-- {
		w := q.idle[last]
		q.idle[last] = nil
		q.idle = q.idle[:last]
		if w.listed = false; !w.s.leaves && w.disarm() {
			return w
		}
	}
	return nil
}

// drop tells what has become of a message that a policy has lost.
func (q *queue) drop(msg any) {
	sys := q.n.Inside(process.Key{}).System()
	sys.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: q.self(), Message: msg})
	sys.Host.Unanswered(msg, node.ErrDropped, false)
	if q.dropped != nil {
		q.dropped(msg)
	}
}

// Force is part of mailbox.Forcer: what is forced is for the front itself.
func (q *queue) Force(msg any) mailbox.Result {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return mailbox.Closed
	}
	q.control.Push(msg)
	if q.armed {
		q.armed = false
		return mailbox.Wake
	}
	return mailbox.Queued
}

// Blocks is part of mailbox.Waiter.
func (q *queue) Blocks() bool { return q.o.Bounds.Policy == mailbox.Block }

// PushWait is part of mailbox.Waiter.
func (q *queue) PushWait(ctx context.Context, msg any) (mailbox.Result, error) {
	hash := q.hash(msg)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return mailbox.Closed, nil
	}
	s := q.route(hash)
	s.senders++ // until then the slot is not taken away
	q.mu.Unlock()
	r, err := s.box.PushWait(ctx, msg)
	q.mu.Lock()
	s.senders--
	var w *worker
	if err == nil {
		r, w = q.added(s, r)
	}
	sizer := q.over(s)
	q.mu.Unlock()
	w.wake(q.plain())
	q.tell(sizer)
	return r, err
}

// Pop is part of mailbox.Box.
func (q *queue) Pop() (any, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.control.Len() > 0 {
		return q.control.Shift(), true
	}
	q.armed = !q.closed
	return nil, false
}

// Done is part of mailbox.Box.
func (q *queue) Done() {}

// Len is part of mailbox.Box.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.control.Len()
	for s := range q.sources() {
		n += s.len()
	}
	return n
}

// sources yields the slots in which messages wait. The caller has the lock.
func (q *queue) sources() iter.Seq[*slot] {
	if q.shared != nil {
		return slices.Values([]*slot{q.shared})
	}
	return slices.Values(slices.Concat(q.slots, q.retired))
}

// Close is part of mailbox.Box: the pool ends.
func (q *queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.armed, q.control = true, false, ring.Ring[any]{}
	for s := range q.sources() {
		s.back, s.all = ring.Ring[any]{}, ring.Ring[any]{}
		if s.box != nil {
			s.box.Close()
		}
	}
}

// putBack lets another worker, or the next of the slot, have a message that one had taken and not begun with.
func (q *queue) putBack(s *slot, msg any) {
	q.mu.Lock()
	s = q.source(s)
	s.back.Push(msg)
	w := q.choose(s)
	q.mu.Unlock()
	w.wake(q.plain())
}

// ended says that a worker has ended, after its last message was put back.
func (q *queue) ended(s *slot) {
	q.mu.Lock()
	s.running--
	sizer, w := q.over(s), q.relieve()
	q.mu.Unlock()
	w.wake(q.plain())
	q.tell(sizer)
}

// relieve returns a worker that is to be woken for a message that waits, because the one that was may never take it. The caller
// has the lock.
func (q *queue) relieve() *worker {
	if q.shared == nil || q.shared.len() == 0 {
		return nil
	}
	return q.choose(q.shared)
}

// over returns the sizer if s leaves and has nothing to do any more, or else zero. The caller has the lock.
func (q *queue) over(s *slot) node.PID {
	if s.leaves && q.isOver(s) {
		return q.sizer
	}
	return node.PID{}
}

// isOver reports whether a slot that leaves has nothing to do any more. The caller has the lock.
func (q *queue) isOver(s *slot) bool {
	if s.running > 1 || s.running == 1 && s.worker.closed || s.worker != nil && s.worker.busy {
		return false // the front may put a message back
	}
	return q.shared != nil || s.senders == 0 && s.len() == 0
}

// tell tells the sizer, unless it is zero, that a slot is over.
func (q *queue) tell(sizer node.PID) {
	if !sizer.IsZero() {
		_ = q.n.Send(sizer, swept{}) // one that is gone looks when it is started again
	}
}

// left tells the sizer that a slot is perhaps over.
func (q *queue) left() {
	q.mu.Lock()
	sizer := q.sizer
	q.mu.Unlock()
	q.tell(sizer)
}

// bodyOf returns what a message asks: the body of a call or a cast, or else the message.
func bodyOf(n *node.Node, msg any) any {
	if body, ok := node.AsCast(msg); ok {
		return body
	}
	if _, body, ok := calls.ReadCall(msg); ok {
		return body
	}
	if r, ok := n.AsRequest(msg); ok {
		return r.Body
	}
	return msg
}

// tick is the message that makes the front look for workers that are stuck.
type tick struct{}

// isControl reports whether a message is for the front itself.
func isControl(msg any) bool {
	switch m := msg.(type) {
	case tick, node.Request[sysmsg.Command]:
		return true
	case node.Request[wire.Atom]:
		return m.Body == aWorkers
	case node.Request[wire.Tuple]:
		return isResize(m.Body)
	case wire.Tuple:
		if len(m) == 3 && m[0] == aSystem {
			return true
		}
		_, body, ok := calls.ReadCall(m)
		return ok && (body == any(aWorkers) || isResize(body))
	}
	return false
}

func isResize(body any) bool {
	t, ok := body.(wire.Tuple)
	return ok && len(t) == 2 && t[0] == aResize
}
