// Package bias has locks that cost next to nothing whoever takes them again and
// again, and much whoever takes them from him, and the stores without a fence that
// they are made of.
//
//   - [Store] and [Barrier] are the two halves of a protocol: a store without a fence by
//     one goroutine, and a barrier on all threads by the others.
//   - An [Owned] is a lock with one owner for ever, at whose things others look now
//     and then.
//   - A [Mutex] is a lock that leans towards whoever takes it again and again, who
//     shows a [Hand] for that: a buffer into which one goroutine writes for a while,
//     and then another.
//
// A Mutex, between two who take it:
//
//	hand            Store(busy, 1); load holder  -> it is this one: inside
//	anybody else    store holder = nil; Barrier; load busy -> 0: the hand is outside
//
// One of the two sees the other's store.
//
// # Invariants
//
//  1. Only its goroutine writes a hand; others read it.
//  2. A mutex leans towards one hand at most, and whoever else takes it takes that away
//     first. Only who holds mu makes it lean, or takes that away.
//  3. While a mutex leans, nobody is inside but its hand.
//  4. It leans towards who has taken it so many times in a row that what it costs to
//     take that away is little beside what is saved; the number grows where that was
//     wrong.
//
// No goroutines are started here. Plain stores need linux/amd64, its order of stores and
// loads, and a kernel with MEMBARRIER_CMD_PRIVATE_EXPEDITED (4.14): see store_fast.go.
// Elsewhere, and under -race, each store carries its own fence.
package bias
