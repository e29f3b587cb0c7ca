package process

import "github.com/actornode/actornode/wire"

// nameLink is a link requested by a name, from the first query for the name until it is unlinked.
type nameLink struct {
	pid    wire.PID // the process that had the name at the last answer; zero before the first
	asking int      // queries in progress
	wanted bool     // it has not been unlinked since
}

// nameLinks are the links that a process has requested by names on other nodes. Only that node knows which process has such a
// name: it is queried, and operations of the process in the meantime take effect when the answer comes. The lock of the
// process guards them. They must be created with make.
//
// Invariants:
//
//  1. A nameLink in the map is wanted. A removed one may still have a query in progress; its answer makes no link.
//  2. The number of those whose link is gone, and for which there is no query, is at most twice the number of links of the
//     process, plus spare.
type nameLinks map[wire.At]*nameLink

// spare is the number of names that a process remembers in addition to those that are linked.
const spare = 16

// Ask records that the node of a name is being queried, for a link. count is the number of all links of the process; linked
// reports whether it is linked to a process.
func (all nameLinks) Ask(at wire.At, count int, linked func(wire.PID) bool) *nameLink {
	l := all[at]
	if l == nil {
		all.forget(count, linked)
		l = new(nameLink)
		all[at] = l
	}
	l.asking++
	l.wanted = true
	return l
}

// forget removes names whose link is gone, if there are many.
func (all nameLinks) forget(count int, linked func(wire.PID) bool) {
	if len(all) < 2*count+spare {
		return
	}
	for at, l := range all {
		if l.asking == 0 && !linked(l.pid) {
			delete(all, at)
		}
	}
}

// Answered records the answer to an Ask for l: pid, or none. It reports whether the link is still wanted. all may be nil: the
// process has exited.
func (all nameLinks) Answered(at wire.At, l *nameLink, pid wire.PID, ok bool) (wanted bool) {
	l.asking--
	if !l.wanted {
		return false
	}
	if ok {
		l.pid = pid
	} else if l.asking == 0 && all[at] == l {
		delete(all, at)
	}
	return true
}

// Wanted reports whether the link has not been unlinked since.
func (l *nameLink) Wanted() bool { return l.wanted }

// Remove removes a link. It returns the process at its other end, zero if it is not known yet. ok is false if the process has
// not requested it by that name.
func (all nameLinks) Remove(at wire.At) (pid wire.PID, ok bool) {
	l := all[at]
	if l == nil {
		return wire.PID{}, false
	}
	l.wanted = false
	delete(all, at)
	return l.pid, true
}

// Find returns the process that was found by a name, or zero.
func (all nameLinks) Find(at wire.At) (pid wire.PID) {
	if l := all[at]; l != nil {
		pid = l.pid
	}
	return pid
}
