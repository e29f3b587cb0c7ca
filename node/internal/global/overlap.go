package global

import (
	"math/big"
	"strconv"
	"time"

	"github.com/actornode/actornode/wire"
)

// memory is how long a lost connection is remembered.
const memory = time.Hour

// pair is a connection, as a life of the name server of from has reported its loss: an integer, in digits. Each life has
// reports of its own: nodes would send each other those of two lives for ever if one replaced the other.
type pair struct {
	from, to wire.Atom
	life     string
}

// loss is the last report about a pair.
type loss struct {
	number any
	timer  uint64
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
	life, isLife := digits(t[2])
	_, isNumber := wire.Int(t[3])
	if !ok || !isLife || !isNumber {
		m.unexpected("message", t)
		return
	}
	p := pair{from, to, life}
	old, had := m.lost.seen[p]
	if had && wire.Compare(t[3], old.number) <= 0 {
		return
	}
	if !had && len(m.lost.seen) >= maxLosses {
		return // what is remembered is bounded; whoever reports so many is no node of this cluster
	}
	m.tellAll(from, t)
	delete(m.timers, old.timer)
	l := loss{number: t[3]}
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
		m.do(Action{Kind: Send, Node: drop, Msg: wire.Tuple{wire.Atom("remove_connection"), m.cfg.Self}})
		m.warn(drop, "global asked a node to disconnect to prevent overlapping partitions")
	}
	m.forget(drop, isRemoved)
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

// digits are those of an integer.
func digits(t any) (text string, ok bool) {
	if n, ok := wire.Int(t); ok {
		return strconv.FormatInt(n, 10), true
	}
	if n, ok := t.(*big.Int); ok && n.BitLen() <= 256 {
		return n.String(), true
	}
	return "", false
}

// concerns reports whether a node is of our partition, or in a handshake.
func (m *Machine) concerns(node wire.Atom) bool {
	_, known := m.known[node]
	_, pending := m.pending[node]
	return known || pending
}
