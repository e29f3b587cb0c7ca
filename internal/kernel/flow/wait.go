package flow

import (
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"

	"github.com/actornode/actornode/wire"
)

// Wait is the wait of one sender, which must not send before it is released: see [Box.Space].
type Wait struct {
	Over  chan struct{} // closed when it is released
	Again bool          // then it must ask for space again

	cost int  // size of its last message, as an estimate of the next
	gone bool // released, or forgotten; guarded by Box.mu
}

// waits are the waiting senders, each with one Wait in space, or in behind and possibly crowd. Released waits cost the others
// nothing. The Box's lock guards them.
type waits struct {
	space  ring.Ring[*Wait]     // for space, in order
	behind map[wire.PID][]*Wait // behind long messages of their own, by sender, in order; no empty values
	crowd  ring.Ring[*Wait]     // those of behind that wait until the sum of all has decreased, in order
	held   int                  // number of unreleased waits
}

// let releases one of r, and further ones while there is space for their next messages.
func (s *waits) let(r *ring.Ring[*Wait], room int) {
	for r.Len() > 0 {
		if w := r.Shift(); s.release(w) {
			if room -= w.cost; room <= 0 {
				return
			}
		}
	}
}

// release releases a sender, if it still waits.
func (s *waits) release(w *Wait) bool {
	if w.gone {
		return false
	}
	w.gone = true
	s.held--
	close(w.Over)
	return true
}

// wrote releases senders, after the writer holds less of the sender from.
func (s *waits) wrote(b *backlog, from wire.PID) {
	if own := s.behind[from]; len(own) > 0 && !b.isBehind(from) {
		n := 1
		if b.behind[from] == 0 {
			n = len(own) // nothing follows that would let the others go
		}
		for _, w := range own[:n] {
			s.release(w)
		}
		if s.behind[from] = own[n:]; n == len(own) {
			delete(s.behind, from)
		}
	}
	if room := behindSum*b.quota.Room(b.limit) - b.sum; room >= 0 {
		s.let(&s.crowd, room)
	}
}

// end releases all.
func (s *waits) end() {
	for s.space.Len() > 0 {
		s.release(s.space.Shift())
	}
	for _, own := range s.behind {
		for _, w := range own {
			s.release(w)
		}
	}
	s.behind, s.crowd = nil, ring.Ring[*Wait]{}
}

// Space returns a Wait if the box is over its limit, or the sender has too much queued behind a long message of its own, and
// nil otherwise. msg is what it has sent last, or nil for a signal.
func (b *Box) Space(sender wire.PID, msg any) *Wait {
	if full, behind := b.holdsUp(sender); !full && !behind {
		return nil
	}
	w := &Wait{Over: make(chan struct{}), cost: frameSize + mailbox.Size(msg)}
	b.mu.Lock()
	defer b.mu.Unlock()
	full, behind := b.holdsUpLocked(sender)
	switch {
	case behind:
		w.Again = true
		if b.waits.behind == nil {
			b.waits.behind = make(map[wire.PID][]*Wait)
		}
		b.waits.behind[sender] = append(b.waits.behind[sender], w)
		if !b.backlog.isOver(sender) {
			b.waits.crowd.Push(w)
		}
	case full:
		b.waits.space.Push(w)
	default:
		return nil
	}
	b.waits.held++
	b.on(Needed)
	return w
}

func (b *Box) holdsUp(sender wire.PID) (full, behind bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holdsUpLocked(sender)
}

func (b *Box) holdsUpLocked(sender wire.PID) (full, behind bool) {
	if b.backlog.over {
		return false, false
	}
	return b.level.Load() > int64(b.backlog.quota.Room(b.backlog.limit)), b.backlog.isBehind(sender)
}

// Forget is for a sender that no longer waits.
func (b *Box) Forget(w *Wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.gone {
		w.gone = true
		b.waits.held--
	}
}
