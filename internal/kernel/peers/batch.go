package peers

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ReaderTarget is a process whose messages may be put into its mailbox several at a time.
type ReaderTarget interface {
	Inbox() *inbox.Inbox
	// Stages is what runs it on stages; nil: it is run by something else.
	Stages() *executor.Entity
	// Wake has it run, for its inbox has said so.
	Wake()
	// Undeliverable is told of a message for which the inbox is closed.
	Undeliverable(msg any)
}

// batch is a run of messages from a peer to one actor, which are put into its
// mailbox together: if they are not a few, at the cost of one. The reader keeps a batch only
// while more has come in already, and delivers it before it does anything else. The first
// messages of a batch, [inbox.RunSize] at most, come late by the time that it takes to read the
// others.
type batch struct {
	to     wire.PID
	target ReaderTarget // nil: there is no batch
	run    inbox.Run    // its messages; zero: there has been none yet
	began  time.Time    // when its first message had been read
	owed   int          // messages that have been delivered, for the reader to handle
}

// Pack puts the message of f into the batch, if it may go there. more: there are
// further frames to be read at once.
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

// fill adds the binaries that are sent to the batch's process next.
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

// InboxNode returns a message as a mailbox takes it: in a node that a stage has recycled, if
// there are any. New ones are made one by one: of some that are made together the last that is
// kept would keep all.
func (r *Reader) InboxNode(msg any) *inbox.Node {
	if r.free.Len() == 0 {
		r.cfg.Pool.Refill(&r.free)
	}
	return r.free.Get(msg)
}

// Owed returns how many messages of a batch are the reader's to handle.
func (r *Reader) Owed() int { return r.batch.owed }
