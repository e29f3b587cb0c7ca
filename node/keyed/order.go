package keyed

import (
	"math"
	"runtime/metrics"
	"time"
)

// wind starts the timer of the next tick.
func (k *keeper[K]) wind() error {
	d, kind := longTick, &k.g.kind
	if kind.Idle > 0 {
		d = max(kind.Idle/ticks, time.Millisecond)
	}
	if kind.Memory > 0 {
		d = min(d, memoryTick)
	}
	if kind.Idle > 0 {
		k.rounds = uint32(min((kind.Idle+d-1)/d, math.MaxInt32))
	}
	var err error
	k.ticking, err = k.c.SendAfter(d, k.pid, tick{})
	return err
}

// makeRoom ends the process that has been unused for longest, of those that are idle. It returns false if it finds none.
func (k *keeper[K]) makeRoom() bool {
	var used []*entry[K] // since the last look at them
	for range min(k.places, atOnce) {
		e := k.order.next
		k.renew(e)
		switch {
		case e.is(failed):
			k.remove(e)
			return true
		case !e.is(running):
		case e.takeMark():
			used = append(used, e)
		case k.idle(e):
			k.finish(e, countFull)
			return true
		}
	}
	for _, e := range used {
		if !e.takeMark() && k.idle(e) {
			k.finish(e, countFull)
			return true
		}
	}
	return false
}

// idle closes e if its process is idle.
func (k *keeper[K]) idle(e *entry[K]) bool {
	if !e.close() {
		return false
	}
	if idle(k.node, e.process) {
		return true
	}
	e.word.And(^closed)
	return false
}

// push makes e the entry that was used last.
func (k *keeper[K]) push(e *entry[K]) {
	e.seen, e.prev, e.next = k.ticked, k.order.prev, &k.order
	e.prev.next, e.next.prev = e, e
}

func (k *keeper[K]) unlink(e *entry[K]) {
	if k.next == e {
		k.next = e.next
	}
	e.prev.next, e.next.prev = e.next, e.prev
}

// renew is push for an entry that has a place.
func (k *keeper[K]) renew(e *entry[K]) {
	k.unlink(e)
	k.push(e)
}

// beat handles a tick.
func (k *keeper[K]) beat() {
	k.ticked++
	if k.g.kind.Memory > 0 {
		k.measure()
	}
	if k.next == nil && k.ending == nil {
		k.next = k.order.next
		k.sweep()
	}
	k.wind()
}

// measure sets the excess, once for each cycle of the collector: what has ended is in use until the next.
func (k *keeper[K]) measure() {
	now := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(now)
	if cycles := now[0].Value.Uint64(); cycles != k.cycles {
		k.cycles, k.excess = cycles, 0
		if now[1].Value.Uint64() > k.g.kind.Memory {
			k.excess = (len(k.byPID) + fraction - 1) / fraction
		}
	}
}

// sweep looks at the next entries, and ends processes that have been idle for long. Those that are not idle, or have been
// used since the last sweep, become the last of the list.
func (k *keeper[K]) sweep() {
	for range atOnce {
		e := k.next
		if e == &k.order || e.seen == k.ticked || k.ending != nil {
			k.next = nil
			return
		}
		k.next = e.next
		old := k.rounds > 0 && k.ticked-e.seen >= k.rounds
		switch {
		case !e.is(running):
		case e.process.Gone():
			k.leaves(e)
			k.settle(e)
		case e.takeMark(), e.busy():
			k.renew(e)
		case !old && k.excess == 0:
		case !k.idle(e):
			k.renew(e)
		case old:
			k.finish(e, countIdle)
		default:
			k.excess--
			k.finish(e, countMemory)
		}
	}
	k.c.Send(k.pid, sweep{})
}
