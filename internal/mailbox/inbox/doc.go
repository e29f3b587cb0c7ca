// Package inbox is the default mailbox: a lock-free queue between all senders and the one reader
// of a process. It keeps the order of each sender, and reports when a sender must wake the reader.
//
// # Nouns
//
//   - A [Node] carries one message. A [Free] list recycles nodes. A [Run] is several messages in one node: messages that
//     are pushed together, or the end of a long queue.
//   - An [Inbox] is the half that all senders share: a stack of nodes that any goroutine pushes to and the reader takes as
//     a whole.
//   - An observer is a goroutine that calls [Inbox.Waiting].
//   - A [Queue] is the reader's own half: the messages in order of arrival, with a cursor after those that it has examined
//     and left.
//   - A [Position] is a place between two messages of a queue, where a reader may continue later. [Positions] are those of
//     one queue.
//
// A push returns a [mailbox.Result]: only the sender that gets Wake must wake the reader. A sender and a reader:
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
// A reader may handle its wake-ups in one of three ways; a process uses the same way until it ends.
//
//   - Take and Arm, as above: woken when the inbox was armed, it reads until it finds nothing and then arms the inbox
//     again. It starts with an armed inbox and no wake-up, or calls Claim before any sender has access and reads at once.
//   - TakeArmed on each wake-up, and Take at any time: for a reader whose wake-ups are queued, so that the next one may
//     arrive while it still works on the messages of the last. Until TakeArmed no other sender gets Wake: while a wake-up
//     is pending, the reader may be moved to another queue. Claim gives a goroutine that needs to move it the same right.
//   - Offer instead of Push: the message that would wake the reader is not put into the inbox; the sender passes it to the
//     reader directly, ahead of the inbox. A sender that calls Offer must not call Push, and while such a message is in
//     transit no other goroutine may Take for the reader, because the messages in the inbox are newer.
//
// # Invariants
//
// [Inbox], [Queue] and [Position] have their own invariants. For all together:
//
//  1. A node has one owner at a time: the sender until a push has returned Queued or Wake, the mailbox until the reader
//     drops it, then the goroutine that recycles it.
//  2. A node may be recycled at once: a push that has read its address as the top of the stack, and finds it there again,
//     may swap. The same holds for a run, which contains its node. But nodes that an observer reads are not recycled: see
//     observe.go.
//
// # Goroutines
//
// None. Any goroutine may call Push, PushRun, Offer, Armed, Claim, Close, Closed and Waiting of
// an Inbox. A Run belongs to the goroutine that made it until it is pushed. All other methods, a Queue and a Free list
// belong to the reader: one goroutine at a time, in sequence.
//
// # What can be lost, reordered, duplicated
//
// Nothing is duplicated, and the messages of one sender are read in the order in which it sent them; messages of different
// senders in any order. When an inbox is closed, messages that have not been taken are lost: the last ones of each sender.
// From then on every push returns Closed, so after one refused message all later ones of that sender are refused.
//
// # Bounds
//
// A queue holds up to 2,147,483,647 messages, a run up to 64. An inbox is unbounded: for limits use a [Bounded].
package inbox
