package peers

import (
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ReaderNode is the node that a reader reads for.
type ReaderNode interface {
	// Handle executes a frame without waiting. An error ends the connection.
	Handle(f *dist.Frame) error
	// IsPlain reports whether a message is only for the process that it is sent to: it answers no request, and tracing is off.
	IsPlain(msg any) bool
	// Received returns the plain message of a frame, which may be a call, as delivered to the process to.
	Received(f *dist.Frame, to ReaderTarget) any
	// Target returns a process of this node that accepts several messages at a time, or nil if to is not one.
	Target(to wire.PID) ReaderTarget
	// Leave is called at the end of the reader.
	Leave()
}

// ReaderConfig configures a reader. All fields are required.
type ReaderConfig struct {
	Peer  *Peer
	Link  dist.Link
	Node  ReaderNode
	Pool  *executor.Pool
	Env   env.Env
	Awake time.Duration // how long it spins; negative for not at all
	Spins *atomic.Bool  // a reader of the node is spinning
}

// Reader reads from one connection. Its methods must only be called on the goroutine that is the reader.
type Reader struct {
	cfg      ReaderConfig
	free     inbox.Free // unused nodes
	batch    batch
	share    share
	round    round
	self     *executor.InlineWorker // the reader as the pool's inline worker
	inline   *executor.InlineWorker // self, or nil if workers run what the current frame wakes
	last     bool                   // nothing more has arrived after the current frame, which is in no batch
	ahead    links.LookAhead        // nil if the link does not support it
	source   links.BatchReader      // nil if the link does not support it, or ahead is nil
	spin     Spin
	deferred int // frames whose answers have not been sent
}

// NewReader returns a reader that has not started.
func NewReader(cfg ReaderConfig) *Reader { return &Reader{cfg: cfg} }

// Inline returns the worker by which the reader itself runs what the current frame wakes, or nil if workers do.
func (r *Reader) Inline() *executor.InlineWorker { return r.inline }

// Run reads until the connection has ended.
func (r *Reader) Run() {
	reader := true
	defer func() {
		if reader {
			r.cfg.Node.Leave()
		}
	}()
	r.Begin()
	var f dist.Frame // reused for all frames; nothing keeps it
	yield := r.yield
	for {
		if r.deferred >= mostDeferred || !r.more() {
			r.flushAnswers()
		}
		if r.last { // so a process may be waiting for the next
			r.spinForNext(yield)
		}
		err := r.cfg.Link.Read(&f)
		if r.cfg.Peer.IsOver() { // late frames would be out of order
			r.flushAnswers()
			return
		}
		more, packed := false, false
		if err == nil {
			r.cfg.Peer.Flow.Read(1)
			more = r.more()
			packed = r.Pack(&f, more)
		}
		r.inline, r.last = nil, false
		if packed && r.batch.owed == 0 && (r.round.frames == 0 || r.more()) {
			if r.deferred > 0 {
				r.deferred++
			}
			continue
		}
		r.deferAnswers()
		if !packed {
			r.last = !more && r.batch.target == nil
			r.gather()
			r.Deliver()
			if err == nil {
				err = r.cfg.Node.Handle(&f)
			}
			if err == nil && more && r.batch.owed == 0 && r.round.frames < mostGathered {
				continue
			}
		}
		if err != nil {
			r.cfg.Peer.End(err)
		}
		if r.hasWork() && (r.deferred > 1 || !packed && r.batch.owed > 0) { // a handler may take long
			r.flushAnswers()
			r.deferAnswers()
		}
		reader = false // now another goroutine may become the reader
		if !r.Help() {
			return
		}
		reader = true
		if err != nil {
			r.flushAnswers()
			return
		}
	}
}

// more reports whether another frame can be read at once.
func (r *Reader) more() bool { return r.ahead != nil && r.ahead.More() }

// Begin makes the calling goroutine the reader.
func (r *Reader) Begin() {
	r.self, r.inline, r.last = r.cfg.Pool.NewInlineWorker(func() { r.cfg.Env.Go(r.goOn) }), nil, false
	r.ahead, _ = r.cfg.Link.(links.LookAhead)
	if r.ahead != nil {
		r.source, _ = r.cfg.Link.(links.BatchReader)
	}
	r.spin.Link, _ = r.cfg.Link.(links.BusyReader)
	r.spin.Env = r.cfg.Env
}

// goOn is Run on the goroutine of a new reader, after a handler has kept the old one's.
func (r *Reader) goOn() {
	r.flushAnswers()
	r.Run()
}

// hasWork reports whether Help may have something to run.
func (r *Reader) hasWork() bool {
	return r.inline != nil || r.round.frames > 0 && r.round.mine || r.batch.owed > 0
}

// deferAnswers defers the answers to one more frame.
func (r *Reader) deferAnswers() {
	if r.deferred++; r.deferred == 1 {
		r.cfg.Peer.Box.Defer()
	}
}

// flushAnswers sends the deferred answers.
func (r *Reader) flushAnswers() {
	if r.deferred > 0 {
		r.deferred = 0
		r.cfg.Peer.Box.EndDefer()
	}
}

// spinForNext spins for the next frame, if the policy says so. Meanwhile a goroutine to which the last message may have been
// delivered runs, and its messages are sent: yield does that.
func (r *Reader) spinForNext(yield func()) {
	if r.self.Ran() {
		r.spin.Await(r.cfg.Awake, r.cfg.Spins, nil)
		return
	}
	r.cfg.Peer.Box.Defer()
	r.spin.Await(r.cfg.Awake, r.cfg.Spins, yield)
	r.cfg.Peer.Box.EndDefer()
}

// yield lets others run while the reader spins and defers, and sends what they have written.
func (r *Reader) yield() {
	r.spin.yield(r.cfg.Awake)
	r.cfg.Peer.Box.Yield()
}
