package peers

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ReaderTarget is a process whose mailbox accepts several messages at a time.
type ReaderTarget interface {
	Inbox() *inbox.Inbox
	// Stages returns what runs it on stages, or nil if something else runs it.
	Stages() *executor.Entity
	// Wake makes it run, after its inbox has requested that.
	Wake()
	// Undeliverable is called with a message that arrives after the inbox was closed.
	Undeliverable(msg any)
}

// batch is a sequence of messages from a peer to one actor, which are put into its mailbox together: unless they are few, at
// the cost of one. The reader keeps a batch only while more frames have already arrived, and delivers it before it does
// anything else. The first messages of a batch, of [inbox.RunSize] at most, are delayed by the time it takes to read the
// others.
type batch struct {
	to     wire.PID
	target ReaderTarget // nil if there is no batch
	run    inbox.Run    // its messages; zero before the first batch
	began  time.Time    // when its first message had been read
	owed   int          // number of delivered messages that the reader is to handle
}

// Pack puts the message of f into the batch, if it belongs there. more reports that further frames can be read at once.
func (r *Reader) Pack(f *dist.Frame, more bool) bool {
	b := &r.batch
	if b.target == nil && !more || f.Op != dist.OpSend || f.ID != 0 || f.Token != nil || f.Name != "" || !f.Ref.IsZero() {
		return false
	}
	if b.target != nil && f.To != b.to || !r.cfg.Node.IsPlain(f.Payload) {
		return false
	}
	if b.target == nil {
		t := r.cfg.Node.Target(f.To)
		if t == nil {
			return false
		}
		b.to, b.target, b.began = f.To, t, r.cfg.Env.Now()
	}
	if b.run == (inbox.Run{}) {
		b.run = inbox.NewRun()
	}
	b.run.Add(r.cfg.Node.Received(f, b.target))
	if more && r.source != nil {
		r.fill()
		more = r.ahead.More()
	}
	if !more || b.run.Len() == inbox.RunSize {
		r.Deliver()
	}
	return true
}

// fill adds the following binaries to the batch's process.
func (r *Reader) fill() {
	b := &r.batch
	n := r.source.Batch(b.to, b.run.Unused())
	b.run.Fill(n)
	r.cfg.Peer.Flow.Read(n)
}

// Deliver delivers the batch, if there is one.
func (r *Reader) Deliver() {
	b := &r.batch
	t := b.target
	if t == nil {
		return
	}
	b.target = nil
	n := b.run.Len()
	if n >= inbox.LeastRun {
		r.share.read(r.cfg.Env.Since(b.began), n-1)
	}
	mine := r.share.next()
	switch e := t.Stages(); {
	case !r.put(t):
	case !mine || e == nil:
		t.Wake()
	default:
		b.owed = n
		r.self.Inject(e)
	}
}

// put puts the batch into a mailbox. It reports whether the process must be woken.
func (r *Reader) put(t ReaderTarget) (wake bool) {
	b, in := &r.batch, t.Inbox()
	if b.run.Len() >= inbox.LeastRun {
		if result := in.PushRun(b.run); result != mailbox.Closed {
			b.run = inbox.Run{}
			return result == mailbox.Wake
		}
	}
	for msg := range b.run.All() {
		switch in.Push(r.InboxNode(msg)) {
		case mailbox.Wake:
			wake = true
		case mailbox.Closed:
			t.Undeliverable(msg)
		}
	}
	b.run.Clear()
	return wake
}

// InboxNode returns msg in a node for a mailbox: one that a stage has recycled, if there is any. New ones are allocated one
// by one: one node of a larger allocation would keep all of it in memory.
func (r *Reader) InboxNode(msg any) *inbox.Node {
	if r.free.Len() == 0 {
		r.cfg.Pool.Refill(&r.free)
	}
	return r.free.Get(msg)
}

// Owed returns the number of messages of a batch that the reader is to handle.
func (r *Reader) Owed() int { return r.batch.owed }
