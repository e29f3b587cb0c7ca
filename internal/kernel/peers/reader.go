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

// ReaderNode is what a reader asks of the node that it reads for.
type ReaderNode interface {
	// Handle does what a frame asks for. It waits for nothing. An error ends the connection.
	Handle(f *dist.Frame) error
	// IsPlain reports whether a message is for the process that it is sent to and nobody else
	// has to see it: it answers no request, and nothing is traced.
	IsPlain(msg any) bool
	// Received returns the plain message of a frame as to, the process that it is for, gets it, a
	// call among them.
	Received(f *dist.Frame, to ReaderTarget) any
	// Target returns a process of this node that takes messages several at a time, nil: there
	// is none.
	Target(to wire.PID) ReaderTarget
	// Leave is the end of the reader.
	Leave()
}

// ReaderConfig is what a reader needs. All of it is set.
type ReaderConfig struct {
	Peer  *Peer
	Link  dist.Link
	Node  ReaderNode
	Pool  *executor.Pool
	Env   env.Env
	Awake time.Duration // for how long it spins; below 0: not at all
	Spins *atomic.Bool  // a reader of the node spins
}

// Reader reads from one connection. All its methods are for the goroutine that is the reader.
type Reader struct {
	cfg      ReaderConfig
	free     inbox.Free // nodes to be used
	batch    batch
	share    share
	round    round
	self     *executor.InlineWorker // the reader as the pool knows it
	inline   *executor.InlineWorker // self, or nil: workers run what the frame at hand sets off
	last     bool                   // nothing has come yet behind the frame at hand, which is in no batch
	ahead    links.LookAhead        // nil: the link has none
	source   links.BatchReader      // nil: the link has none, or is not ahead
	spin     Spin
	deferred int // frames whose answers have not been sent
}

// NewReader returns a reader that has not begun.
func NewReader(cfg ReaderConfig) *Reader { return &Reader{cfg: cfg} }

// Inline returns the worker by which the reader itself runs what the frame at hand sets off, nil:
// workers do.
func (r *Reader) Inline() *executor.InlineWorker { return r.inline }

// Run reads until the connection is over.
func (r *Reader) Run() {
	reader := true
	defer func() {
		if reader {
			r.cfg.Node.Leave()
		}
	}()
	r.Begin()
	var f dist.Frame // one for all, which nobody keeps
	yield := r.yield
	for {
		if r.deferred >= mostDeferred || !r.more() {
			r.flushAnswers()
		}
		if r.last { // so perhaps somebody waits for the next
			r.spinForNext(yield)
		}
		err := r.cfg.Link.Read(&f)
		if r.cfg.Peer.IsOver() { // what comes late would be out of order
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
		reader = false // now there may be another
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

// more reports whether there is a further frame to be read at once.
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

// goOn is Run in the place of a reader that a handler keeps: the goroutine of the new reader.
func (r *Reader) goOn() {
	r.flushAnswers()
	r.Run()
}

// hasWork reports whether Help may have something to run.
func (r *Reader) hasWork() bool {
	return r.inline != nil || r.round.frames > 0 && r.round.mine || r.batch.owed > 0
}

// deferAnswers has the answers to one more frame wait.
func (r *Reader) deferAnswers() {
	if r.deferred++; r.deferred == 1 {
		r.cfg.Peer.Box.Defer()
	}
}

// flushAnswers sends the answers that have waited.
func (r *Reader) flushAnswers() {
	if r.deferred > 0 {
		r.deferred = 0
		r.cfg.Peer.Box.EndDefer()
	}
}

// spinForNext spins for what comes next, if the policy says so. A goroutine to which the last
// message may have gone runs meanwhile, and what it sends is sent: yield does that.
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
