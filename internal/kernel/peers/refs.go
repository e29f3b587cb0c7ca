package peers

import "github.com/actornode/actornode/wire"

// The reference of a call has four words. Three hold its number, as in every reference of this node; the upper bits of the
// third are free for a mark, which identifies the connection over which the call was sent. So an answer that comes another
// way finds the call. The fourth word is random: only nodes that were given the reference know it.

const (
	markShift = 14 // the bits of a number in the third word
	maxMark   = 1<<(32-markShift) - 1
)

// CallRef returns the reference with that number for a call over p.
func (p *Peer) CallRef(number uint64) wire.Ref {
	return marked(p.c.cfg.Origin, number, p.mark, p.c.cfg.Env.Uint32())
}

func marked(o wire.Origin, number uint64, mark, secret uint32) wire.Ref {
	return o.Ref(uint32(number)&0x3ffff, uint32(number>>18), uint32(number>>50)|mark<<markShift, secret)
}

// markOf returns the mark of a reference, or 0 if it has none.
func markOf(ref wire.Ref) uint32 {
	var buf [wire.MaxRefWords]uint32
	if w := ref.AppendWords(buf[:0]); len(w) == 4 {
		return w[2] >> markShift
	}
	return 0
}

// markLocked assigns p a mark that no other peer has.
func (c *Cluster) markLocked(p *Peer) {
	for {
		if c.mark++; c.mark > maxMark {
			c.mark = 1
		}
		if c.marks[c.mark] == nil {
			p.mark, c.marks[c.mark] = c.mark, p
			return
		}
	}
}

// markedBy returns the peer over whose connection the call with that reference was sent, or nil if there is none.
func (c *Cluster) markedBy(ref wire.Ref) *Peer {
	mark := markOf(ref)
	if mark == 0 || !c.cfg.Origin.Equal(ref.Origin()) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.marks[mark]
}

// answer settles the call with the reference ref, after an answer that has not come over the connection by which the call was
// sent. It reports whether there is such a call.
func (c *Cluster) answer(ref wire.Ref, v any, err error) bool {
	p := c.markedBy(ref)
	if p == nil {
		return false
	}
	p.mu.Lock()
	r, f, ok := p.tables.AnsweredElsewhere(ref)
	p.putIf(f, ok)
	p.mu.Unlock()
	return r != nil && r.Ticket.Settle(&p.System.Plain, v, err)
}
