package node

import (
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

// parcel is a run of messages from a peer to one actor, which are put into its
// mailbox together: the cost of that is the same for one and for many. It is the
// reader's, which keeps a parcel only while more has come in already, and delivers
// it before it does anything else.
type parcel struct {
	to    PID
	q     *proc // nil: there is no parcel
	chain mailbox.Chain
	owed  int // messages that have been delivered, for the reader to handle
	dear  int // it handles the one that is so many parcels from now, and none before
	pause int // dear, when it was last set
}

// parcelSize is how many messages a parcel has, at most: so many come late by the
// time that it takes to read them.
const parcelSize = 64

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
func (p *peer) pack(f *wire.Frame, more bool) bool {
	b := &p.parcel
	if b.q == nil && !more || f.Op != wire.OpSend || f.ID != 0 || f.Token != nil || f.Name != "" || !f.Ref.IsZero() {
		return false
	}
	if b.q == nil {
		q := p.n.lookup(f.To)
		if q == nil || q.boxed || q.kind >= blocked {
			return false
		}
		b.to, b.q = f.To, q
	} else if f.To != b.to {
		return false
	}
	if _, reply := replyTag(f.Payload); reply || p.n.traces() != nil {
		return false
	}
	b.chain.Add(p.letter(f.Payload))
	if more && p.batch != nil {
		p.fill()
		more = p.ahead.More()
	}
	if !more || b.chain.Len() == parcelSize {
		p.deliverParcel()
	}
	return true
}

// fill adds the binaries that are sent to the parcel's process next.
func (p *peer) fill() {
	b := &p.parcel
	n := p.batch.Batch(b.to, p.msgs[:parcelSize-b.chain.Len()])
	for _, msg := range p.msgs[:n] {
		b.chain.Add(p.letter(msg))
	}
	clear(p.msgs[:n])
	p.flow.read(n)
}

// deliverParcel delivers what there is.
func (p *peer) deliverParcel() {
	b := &p.parcel
	q := b.q
	if q == nil {
		return
	}
	b.q = nil
	chain := b.chain
	b.chain = mailbox.Chain{}
	b.dear = max(0, b.dear-1)
	n := chain.Len()
	if n == 0 {
		return
	}
	switch q.in.PushChain(&chain) {
	case mailbox.Wake:
		if b.dear > 0 || q.kind != staged {
			q.wake(nil)
		} else {
			b.owed = n
			p.reader.Inject(&q.Entity)
		}
	case mailbox.Closed:
		for n := range chain.All() {
			p.n.undeliverable(b.to, n)
		}
	}
}

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
