package watch

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// index has a value for each of some processes. Lookups are concurrent and lock-free, with one writer, whose changes cost the
// same however many entries there are. The zero value is empty.
type index[V any] struct {
	buckets atomic.Pointer[[]bucket[V]] // a power of two of them, or nil
	n       int                         // number of processes; for the writer
}

// bucket is some processes with their values. The slice is immutable.
type bucket[V any] struct{ atomic.Pointer[[]entry[V]] }

type entry[V any] struct {
	pid   wire.PID
	value V
}

// leastBuckets is the initial number of buckets.
const leastBuckets = 8

func bucketOf[V any](all []bucket[V], pid wire.PID) *bucket[V] {
	return &all[pid.Number()&uint64(len(all)-1)]
}

func (b *bucket[V]) entries() []entry[V] {
	if all := b.Load(); all != nil {
		return *all
	}
	return nil
}

// get returns the value of a process.
func (x *index[V]) get(pid wire.PID) (v V, ok bool) {
	if all := x.buckets.Load(); all != nil {
		for _, e := range bucketOf(*all, pid).entries() {
			if e.pid == pid {
				return e.value, true
			}
		}
	}
	return v, false
}

// put sets the value of a process.
func (x *index[V]) put(pid wire.PID, v V) {
	b, at := x.find(pid)
	now := slices.Clone(b.entries())
	if at >= 0 {
		now[at].value = v
	} else {
		now = append(now, entry[V]{pid, v})
		x.n++
	}
	b.Store(&now)
}

// remove removes a process.
func (x *index[V]) remove(pid wire.PID) {
	b, at := x.find(pid)
	if at < 0 {
		return
	}
	now := slices.Delete(slices.Clone(b.entries()), at, at+1)
	b.Store(&now)
	x.n--
}

// find returns the bucket for a process, and its index there, or -1.
func (x *index[V]) find(pid wire.PID) (b *bucket[V], at int) {
	all := x.buckets.Load()
	if all == nil || x.n >= len(*all) {
		all = x.grow()
	}
	b = bucketOf(*all, pid)
	return b, slices.IndexFunc(b.entries(), func(e entry[V]) bool { return e.pid == pid })
}

func (x *index[V]) grow() *[]bucket[V] {
	all := make([]bucket[V], max(leastBuckets, 2*x.n))
	for e := range x.all() {
		b := bucketOf(all, e.pid)
		now := append(slices.Clone(b.entries()), e)
		b.Store(&now)
	}
	x.buckets.Store(&all)
	return &all
}

// all yields the processes and their values. It is for the writer, which may remove what is yielded.
func (x *index[V]) all() iter.Seq[entry[V]] {
	return func(yield func(entry[V]) bool) {
		all := x.buckets.Load()
		if all == nil {
			return
		}
		for i := range *all {
			for _, e := range (*all)[i].entries() {
				if !yield(e) {
					return
				}
			}
		}
	}
}
