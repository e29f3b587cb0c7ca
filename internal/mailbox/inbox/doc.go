// Package inbox is the default mailbox: a lock-free queue between all senders and the one reader
// of a process. It keeps the order of each sender, and tells a sender when it must wake the
// reader.
//
// # Nouns
//
//   - A [Node] carries one message. A [Free] list recycles nodes. A [Run] is several
//     messages with one node: those that are pushed together, or the end of a long queue.
//   - An [Inbox] is the half that all senders share: a stack of nodes that any
//     goroutine pushes to and the reader takes whole.
//   - An observer is a goroutine that calls [Inbox.Waiting].
//   - A [Queue] is the reader's own half: the messages in order of arrival, with a
//     cursor behind those that it has looked at and left.
//   - A [Position] is a place between two messages of a queue, behind which a reader may go on
//     later. [Positions] are those of one queue.
//
// A push answers a [mailbox.Result]: the sender that gets Wake, and no other, must wake the
// reader. A sender and a reader:
//
//	switch in.Push(&inbox.Node{Msg: msg}) {
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
// until it ends.
//
//   - Take and Arm, as above: woken when the inbox was armed, it looks until it
//     finds nothing and then arms the inbox again. It starts with an armed inbox
//     and no wake-up, or claims (Claim) before any sender knows it and looks at once.
//   - TakeArmed on each wake-up, and Take whenever it likes: for a reader whose
//     wake-ups are queued, so that the next may come while it still works on the
//     messages of the last. Until the TakeArmed no other sender gets Wake: while
//     a wake-up is under way, the reader may be moved to another queue.
//     Claim gives the goroutine that wants to move it the same right.
//   - Offer in place of Push: the message that would wake the reader does not go
//     into the inbox: the sender passes it to the reader directly, before all that is in it. A
//     sender that calls Offer must not call Push, and while such a message is on its way no other
//     goroutine may Take in the reader's place: what is in the inbox is younger.
//
// # Invariants
//
// Those of an inbox, with its states, are in front of [Inbox], those of the cursor
// in front of [Queue], those of positions in front of [Position]. For both together:
//
//  1. A node has one owner at a time: the sender until a push has answered Queued or
//     Wake, the mailbox until the reader drops it, then the goroutine that recycles it.
//  2. A node may be recycled at once: a push that has read its address as the
//     newest of the stack, and finds it there again, is right to swap.
//     The same goes for a run, whose node is in it. But what an observer reads is not
//     recycled: see observe.go.
//
// # Goroutines
//
// None. Any goroutine may call Push, PushRun, Offer, Armed, Claim, Close, Closed and Waiting of
// an Inbox. A Run belongs to the goroutine that made it until it is pushed. All the rest, a
// Queue and a Free list belong to the reader: one goroutine at a time, each after the last.
//
// # What can be lost, reordered, duplicated
//
// Nothing is duplicated, and two messages of one sender are read in the order in
// which it sent them; messages of two senders in any order. When an inbox is
// closed, what has not been taken is lost: of each sender the end of what it sent.
// From then on every push answers Closed, so a sender of which one message was
// refused gets none in later.
//
// # Limits
//
// A queue holds up to 2,147,483,647 messages, a run up to 64. An inbox is as long as it
// gets: for a bound use a [Bounded].
package inbox
