// Package mailbox is the queue between those who send to a process and the one
// reader that takes its messages: lock-free, in order, and with a wake-up that
// nobody has to look for. It imports the standard library only.
//
// # Nouns
//
//   - A [Node] carries one message. A [Free] list recycles nodes. A [Run] is several
//     messages with one node: those that are pushed together, or the end of a long queue.
//   - An [Inbox] is the half that all senders share: a stack of nodes that any
//     goroutine pushes to and the reader takes whole.
//   - A [Queue] is the reader's own half: the messages in order of arrival, with a
//     cursor behind those that it has looked at and left.
//   - A [Box] is a mailbox of another make, in place of an inbox and its queue.
//     [Bounded] is one: with limits, and a [Policy] for what does not fit.
//
// A push answers a [Result], and with it comes a duty: whoever is told Wake, and
// nobody else, sets the reader going. A sender and a reader:
//
//	switch in.Push(&mailbox.Node{Msg: msg}) {
//	case mailbox.Wake:
//		wake <- struct{}{} // capacity 1: never blocks
//	case mailbox.Closed:
//		return ErrGone
//	}
//
//	for range wake {
//		for !in.Closed() && (in.Take(&q) > 0 || !in.Arm()) { // until the next push will wake
//			for msg, ok := q.Next(); ok; msg, ok = q.Next() {
//				q.Drop()
//				handle(msg)
//			}
//		}
//	}
//
// # Three ways to read
//
// A reader may see to its wake-ups in one of three ways; a process keeps to one
// all its life.
//
//   - Take and Arm, as above: woken when the inbox was armed, it looks until it
//     finds nothing and then arms the inbox again. It starts with an armed inbox
//     and no wake-up, or claims (Claim) before anybody knows it and looks at once.
//   - TakeArmed on each wake-up, and Take whenever it likes: for a reader whose
//     wake-ups are queued, so that the next may come while it still works on the
//     messages of the last. Until the TakeArmed nobody else can be told Wake: a
//     wake-up under way is the reader's right to be moved to another queue.
//     Claim gives somebody who wants to move it the same right.
//   - Offer in place of Push: the message that would wake the reader does not go
//     into the inbox but to the reader by hand, before all that is in it. Who
//     calls Offer must not Push, and while a message is on its way by hand nobody
//     may Take in the reader's stead: what is in the inbox is younger.
//
// # Invariants
//
// Those of an inbox, with its states, are in front of [Inbox], those of the cursor
// in front of [Queue]. For both together:
//
//  1. A node belongs to one party at a time: to the sender until a push has
//     answered Queued or Wake, to the mailbox until the reader drops it, then to
//     whoever recycles it.
//  2. A node may be recycled at once: a push that has read its address as the
//     newest of the stack, and finds it there again, is right to swap.
//     The same goes for a run, whose node is in it.
//
// And for a [Bounded]:
//
//  3. What counts towards the limits is what waits and what the reader has popped
//     and is not done with.
//  4. It is within its limits, with two exceptions: a message larger than
//     Limits.Bytes gets in when nothing counts, and what is forced always does.
//  5. Every message that was answered Queued or Wake is popped once, given to
//     Limits.Dropped once, or lost by Close.
//
// # Goroutines
//
// None. Any goroutine may call Push, PushRun, Offer, Quiet, Claim, Close and Closed of an
// Inbox, and everything of a Bounded but Pop and Done; a Run is its maker's until it is
// pushed; all the rest, a Queue and a Free list belong to the reader: one goroutine at a
// time, each after the last.
//
// # What can be lost, reordered, duplicated
//
// Nothing is duplicated, and two messages of one sender are read in the order in
// which it sent them; messages of two senders in any order. When an inbox is
// closed, what nobody has taken is lost: of each sender the end of what it sent.
// From then on every push answers Closed, so a sender of which one message was
// refused gets none in later. A Bounded with a Drop policy loses what the policy
// says, and tells Limits.Dropped: with DropNewest it answers Dropped for it, with
// DropOldest Queued, or Dropped if what the reader has in hand leaves no room. With
// Block or Refuse it answers Full and nothing is lost; with Block the sender may wait
// for room, for as long as a context lets it.
//
// # Limits
//
// A queue holds up to 2,147,483,647 messages, a run up to 64. An inbox is as long as it
// gets: for a bound use a Bounded, which takes a lock a message. Limits.Bytes counts what
// [Size] estimates, which follows pointers so far and no further and counts what two
// messages share twice.
package mailbox
