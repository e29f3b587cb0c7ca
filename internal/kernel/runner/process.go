package runner

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Blocking is a blocking process: a function with a goroutine of its own, or on a stage as a coroutine, or a handle that a
// goroutine has opened. It belongs to one goroutine.
type Blocking struct {
	Own process.Process // what Process points to; first, for the cache lines described by process.Process
	process.Acting
	offStage
	body      Body          // nil for a handle
	park      chan struct{} // capacity 1: ends a wait
	given     *inbox.Node   // the message that has ended it; if nil, check the inbox
	spare     *inbox.Node
	waits     *waits        // allocated by the first wait that needs it
	Coroutine *Turns        // of a coroutine; nil for a goroutine of its own
	QueueMu   sync.Mutex    // guards the queue, which other goroutines inspect
	since     atomic.Uint64 // when the last receive that had to wait began, Unix time, ns
	parked    atomic.Bool   // waiting for a message or a reply
	sends     uint32        // for sendsBeforeGosched
}

// Body is the code of a blocking process.
type Body interface {
	// Run runs it, on the goroutine of s. Its error determines how the process exits.
	Run(s *Blocking) error
}

// BodyOf returns the code of a blocking process, or nil for a handle, or if p is not a blocking process.
func BodyOf(p *process.Process) Body {
	switch r := p.Task().(type) {
	case *goroutine:
		return r.body
	case *Coroutine:
		return r.body
	}
	return nil
}

// BlockingOf returns the acting process, or nil if it is not a blocking one.
func BlockingOf(a *process.Acting) *Blocking {
	switch b := a.Blocks.(type) {
	case *goroutine:
		return (*Blocking)(b)
	case *Coroutine:
		return (*Blocking)(b)
	case handle:
		return (*Blocking)(b.goroutine)
	}
	return nil
}

// offStage has the methods of executor.Task for a process that no stage runs: none is called.
type offStage struct{}

func (offStage) Turn(*executor.Worker) executor.TurnResult { panic("node: no stage runs this process") }
func (offStage) CollectInbox(*executor.Stage) bool         { return false }
func (offStage) FinishDetached(*executor.Stage) bool       { return false }
func (offStage) Claim() bool                               { return false }

// Init makes s, which is new, a process with a goroutine of its own, or a handle if b is nil.
//
// It writes a field first that is no pointer. While the collector runs, a store of a pointer reads the old value before it
// writes, and so faults a fresh page twice.
func (s *Blocking) Init(sys *process.System, b Body) {
	s.Own.Kind = process.Goroutine
	s.park, s.body = make(chan struct{}, 1), b
	s.System, s.Process = sys, &s.Own
	if b == nil {
		s.Own.Kind, s.Blocks = process.Handle, handle{(*goroutine)(s)}
		s.Own.Adopt(handle{(*goroutine)(s)}, nil, false)
		return
	}
	s.Blocks = (*goroutine)(s)
	s.Own.Adopt((*goroutine)(s), nil, false)
}

// InitCoroutine makes s, which is new, a coroutine.
func (s *Blocking) InitCoroutine(sys *process.System, b Body, co *Turns) {
	s.Own.Fresh = true // before all pointers: see Init
	s.Own.Kind = process.Coroutine
	s.body, s.Coroutine = b, co
	s.System, s.Process, s.Blocks = sys, &s.Own, (*Coroutine)(s)
	s.Own.Adopt((*Coroutine)(s), nil, false)
}

// waits is the state of a process that waits for more than messages. Only the process's own code sets the fields, and
// Blocking.waits, under its lock.
type waits struct {
	timed atomic.Uint32    // starts and ends of receives with a timeout that had to wait: odd within one
	timer env.Timer        // of Receive with a timeout, reused
	fires <-chan time.Time // of timer
	reply chan struct{}    // capacity 1: a call has been answered
	call  process.Call     // of the current call, reused

	kind any             // see begin; of the last receive, except the short ones of Receive
	ends inbox.Positions // marked by the process

	record calls.WaitRecord // what is waited for: see Blocking.waitsFor
	on     wire.Dest        // the target, if it is not a local process; guarded by the lock of the process

	ctx context.Context // that of the process, if requested before
}

// begin records that a receive with a timeout has to wait. It ends one that has ended by a panic.
func (w *waits) begin() { w.timed.Store(w.timed.Load() + 1 | 1) }

// prepare returns s.waits, allocating it if necessary.
func (s *Blocking) prepare() *waits {
	if s.waits == nil {
		s.Process.Mu.Lock() // for an exit, which also answers
		s.waits = &waits{reply: make(chan struct{}, 1)}
		s.waits.call.System = s.System
		s.Process.Mu.Unlock()
	}
	return s.waits
}

// context returns a context that is cancelled when the process exits.
func (s *Blocking) context() context.Context {
	w := s.prepare()
	if w.ctx == nil {
		w.ctx = s.Process.Context()
	}
	return w.ctx
}

// Close ends a handle with a reason.
func (s *Blocking) Close(reason any) {
	if s.Process.Exit(&s.Acting, reason) {
		s.settle()
	}
}

// unwind ends the goroutine of s, which is dead, except that of a handle, which is its user's.
func (s *Blocking) unwind() {
	if s.body != nil {
		runtime.Goexit()
	}
}

// die unwinds the goroutine of a dead process; for a handle it returns what Receive should return.
func (s *Blocking) die() any {
	s.unwind()
	s.Process.Mu.Lock()
	defer s.Process.Mu.Unlock()
	return s.System.Host.Exited(s.Process.PID(), s.Process.ColdPart().Reason)
}

// Receive takes the oldest message, waiting for one if necessary.
func (s *Blocking) Receive() any {
	// Not inlined by a profile: the function of a process would have all of this in its frame, on the small stack that a
	// goroutine starts with.
	//
	// The common case of both kinds, in one function and without a call of process.Blocker: after a switch every return is a
	// mispredicted branch, so each level of calls counts.
	p := &s.Own
	if co := s.Coroutine; co != nil {
		if co.left > 1 && !p.Boxed && s.Worker.Enter() {
			for co.left > 1 && !p.Boxed {
				p.Queue.Rewind()
				msg, ok := p.Queue.Next()
				if !ok && p.Refill() {
					msg, ok = p.Queue.Next()
				}
				if !ok {
					if co.run.Locked() {
						break // pause refuses it
					}
					s.waitsSince()
					if next, yield := s.leave(); next != nil {
						next()
					} else {
						yield(struct{}{})
					}
					if p.Gone() {
						s.Worker.Leave()
						runtime.Goexit()
					}
					continue
				}
				if !Ordinary(msg) {
					break
				}
				co.left--
				p.CountHandled()
				s.drop()
				s.Worker.Leave()
				return msg
			}
			s.Worker.Leave()
		}
	} else {
		s.QueueMu.Lock()
		switch {
		case p.Boxed || !p.Plain(): // see receive
		case p.Queue.Len() != 0:
			p.Queue.Rewind()
			if msg, ok := p.Queue.Next(); ok {
				if n := p.Queue.Drop(); n != nil {
					n.Msg = nil
					s.spare = n
				}
				s.count()
				s.QueueMu.Unlock()
				return msg
			}
		case p.Inbox.Arm():
			s.QueueMu.Unlock()
			s.waitsSince()
			n := (*goroutine)(s).wait()
			s.QueueMu.Lock()
			if n != nil && p.Queue.Len() == 0 && p.Plain() {
				msg := n.Msg
				n.Msg = nil
				s.spare = n
				s.count()
				s.QueueMu.Unlock()
				return msg
			}
			if n != nil {
				p.Queue.Append(n)
			}
		}
		s.QueueMu.Unlock()
	}
	m, err := s.receive(nil, Infinity, begin{})
	if err != nil {
		return s.die()
	}
	return m
}

// ReceiveMatch is Receive for a message for which match returns true.
func (s *Blocking) ReceiveMatch(match func(any) bool) any {
	m, err := s.receive(match, Infinity, begin{})
	if err != nil {
		return s.die()
	}
	return m
}

// ReceiveWithin is ReceiveMatch with a timeout.
func (s *Blocking) ReceiveWithin(d time.Duration, match func(any) bool) (any, error) {
	m, err := s.receive(match, d, begin{})
	s.ended(err)
	return m, err
}

// ended ends a receive with a timeout.
func (s *Blocking) ended(err error) {
	if err == process.ErrExited {
		s.unwind()
	}
	if w := s.waits; w != nil && w.timed.Load()&1 != 0 {
		w.timed.Add(1)
	}
}

// count counts a message that the process takes, and reports to the node from time to time.
func (s *Blocking) count() {
	if s.Process.CountHandled(); s.Process.Handled.Load()%tellTaken == 0 {
		s.Process.System.Tally.Messages(tellTaken)
	}
}

// tellTaken is the number of messages after which they are reported to the node.
const tellTaken = 64

// settle reports the messages that have not been reported to the node. It is called once, at the end of the process's code.
func (s *Blocking) settle() { s.Process.System.Tally.Messages(s.Process.Handled.Load() % tellTaken) }

// receive implements all receives. It is not a method of process.Blocker: called through an interface, match would escape to
// the heap.
func (s *Blocking) receive(match func(any) bool, d time.Duration, from begin) (any, error) {
	if s.Coroutine != nil {
		return (*Coroutine)(s).receive(match, d, from)
	}
	return (*goroutine)(s).receive(match, d, from)
}

// waitsFor is process.Process.WaitsFor for the calls of a blocking process, cheap enough for each call.
func (s *Blocking) waitsFor(k calls.WaitKind, on wire.Dest, t process.Ticket) {
	w := s.waits
	var number uint64
	if p := t.Call.Target; p != nil {
		number = p.ID + 1
	} else {
		s.Own.Mu.Lock()
		w.on = on
		s.Own.Mu.Unlock()
	}
	w.record.Set(k, number, s.Own.System.Clock.Coarse(), t.N)
}

// waitsSince records that a receive begins to wait.
func (s *Blocking) waitsSince() { s.since.Store(uint64(s.Own.System.Clock.Coarse())) }

// waitLocked returns what s waits for in its own code in the state st.
func (s *Blocking) waitLocked(st observe.State) observe.Wait {
	if w := s.waits; w != nil {
		if k, number, since := w.record.Get(&w.call.Promise); k != calls.WaitNone {
			wait := observe.Wait{For: k.String(), Since: time.Unix(0, since)}
			if number != 0 {
				wait.On = s.System.Origin.PID(number - 1)
			} else {
				wait.On = w.on
			}
			return wait
		}
	}
	if since := s.since.Load(); st == observe.Waiting && since != 0 { // otherwise its function has not begun
		return observe.Wait{For: calls.WaitMessage.String(), Since: time.Unix(0, int64(since))}
	}
	return observe.Wait{}
}

// promise returns the promise of the next call that s waits for.
func (s *Blocking) promise() *process.Call {
	p := &s.prepare().call
	p.Waiter, p.Asker = s.Blocks, &s.Own
	return p
}

// Receives reports whether p, a blocking process, waits for a message.
func Receives(p *process.Process) bool {
	st, _ := p.Runner().Doing()
	if st != observe.Waiting {
		return false
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.WaitLocked(st).For == calls.WaitMessage.String()
}

// Timed reports whether p, a blocking process, is within a receive with a timeout that had to wait, and the number of starts
// and ends of these. The caller holds the lock of p.
func Timed(p *process.Process) (within bool, n uint32) {
	var s *Blocking
	switch r := p.Task().(type) {
	case *goroutine:
		s = (*Blocking)(r)
	case *Coroutine:
		s = (*Blocking)(r)
	}
	if s == nil || s.waits == nil {
		return false, 0
	}
	n = s.waits.timed.Load()
	return n&1 != 0, n
}

// Infinity is the timeout that never expires.
const Infinity time.Duration = 1<<63 - 1
