package limits

import (
	"fmt"
	"time"
)

// Peers are looked at looksPerStall times in Limits.Stall, whether they take what
// is sent to them, and whenever the answers that wait for one are too many, or twice as
// many as the last time.
const (
	looksPerStall = 4
	leastLook     = time.Millisecond
	// farTooMany times as many answers as may wait are not waited for if the peer takes
	// nothing for Moment.
	farTooMany = 4
)

// Moment is how long a peer is given that has far too much waiting for it.
const Moment = 200 * time.Millisecond

// LookEvery is how often the driver looks at the peers, at least.
func (q *Quota) LookEvery() time.Duration { return max(q.Stall()/looksPerStall, leastLook) }

// Look is what the driver sees of a peer.
type Look struct {
	At      time.Time
	Steady  bool // there is a connection, and Sent and Unsent say what it has taken
	Sent    uint64
	Unsent  int  // bytes of Sent that the system has not sent yet
	Waits   int  // bytes
	Limit   int  // how many bytes may wait for it until its senders are held up
	Held    bool // senders are: they wait until much less than Limit waits
	Answers int  // bytes of answers among those that wait
	Longest int  // of the answers
	Unacked bool // it does not acknowledge that links are gone
}

// progress is how much a peer had taken of what is sent to it, and when.
type progress struct {
	at     time.Time // zero: it has not been looked at
	sent   uint64
	unsent int
}

// Backlog is what is known of a peer that takes less than is sent to it. It belongs to the
// driver.
type Backlog struct {
	moved   progress // when it has taken something for the last time, or no sender waited
	answers progress // since when too many answers wait
}

// Again returns when the driver is to look at the peer again, if before: too many answers
// wait for it.
func (b *Backlog) Again(before time.Duration) time.Duration {
	if b.answers.at.IsZero() {
		return before
	}
	return min(before, Moment)
}

// Judge says why the connection to a peer must end, or nil.
func (q *Quota) Judge(b *Backlog, l Look) error {
	t, was := progress{l.At, l.Sent, l.Unsent}, &b.moved
	stuck := l.Waits > l.Limit || l.Held && l.Waits > 0
	if !l.Steady || !stuck || was.at.IsZero() || t.sent != was.sent || t.unsent != was.unsent {
		*was = t
	} else if still := l.At.Sub(was.at); still >= q.Stall() {
		q.Stalls.Refuse()
		return fmt.Errorf("the peer took nothing for %v while %s waited to be sent (limits.stall)", still.Round(time.Millisecond),
			bytesText(l.Waits))
	}
	if l.Unacked {
		q.Links.Refuse()
		return fmt.Errorf("the peer does not acknowledge removed links: %d wait (limits.links)", 2*q.Links.Max())
	}
	if q.tooManyAnswers(b, t, l) {
		q.Answers.Refuse()
		return fmt.Errorf("the peer does not read its answers: %s of them wait, %s are allowed (limits.answers)",
			bytesText(l.Answers), bytesText(q.Room(int(q.Answers.Max()))))
	}
	return nil
}

// tooManyAnswers reports whether the answers that wait are too many. The longest does not
// count, for a peer may ask for one that is longer than all that may wait. The others are too
// many when more of them wait than may, and at the rate at which the peer takes something
// they would not be gone within Stall; when far more wait, and it has taken nothing for a
// moment; and when more wait than its share, while more waits for all peers than may. Then the
// longest counts, too, if the peer has taken nothing for a moment.
func (q *Quota) tooManyAnswers(b *Backlog, t progress, l Look) bool {
	was := &b.answers
	most, others, over := int(q.Answers.Max()), l.Answers-l.Longest, q.Queued.Over()
	if others <= most && (!over || l.Answers <= q.share()) {
		*was = progress{}
		return false
	}
	if was.at.IsZero() {
		*was = t
	}
	moved := max(0, int64(t.sent-was.sent)-int64(t.unsent-was.unsent))
	passed := t.at.Sub(was.at)
	rests := t.at.Sub(b.moved.at) >= min(Moment, q.LookEvery())
	switch {
	case over && others > q.share():
		return true
	case rests && (others > farTooMany*most || over && l.Answers > q.share()):
		return true
	case passed < q.LookEvery():
		return false
	case float64(l.Waits)*passed.Seconds() > float64(moved)*q.Stall().Seconds():
		return true
	}
	*was = t
	return false
}

// bytesText is a number of bytes for people.
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
