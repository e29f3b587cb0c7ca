package global

import (
	"math/big"
	"time"

	"github.com/actornode/actornode/wire"
)

// memory is how long a lost connection is remembered.
const memory = time.Hour

// reports are the lost connections that nodes have reported to each other, and the state of this node's reports.
type reports struct {
	life   any // an integer that identifies this name server in its reports
	number int
	losses
}

func (l *reports) init(cfg Config) {
	const bits = 27
	l.life = wire.IntegerOf(big.NewInt(1<<59 + int64(cfg.Rand(1<<bits))<<32 + int64(cfg.Creation)))
}

// tellLoss reports to the nodes of our partition that this one has lost a connection.
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

// lostConnection handles the report that a node has lost its connection to another. Then this one must not keep both.
func (m *Machine) lostConnection(t wire.Tuple) {
	if m.cfg.Partial || m.cfg.Overlap || m.closing {
		return
	}
	r, number, ok := readLoss(t)
	if !ok {
		m.unexpected("message", t)
		return
	}
	e, isNew := m.lost.Note(r, number)
	if !isNew {
		return
	}
	m.tellAll(r.From, t)
	delete(m.timers, e.Timer)
	e.Timer = m.after(memory, func() { m.lost.Forget(r) })

	drop := r.To
	if r.To == m.cfg.Self { // all others drop this node, so only this one need drop the reporting node
		drop = r.From
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

// askToDisconnect asks a node to end the connection, so that it does not count as lost. A node of OTP ignores that until it
// knows us.
func (m *Machine) askToDisconnect(node wire.Atom) {
	m.do(Action{Kind: Send, Node: node, Msg: wire.Tuple{wire.Atom("remove_connection"), m.cfg.Self}})
}

// removeConnection handles a node's request to be disconnected. Even if it is neither of our partition nor in a handshake, it
// has dropped us, and waits for the end of the connection.
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
