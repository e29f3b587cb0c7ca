package global

import (
	"math/big"
	"time"

	"github.com/actornode/actornode/wire"
)

// memory is how long a lost connection is remembered.
const memory = time.Hour

// pair is a connection, as the node From has reported its loss.
type pair struct{ from, to wire.Atom }

// loss is the last report about a pair.
type loss struct {
	life, number any
	timer        uint64
}

// losses are the lost connections that nodes have told each other about.
type losses struct {
	life   any // an integer of this name server: it is in what that reports
	number int
	seen   map[pair]loss
}

func (l *losses) init(cfg Config) {
	const bits = 27
	l.life = wire.Integer(big.NewInt(1<<59 + int64(cfg.Rand(1<<bits))<<32 + int64(cfg.Creation)))
	l.seen = map[pair]loss{}
}

// tellLoss tells the nodes of our partition that this one has lost a connection.
func (m *Machine) tellLoss(node wire.Atom) {
	if m.cfg.Partial || m.cfg.Overlap || m.closing {
		return
	}
	m.lost.number++
	m.tellAll(node, wire.Tuple{wire.Atom("lost_connection"), m.cfg.Self, m.lost.life, m.lost.number, node})
}

// tellAll sends to the nodes of our partition, and those in a handshake, that prevent overlapping partitions.
func (m *Machine) tellAll(but wire.Atom, msg wire.Tuple) {
	for _, v := range m.sortedKnown() {
		if v.node != but && v.version >= withVersions {
			m.do(Action{Kind: Send, Node: v.node, Msg: msg})
		}
	}
	for _, n := range sortedKeys(m.pending) {
		if _, known := m.known[n]; n != but && !known && m.pending[n] >= withVersions {
			m.do(Action{Kind: Send, Node: n, Msg: msg})
		}
	}
}

// lostConnection is told that a node has lost its connection to another. Then this one must not
// keep both.
func (m *Machine) lostConnection(t wire.Tuple) {
	if m.cfg.Partial || m.cfg.Overlap || m.closing {
		return
	}
	from, _ := t[1].(wire.Atom)
	to, ok := t[4].(wire.Atom)
	_, isInt := wire.Int(t[3])
	if !ok || !isInt {
		m.unexpected("message", t)
		return
	}
	p := pair{from, to}
	old, had := m.lost.seen[p]
	if had && wire.Equal(old.life, t[2]) && wire.Compare(t[3], old.number) <= 0 {
		return
	}
	if !had && len(m.lost.seen) >= maxLosses {
		return // what is remembered is bounded; whoever reports so many is no node of this cluster
	}
	m.tellAll(from, t)
	delete(m.timers, old.timer)
	l := loss{life: t[2], number: t[3]}
	l.timer = m.after(memory, func() { delete(m.lost.seen, p) })
	m.lost.seen[p] = l

	drop := to
	if to == m.cfg.Self { // all others drop this node: nobody else need drop the one that reports it
		drop = from
	}
	if !m.concerns(drop) {
		return
	}
	if m.versionOf(drop) < withVersions {
		m.do(Action{Kind: Disconnect, Node: drop})
		m.warn(drop, "global disconnected from an old node to prevent overlapping partitions")
	} else {
		m.askToDisconnect(drop)
		m.warn(drop, "global asked a node to disconnect to prevent overlapping partitions")
	}
	m.forget(drop, isRemoved)
	m.look(drop, 0)
}

// askToDisconnect has a node end the connection, so that it does not count as lost. One of OTP ignores that until it knows us.
func (m *Machine) askToDisconnect(node wire.Atom) {
	m.do(Action{Kind: Send, Node: node, Msg: wire.Tuple{wire.Atom("remove_connection"), m.cfg.Self}})
}

// removeConnection is told by a node that it wants no connection. One that is not of our partition, nor in a handshake,
// has dropped us all the same, and waits for the end of the connection.
func (m *Machine) removeConnection(node wire.Atom) {
	if !m.connected[node] {
		return
	}
	m.do(Action{Kind: Disconnect, Node: node})
	m.forget(node, isRemoved)
	m.warn(node, "global disconnected from a node to prevent overlapping partitions")
}

// concerns reports whether a node is of our partition, or in a handshake.
func (m *Machine) concerns(node wire.Atom) bool {
	_, known := m.known[node]
	_, pending := m.pending[node]
	return known || pending
}
