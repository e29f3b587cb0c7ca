package limits

import (
	"fmt"
	"time"
)

// Each peer is checked looksPerStall times per Limits.Stall, for whether it accepts what is sent to it, and whenever too many
// answers are queued for one, or twice as many as the last time.
const (
	looksPerStall = 4
	leastLook     = time.Millisecond
	// If farTooMany times the permitted answers are queued, and the peer accepts nothing for Moment, its connection ends.
	farTooMany = 4
)

// Moment is the time given to a peer with far too much queued.
const Moment = 200 * time.Millisecond

// LookEvery is the maximum interval at which the driver checks the peers.
func (q *Quota) LookEvery() time.Duration { return max(q.Stall()/looksPerStall, leastLook) }

// Look is the state of a peer as seen by the driver.
type Look struct {
	At      time.Time
	Steady  bool // there is a connection, and Sent and Unsent measure what it has accepted
	Sent    uint64
	Unsent  int  // bytes of Sent that the system has not sent yet
	Waits   int  // queued bytes
	Limit   int  // queued bytes above which its senders wait
	Held    bool // senders wait, until much less than Limit is queued
	Answers int  // bytes of queued answers
	Longest int  // the longest answer
	Unacked bool // it does not acknowledge removed links
}

// progress is how much a peer had accepted, and when.
type progress struct {
	at     time.Time // zero if not checked yet
	sent   uint64
	unsent int
}

// Backlog is the state of a peer that accepts less than is sent to it. It belongs to the driver.
type Backlog struct {
	moved   progress // when it last accepted something, or no sender waited
	answers progress // when too many answers were first queued
}

// Again returns when the driver must check the peer again: before, or earlier if too many answers are queued for it.
func (b *Backlog) Again(before time.Duration) time.Duration {
	if b.answers.at.IsZero() {
		return before
	}
	return min(before, Moment)
}

// Judge returns why the connection to a peer must end, or nil.
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

// tooManyAnswers reports whether too many answers are queued. The longest does not count, because a peer may request one that
// is longer than the limit. The others are too many if they exceed the limit and would not be sent within Stall at the rate
// at which the peer accepts data; if they far exceed it, and it has accepted nothing for a moment; and if they exceed its
// share, while the sum for all peers exceeds its limit. In the last case the longest counts, too, if the peer has accepted
// nothing for a moment.
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

// bytesText formats a number of bytes for people.
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
