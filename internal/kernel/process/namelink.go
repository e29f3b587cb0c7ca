package process

import "github.com/actornode/actornode/wire"

// nameLink is a link for which a name has been asked, from the question on until it is unlinked.
type nameLink struct {
	pid    wire.PID // the process that had the name when its node was last asked; zero: not answered yet
	asking int      // questions under way
	wanted bool     // it has not been unlinked since
}

// nameLinks are the links that a process has asked for by names on other nodes. Which process has such a name only that node
// knows: it is asked, and what the process does meanwhile counts when the answer comes. The process guards them by its lock. They
// are made.
//
// Invariants:
//
//  1. A nameLink that is among them is wanted. One that has been removed may be asked for still; its answer makes no link.
//  2. Of those whose link is gone, and for which nobody asks, they are at most twice as many as the links of the process, and
//     spare more.
type nameLinks map[wire.At]*nameLink

// spare is how many names a process remembers beside those that are linked.
const spare = 16

// Ask notes that the node of a name is being asked, for a link. count is how many links the process
// has, to whatever; linked says whether it is linked to a process.
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

// forget removes names whose link is gone, where they are many.
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

// Answered notes the answer to an Ask for l: pid, or none. It reports whether the link is wanted
// still. all may be nil: the process has exited.
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

// Remove takes a link away. It returns the process that it is to, zero: not known yet; false: the
// process has not asked for it by that name.
func (all nameLinks) Remove(at wire.At) (pid wire.PID, ok bool) {
	l := all[at]
	if l == nil {
		return wire.PID{}, false
	}
	l.wanted = false
	delete(all, at)
	return l.pid, true
}

// Find returns the process that was found by a name; zero: none.
func (all nameLinks) Find(at wire.At) (pid wire.PID) {
	if l := all[at]; l != nil {
		pid = l.pid
	}
	return pid
}
