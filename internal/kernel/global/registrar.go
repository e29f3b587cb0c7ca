package global

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// change is something that is done while all nodes of our partition have the lock on names.
type change struct {
	do   func(nodes []wire.Atom, then func(v any))
	done func(v any)
}

// registrar makes one change after the other.
type registrar struct {
	m       *Machine
	waiting []change
	busy    bool
}

func (r *registrar) isIdle() bool { return !r.busy && len(r.waiting) == 0 }

func (r *registrar) add(c change) {
	r.waiting = append(r.waiting, c)
	r.next()
}

// next starts the next change.
func (r *registrar) next() {
	if r.busy || len(r.waiting) == 0 {
		return
	}
	r.busy = true
	c := r.waiting[0]
	r.waiting = r.waiting[1:]
	r.lock(0, func(nodes []wire.Atom) {
		c.do(nodes, func(v any) {
			r.m.delAllLocks(r.m.cfg.Registrar, r.m.cfg.Registrar, nodes, func() {
				c.done(v)
				r.busy = false
				r.m.later(r.next)
			})
		})
	})
}

// lock locks names on all nodes of our partition, the boss first, and retries until it succeeds.
func (r *registrar) lock(times int, then func(nodes []wire.Atom)) {
	m := r.m
	by := m.cfg.Registrar
	known := m.Known()
	nodes := append([]wire.Atom{m.cfg.Self}, known...)
	first := []wire.Atom{boss(nodes)}
	again := func() { m.after(m.pause(times), func() { r.lock(times+1, then) }) }
	m.setLocks(by, ofNames, by, first, func(ok bool) {
		if !ok {
			again()
			return
		}
		m.setLocks(by, ofNames, by, nodes, func(ok bool) {
			if ok && len(minus(m.Known(), known)) == 0 {
				then(nodes)
				return
			}
			held := first
			if ok { // a node has become known meanwhile
				held = nodes
			}
			m.delLocks(by, ofNames, by, held, again)
		})
	})
}

// pause returns how long to wait before a lock is tried again: up to a quarter of a second after the first time, then up to
// twice as long each time, and never more than eight seconds.
func (m *Machine) pause(times int) time.Duration {
	most := 8000
	if times <= 5 {
		most = (1 << times) * 1000 / 8
	}
	return time.Duration(1+m.cfg.Rand(most)) * time.Millisecond
}

// Register assigns a name to a process on all nodes of our partition, unless another one has it; if again is set, in any
// case. done is called with whether the process has the name.
func (m *Machine) Register(name any, pid wire.PID, method any, again bool, done func(ok bool)) {
	m.registrar.add(change{
		do: func(nodes []wire.Atom, then func(v any)) {
			if _, taken := m.cfg.Names.Whois(name); !again && (taken || m.watched[pid].named) {
				then(false)
				return
			}
			m.askAll(m.cfg.Registrar, nodes, wire.Tuple{wire.Atom("register"), name, pid, method},
				func([]answer) { then(true) })
		},
		done: func(v any) { done(v.(bool)) },
	})
	m.run()
}

// Unregister removes a name on all nodes of our partition.
func (m *Machine) Unregister(name any, done func()) {
	if _, ok := m.cfg.Names.Whois(name); !ok {
		done()
		return
	}
	m.registrar.add(change{
		do: func(nodes []wire.Atom, then func(v any)) {
			m.askAll(m.cfg.Registrar, nodes, wire.Tuple{wire.Atom("unregister"), name}, func([]answer) { then(true) })
		},
		done: func(any) { done() },
	})
	m.run()
}

// Sync calls done once this node has the same names as nodes, except those that cannot be reached.
func (m *Machine) Sync(nodes []wire.Atom, done func()) {
	m.sync(nodes, done)
	m.run()
}

// DisconnectAll ends the connections of our partition without reporting them to others as lost.
func (m *Machine) DisconnectAll() []wire.Atom {
	all := m.disconnect()
	m.run()
	return all
}
