package flow

import (
	"unsafe"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// backlog counts what is queued for a peer, and decides which senders must wait. All counts are in bytes. It has no lock: the
// Box's lock guards it.
//
// Invariants:
//
//  1. reported is what was reported to the quota. It differs from what is queued by less than
//     limits.Step, except for what has been sent since the writer's last pass. It is 0 when
//     nothing is queued, and when the backlog has ended.
//  2. Senders never wait for an answer, which is any frame except a message that is not marked
//     as one. Queued answers, except the first bytes up to limit in the link, are counted in
//     answers, then in answersTaken or answersBehind. longest is the largest of them, or of
//     those that have been sent since some were queued.
type backlog struct {
	limit int           // set once
	quota *limits.Quota // set once; may be nil
	over  bool

	queued int              // in the queue, estimated
	linked int              // in the link since the writer's last pass, as last seen
	taken  int              // taken by the writer's last pass
	behind map[wire.PID]int // by sender, held by the writer behind long messages; no zero values
	sum    int              // of behind

	reported int // see invariant 1

	answers       int // since the last pass; further ones are in answersTaken, answersBehind
	answersTaken  int
	answersBehind int
	longest       int // of one answer
	asked         int // answers when Quota.Ask was last called
}

// Waiting is what is queued in a Box at one moment, in bytes.
type Waiting struct {
	Outside int // outside the link: in the queue and in the writer's hands
	Linked  int // in the link when last seen, or taken from there by the writer's current pass
	Answers int // queued answers
	Longest int // the longest answer
}

func (b *backlog) waiting() Waiting {
	answers := b.answers + b.answersTaken + b.answersBehind
	return Waiting{b.taken + b.queued + b.sum, b.linked, answers, min(b.longest, answers)}
}

// write records that the link holds n bytes after f, or nil for a message. It reports whether the sender must wait.
func (b *backlog) write(n int, f *dist.Frame) (full bool) {
	b.linked = n
	b.report()
	full = b.full(n)
	if full && f != nil && isAnswer(f) {
		b.answered(frameCost(f))
	}
	return full
}

// queue records that f, of size cost, is in the queue. It reports whether its sender must wait.
func (b *backlog) queue(f *dist.Frame, cost int) (full bool) {
	b.queued += cost
	b.report()
	if isAnswer(f) {
		b.answered(cost)
	}
	return b.full(b.queued) || b.isBehind(f.From)
}

// hold records that the writer holds f, of size cost, behind a long message; a negative cost that it no longer does.
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

// take records that a pass of the writer takes the queue, and the contents of the link; left is the link's rest of long
// messages.
func (b *backlog) take(left int) {
	b.pass(b.linked + b.queued + left)
	b.queued = 0
}

// pass begins a pass that has taken this many bytes: those of the previous one have been sent. The queue counts as taken.
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

// busy reports whether the writer's last pass has something in hand. Only the writer changes that, and so may call it without
// the lock.
func (b *backlog) busy() bool { return b.taken != 0 || b.answersTaken != 0 }

// settle records that everything taken by the last pass has been sent, and nothing is left.
func (b *backlog) settle() {
	b.taken, b.answersTaken = 0, 0
	b.report()
}

// end records that nothing is queued any more.
func (b *backlog) end() {
	b.over = true
	b.quota.Change(b.reported, 0)
	b.reported = 0
}

// full reports whether n bytes exceed the limit.
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

// report reports the queued bytes to the quota, if they have changed by much.
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

// soft returns the number of bytes in the link up to which nothing has to be recorded.
func (b *backlog) soft() int { return min(b.limit, b.linked+limits.Step) }

// answered counts an answer, and requests a look at the peer if too many are queued.
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

// isBehind reports whether a sender has too much queued behind a long message of its own.
func (b *backlog) isBehind(sender wire.PID) bool {
	return b.isOver(sender) || b.behind[sender] > 0 && b.sum > behindSum*b.quota.Room(b.limit)
}

// isOver is isBehind for the sender's share alone, whatever the others have.
func (b *backlog) isOver(sender wire.PID) bool {
	return b.behind[sender] > b.quota.Room(b.limit)/behindShare
}

// isAnswer reports whether senders never wait because of f.
func isAnswer(f *dist.Frame) bool { return f.Answer || f.Op != dist.OpSend }

// frameCost estimates the memory of a frame.
func frameCost(f *dist.Frame) int {
	size := frameSize + mailbox.Size(f.Payload)
	if f.Spawn != nil {
		size += mailbox.Size(f.Spawn.Args)
	}
	return size
}

const frameSize = int(unsafe.Sizeof(dist.Frame{}))
