package flow

import (
	"unsafe"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// backlog counts what waits for a peer, and decides which senders must wait. All counts are
// bytes. It has no lock: the Box's lock guards it.
//
// Invariants:
//
//  1. reported is what the quota knows of. It differs from what waits by less than
//     limits.Step, but for what has been sent since the writer's last pass. It is 0 when
//     nothing waits, and when the backlog is over.
//  2. Nobody is held up for an answer, which any frame is but a message that does not say
//     otherwise. What waits of them, beside the first bytes up to limit in the link, is
//     counted in answers, then in answersTaken or answersBehind. longest is the largest of
//     them, or of those that have gone since some have waited.
type backlog struct {
	limit int           // set once
	quota *limits.Quota // set once; nil: none
	over  bool

	queued int              // in the queue, estimated
	linked int              // in the link since the writer's last pass, as last seen
	taken  int              // that the writer's last pass has taken
	behind map[wire.PID]int // by sender, that the writer holds behind long messages; nothing of 0
	sum    int              // of behind

	reported int // see invariant 1

	answers       int // since the last pass; so many more in answersTaken, answersBehind
	answersTaken  int
	answersBehind int
	longest       int // of one answer
	asked         int // answers when the quota was last asked to look
}

// Waiting is what waits in a Box at one moment, in bytes.
type Waiting struct {
	Outside int // of the link, and in the writer's hands
	Linked  int // in the link when it was last seen, or taken from there by the writer's pass that goes on
	Answers int // of all
	Longest int // of the answers
}

func (b *backlog) waiting() Waiting {
	answers := b.answers + b.answersTaken + b.answersBehind
	return Waiting{b.taken + b.queued + b.sum, b.linked, answers, min(b.longest, answers)}
}

// write notes that the link holds n bytes after f, nil: after a message. It reports whether
// the sender is to wait.
func (b *backlog) write(n int, f *dist.Frame) (full bool) {
	b.linked = n
	b.report()
	full = b.full(n)
	if full && f != nil && isAnswer(f) {
		b.answered(frameCost(f))
	}
	return full
}

// queue notes that f, which costs so much, is in the queue. It reports whether its sender is to
// wait.
func (b *backlog) queue(f *dist.Frame, cost int) (full bool) {
	b.queued += cost
	b.report()
	if isAnswer(f) {
		b.answered(cost)
	}
	return b.full(b.queued) || b.isBehind(f.From)
}

// hold notes that the writer holds f, which costs so much, behind a long message; less than
// nothing: no longer.
func (b *backlog) hold(f *dist.Frame, cost int) {
	b.sum += cost
	b.report()
	if isAnswer(f) {
		b.answersBehind += cost
	}
	if b.behind == nil {
		b.behind = make(map[wire.PID]int)
	}
	if b.behind[f.From] += cost; b.behind[f.From] == 0 {
		delete(b.behind, f.From)
	}
}

// take notes that a pass of the writer takes the queue, and what the link holds; left is what
// the link has of long messages beside.
func (b *backlog) take(left int) {
	b.pass(b.linked + b.queued + left)
	b.queued = 0
}

// pass begins a pass that has taken so many bytes: those of the one before have gone. What is
// in the queue counts as taken.
func (b *backlog) pass(taken int) {
	if b.answers > 0 || b.answersTaken > 0 {
		b.answersTaken, b.answers = b.answers, 0
		if b.answersTaken+b.answersBehind < b.asked/2 {
			b.asked = 0
		}
		if b.answersTaken+b.answersBehind == 0 {
			b.longest = 0
		}
	}
	if taken == 0 && b.taken == 0 && b.reported == 0 {
		return
	}
	b.taken, b.linked = taken, 0
	queued := b.queued
	b.queued = 0
	b.report()
	b.queued = queued
}

// busy reports whether the writer's last pass has something in hand. The writer, which alone
// changes that, may ask without the lock.
func (b *backlog) busy() bool { return b.taken != 0 || b.answersTaken != 0 }

// settle notes that what the last pass has taken has gone, and nothing is left.
func (b *backlog) settle() {
	b.taken, b.answersTaken = 0, 0
	b.report()
}

// end notes that nothing waits any more.
func (b *backlog) end() {
	b.over = true
	b.quota.Change(b.reported, 0)
	b.reported = 0
}

// full reports whether n bytes are more than may wait.
func (b *backlog) full(n int) bool {
	if n > b.limit {
		return true
	}
	if n > b.quota.Room(b.limit) {
		b.quota.Queued.Refuse()
		return true
	}
	return false
}

// report tells the quota what waits, if that has changed by much.
func (b *backlog) report() {
	if b.over {
		return
	}
	now := b.linked + b.taken + b.queued + b.sum
	if change := now - b.reported; change >= limits.Step || change <= -limits.Step || now == 0 && b.reported != 0 {
		b.quota.Change(b.reported, now)
		b.reported = now
	}
}

// soft returns up to how many bytes in the link there is nothing to note about them.
func (b *backlog) soft() int { return min(b.limit, b.linked+limits.Step) }

// answered counts an answer, and has the peer looked at if too many wait.
func (b *backlog) answered(cost int) {
	b.answers += cost
	b.longest = max(b.longest, cost)
	if q := b.quota; q != nil {
		if n := b.answers + b.answersTaken + b.answersBehind; n > int(q.Answers.Max()) && n >= 2*b.asked {
			b.asked = n
			q.Ask()
		}
	}
}

// isBehind reports whether a sender has more waiting behind a long message of its own than it
// may.
func (b *backlog) isBehind(sender wire.PID) bool {
	return b.isOver(sender) || b.behind[sender] > 0 && b.sum > behindSum*b.quota.Room(b.limit)
}

// isOver is isBehind for the share of the sender, whatever the others have.
func (b *backlog) isOver(sender wire.PID) bool {
	return b.behind[sender] > b.quota.Room(b.limit)/behindShare
}

// isAnswer reports whether nobody is held up for f.
func isAnswer(f *dist.Frame) bool { return f.Answer || f.Op != dist.OpSend }

// frameCost estimates what a frame takes.
func frameCost(f *dist.Frame) int {
	size := frameSize + mailbox.Size(f.Payload)
	if f.Spawn != nil {
		size += mailbox.Size(f.Spawn.Args)
	}
	return size
}

const frameSize = int(unsafe.Sizeof(dist.Frame{}))
