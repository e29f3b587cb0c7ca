package global

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/wire"
)

// Messages of the name server to the locker, in addition to {lock_set, …} of other nodes.
type (
	// him is a node whose partition is to be locked together with ours.
	him struct {
		node          wire.Atom
		locker        wire.PID
		version, mine int
		his           any
	}
	// cancelled is the end of a handshake.
	cancelled struct {
		node   wire.Atom
		tag    int
		before func() // called before the locks are released
	}
	added   []wire.Atom
	removed wire.Atom
)

// locker locks our partition and that of another node at the same time, for one handshake at a time.
//
//	idle ── a node of his is chosen, or lock_set true is received ──► locking
//	locking ── not all of our nodes are locked ──► idle
//	locking ── all are; this side has begun; lock_set true is sent ──► offered
//	locking ── all are; the other side has begun ──► held
//	offered ── lock_set true is received ──► held
//	offered ── lock_set false, or cancelled ──► unlocking
//	held ── cancelled: names are exchanged, or the handshake is given up ──► unlocking
//	unlocking ── the locks are released ──► idle
type locker struct {
	m             *Machine
	local, remote []him // nodes waiting to be locked, on this host and on others
	known         []wire.Atom
	boss          wire.Atom
	justSynced    bool

	inbox []any
	busy  bool               // locking or unlocking
	wants func(msg any) bool // offered or held: handles expected messages
	timer uint64
}

func (l *locker) isIdle() bool { return !l.busy && l.wants == nil && len(l.inbox) == 0 }

// tellLocker sends a message to the locker.
func (m *Machine) tellLocker(msg any) {
	m.locker.inbox = append(m.locker.inbox, msg)
	m.later(m.locker.step)
}

// step handles the messages that it can handle now.
func (l *locker) step() {
	for !l.busy {
		if l.wants != nil {
			i := slices.IndexFunc(l.inbox, l.wants)
			if i < 0 {
				return
			}
			l.inbox = slices.Delete(l.inbox, i, i+1)
			continue
		}
		if len(l.inbox) == 0 {
			l.rest()
			return
		}
		msg := l.inbox[0]
		l.inbox = l.inbox[1:]
		l.handle(msg)
	}
}

// rest waits for a message, or until another node must be tried.
func (l *locker) rest() {
	m := l.m
	delete(m.timers, l.timer)
	l.timer = 0
	if len(l.local)+len(l.remote) == 0 {
		l.justSynced = false
		return
	}
	var d time.Duration
	switch { // above 0, unless it has just succeeded, to give others of the partition a turn
	case l.justSynced:
	case len(l.known) == 0:
		d = 200 * time.Millisecond
	default:
		d = min(time.Second+time.Duration(len(l.known))*100*time.Millisecond, 3*time.Second)
	}
	l.justSynced = false
	var id uint64
	id = m.after(d, func() {
		if l.timer != id || l.busy || l.wants != nil {
			return
		}
		l.timer = 0
		if !m.isLocked(ofNames) {
			l.choose()
		}
		m.later(l.step)
	})
	l.timer = id
}

// handle handles a message in the state idle.
func (l *locker) handle(msg any) {
	switch msg := msg.(type) {
	case him:
		if l.isLocal(msg.node) {
			l.local = append([]him{msg}, l.local...)
		} else {
			l.remote = append([]him{msg}, l.remote...)
		}
	case cancelled:
		if msg.tag != 0 {
			l.removeNode(msg.node, msg.tag)
		}
		if msg.before != nil { // nothing is locked any more, but others must be notified
			msg.before()
		}
	case added:
		l.update(msg)
	case removed:
		l.update(msg)
	case wire.Tuple:
		l.lockSet(msg)
	}
}

// lockSet handles {lock_set, Locker, IsSet, Known} or {lock_set, Locker, IsSet, Known, Tag}.
func (l *locker) lockSet(t wire.Tuple) {
	pid := t[1].(wire.PID)
	if !isTrue(t[2]) {
		return
	}
	h, ok := l.find(pid.Node())
	if ok && len(t) == 5 {
		n, isInt := wire.AsInt(t[4])
		ok = isInt && int(n) == h.mine
	}
	if !ok {
		l.send(him{node: pid.Node(), locker: pid, version: oldestVersion, his: 0}, false)
		return
	}
	requester := l.requester(pid)
	l.lockNodes(requester, nil, func(ok bool) {
		h.locker = pid
		l.send(h, ok)
		if !ok {
			l.justSynced = false
			return
		}
		nodes := append([]wire.Atom{l.m.cfg.Self}, l.known...)
		l.m.later(func() { l.m.lockIsSet(h.node, h.mine, makeID(ofNames, requester)) })
		l.hold(h, requester, nodes, func() {
			l.justSynced = true
			l.removeNode(h.node, h.mine)
		})
	})
}

// choose starts to lock the partitions for one of the waiting nodes.
func (l *locker) choose() {
	from := &l.local
	if len(l.local) == 0 {
		from = &l.remote
	}
	*from = slices.DeleteFunc(*from, func(h him) bool { return slices.Contains(l.known, h.node) })
	if len(*from) == 0 {
		return
	}
	h := (*from)[l.m.cfg.Rand(len(*from))]
	requester := l.requester(h.locker)
	l.lockNodes(requester, []wire.Atom{h.node}, func(ok bool) { // including his node: no two can wait for each other
		if !ok {
			return
		}
		nodes := slices.Concat([]wire.Atom{l.m.cfg.Self, h.node}, l.known)
		l.send(h, true)
		l.offer(h, requester, nodes)
	})
}

// offer waits for the other locker.
func (l *locker) offer(h him, requester any, nodes []wire.Atom) {
	l.wants = func(msg any) bool {
		switch msg := msg.(type) {
		case wire.Tuple:
			if msg[1].(wire.PID).Node() != h.node {
				return false
			}
			if n, ok := wire.AsInt(msg[len(msg)-1]); len(msg) == 5 && (!ok || int(n) != h.mine) {
				return true // of a handshake that has ended
			}
			l.wants = nil
			if !isTrue(msg[2]) {
				l.unlock(requester, nodes, nil)
				return true
			}
			l.m.later(func() { l.m.lockIsSet(h.node, h.mine, makeID(ofNames, requester)) })
			l.hold(h, requester, nodes, func() {
				l.justSynced = true
				l.removeNode(h.node, h.mine)
			})
			return true
		case cancelled:
			if msg.node != h.node || msg.tag != h.mine {
				return false
			}
			l.wants = nil
			if msg.before != nil {
				msg.before()
			}
			l.unlock(requester, nodes, func() { l.removeNode(h.node, h.mine) })
			return true
		}
		return false
	}
}

// hold keeps the locks until the handshake has ended.
func (l *locker) hold(h him, requester any, nodes []wire.Atom, then func()) {
	l.wants = func(msg any) bool {
		c, ok := msg.(cancelled)
		if !ok || c.node != h.node || c.tag != h.mine {
			return false
		}
		l.wants = nil
		if c.before != nil {
			c.before()
		}
		l.unlock(requester, nodes, then)
		return true
	}
}

// unlock releases the locks, and returns to idle.
func (l *locker) unlock(requester any, nodes []wire.Atom, then func()) {
	l.busy = true
	l.m.delAllLocks(l.m.cfg.Locker, requester, nodes, func() {
		l.busy = false
		if then != nil {
			then()
		}
		l.m.later(l.step)
	})
}

// lockNodes locks our partition: the boss first, then this node and more, then the rest.
func (l *locker) lockNodes(requester any, more []wire.Atom, then func(ok bool)) {
	m := l.m
	by := m.cfg.Locker
	first := []wire.Atom{l.boss}
	l.busy = true
	done := func(ok bool) {
		l.busy = false
		then(ok)
		m.later(l.step)
	}
	if l.boss != m.cfg.Self && !m.canLock(ofNames, requester) {
		done(false)
		return
	}
	m.setLocks(by, ofNames, requester, first, func(ok bool) {
		if !ok {
			done(false)
			return
		}
		l.takeUpdates()
		second := minus(append([]wire.Atom{m.cfg.Self}, more...), first)
		m.setLocks(by, ofNames, requester, second, func(ok bool) {
			if !ok {
				m.delLocks(by, ofNames, requester, first, func() { done(false) })
				return
			}
			m.setLocks(by, ofNames, requester, minus(l.known, first), func(ok bool) {
				if !ok {
					m.delLocks(by, ofNames, requester, slices.Concat(first, second), func() { done(false) })
					return
				}
				done(true)
			})
		})
	})
}

// takeUpdates handles the changes of our partition among the queued messages.
func (l *locker) takeUpdates() {
	l.inbox = slices.DeleteFunc(l.inbox, func(msg any) bool {
		switch msg.(type) {
		case added, removed:
			l.update(msg)
			return true
		}
		return false
	})
}

// update changes the members of our partition.
func (l *locker) update(msg any) {
	switch msg := msg.(type) {
	case added:
		l.known = append(minus(l.known, msg), msg...)
	case removed:
		l.known = minus(l.known, []wire.Atom{wire.Atom(msg)})
	}
	l.boss = boss(append([]wire.Atom{l.m.cfg.Self}, l.known...))
}

// send tells the other locker whether our partition is locked.
func (l *locker) send(h him, set bool) {
	msg := wire.Tuple{wire.Atom("lock_set"), l.m.cfg.Locker, set, atomList(l.known)}
	if h.version >= verified {
		msg = append(msg, h.his)
	}
	if h.version < proxied {
		l.m.do(Action{Kind: SendTo, PID: h.locker, Msg: msg})
		return
	}
	l.m.cast(h.node, msg)
}

// requester returns the requester that both lockers use: nodes that both lock are locked once for both.
func (l *locker) requester(his wire.PID) any {
	pair := wire.List{l.m.cfg.Locker, his}
	if wire.Compare(pair[0], pair[1]) > 0 {
		pair[0], pair[1] = pair[1], pair[0]
	}
	return pair
}

func (l *locker) find(node wire.Atom) (him, bool) {
	for _, h := range slices.Concat(l.local, l.remote) {
		if h.node == node {
			return h, true
		}
	}
	return him{}, false
}

// removeNode removes the handshake with a node that has the tag.
func (l *locker) removeNode(node wire.Atom, tag int) {
	for _, all := range []*[]him{&l.local, &l.remote} {
		if i := slices.IndexFunc(*all, func(h him) bool { return h.node == node && h.mine == tag }); i >= 0 {
			*all = slices.Delete(*all, i, i+1)
		}
	}
}

func (l *locker) isLocal(node wire.Atom) bool {
	_, host, _ := strings.Cut(string(node), "@")
	_, mine, _ := strings.Cut(string(l.m.cfg.Self), "@")
	return host == mine
}

func sortedKeys(m map[wire.Atom]int) []wire.Atom { return slices.Sorted(maps.Keys(m)) }
