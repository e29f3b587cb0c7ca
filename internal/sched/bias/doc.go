// Package bias provides a biased lock, which is nearly free for its owner and expensive for other goroutines, and the
// fence-free stores that it is built on.
//
//   - [Store] and [Barrier] are the two halves of a protocol: a store without a fence by
//     one goroutine, and a barrier on all threads by the others.
//   - An [Owned] is a lock with one permanent owner; other goroutines take it occasionally, to read the owner's data.
//
// # Two implementations
//
// The fast one (store_fast.go, owned_fast.go) needs linux/amd64, its order of stores and
// loads, and a kernel with MEMBARRIER_CMD_PRIVATE_EXPEDITED (4.14); see store_fast.go. In Go's memory model its plain
// stores (plain_fast.go) are data races. With -race they are atomic stores (plain_race.go); everything else is the same.
//
// The portable one (store_portable.go, owned_portable.go) uses sync/atomic and a sync.Mutex.
// It is used on other platforms, and with the build tags actornode_portable and actornode_no_lease. The stress tests of
// this package and of package executor run with both implementations.
//
// No goroutines are started here.
package bias
