package node

import (
	"time"

	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/wire/dist"
)

// parcel is a run of messages from a peer to one actor, which are put into its
// mailbox together: if they are not a few, at the cost of one. It is the
// reader's, which keeps a parcel only while more has come in already, and delivers
// it before it does anything else. The first messages of a parcel, [inbox.RunSize] at
// most, come late by the time that it takes to read the others.
type parcel struct {
	to    PID
	q     *proc     // nil: there is no parcel
	run   inbox.Run // its messages; zero: there has been none yet
	owed  int       // messages that have been delivered, for the reader to handle
	dear  int       // it handles the one that is so many parcels from now, and none before
	pause int       // dear, when it was last set
}

// What the messages of a parcel set off the reader does itself, as what a lone one sets
// off, while that takes little longer than to hand them to another goroutine does: then
// they are handled in the cache into which they have been read, and none wait. If it has
// taken more than cheap for each message of a parcel, it tries once more with the next
// one; if that happens again, with the second after it, then the fourth, and so on up to
// mostDear, and workers do those between, while the reader reads on.
// Time in which the reader did not run counts too: nothing cheaper tells them apart.
const (
	cheap    = 150 * time.Nanosecond
	mostDear = 64
)

// pack puts the message of f into the parcel, if it may go there. more: there are
// further frames to be read at once.
func (p *peer) pack(f *dist.Frame, more bool) bool {
	b := &p.parcel
	if b.q == nil && !more || f.Op != dist.OpSend || f.ID != 0 || f.Token != nil || f.Name != "" || !f.Ref.IsZero() {
		return false
	}
	q := b.q
	if q == nil {
		q = p.n.lookup(f.To)
		if q == nil || q.boxed || q.kind >= blocked || q.showsPeer {
			return false
		}
	} else if f.To != b.to {
		return false
	}
	if _, reply := gencall.ReplyRef(f.Payload); reply || p.n.traces() != nil {
		return false
	}
	b.to, b.q = f.To, q
	if b.run == (inbox.Run{}) {
		b.run = inbox.NewRun()
	}
	b.run.Add(f.Payload)
	if more && p.batch != nil {
		p.fill()
		more = p.ahead.More()
	}
	if !more || b.run.Len() == inbox.RunSize {
		p.deliverParcel()
	}
	return true
}

// fill adds the binaries that are sent to the parcel's process next.
func (p *peer) fill() {
	b := &p.parcel
	n := p.batch.Batch(b.to, b.run.Room())
	b.run.Fill(n)
	p.Flow.Read(n)
}

// deliverParcel delivers what there is.
func (p *peer) deliverParcel() {
	b := &p.parcel
	q := b.q
	if q == nil {
		return
	}
	b.q = nil
	b.dear = max(0, b.dear-1)
	n := b.run.Len()
	switch {
	case !p.putParcel(q):
	case b.dear > 0 || q.kind != staged:
		q.wake(&q.node.acting)
	default:
		b.owed = n
		p.reader.Inject(&q.Entity)
	}
}

// putParcel puts what there is into q's mailbox. It reports whether q must be woken.
func (p *peer) putParcel(q *proc) (wake bool) {
	b := &p.parcel
	if b.run.Len() >= inbox.LeastRun {
		if r := q.in.PushRun(b.run); r != mailbox.Closed {
			b.run = inbox.Run{}
			return r == mailbox.Wake
		}
	}
	for msg := range b.run.All() {
		switch q.in.Push(p.letter(msg)) {
		case mailbox.Wake:
			wake = true
		case mailbox.Closed:
			p.n.undeliverable(b.to, msg)
		}
	}
	b.run.Clear()
	return wake
}

// owes reports whether help may have something to run.
func (p *peer) owes() bool { return p.guest != nil || p.parcel.owed > 0 }

// help runs what the frames that have been delivered have set off, unless workers do.
// False: a handler keeps this goroutine, and another one is the reader.
func (p *peer) help() bool {
	owed := p.parcel.owed
	if owed == 0 {
		return p.reader.Help()
	}
	p.parcel.owed = 0
	start := time.Now()
	still := p.reader.Help()
	switch b := &p.parcel; {
	case !still: // it is the other one's
	case time.Since(start) <= cheap*time.Duration(owed):
		b.pause = 0
	default:
		b.pause = min(max(1, 2*b.pause), mostDear)
		b.dear = b.pause
	}
	return still
}
