package limits

import "github.com/actornode/actornode/wire"

// ProtocolMemory is what is remembered of peers: the best protocol that each is known to speak, and
// whether it has been connected. A protocol is its place in the node's list, the preferred
// one first, so the lesser number is the better one. Whoever calls a method holds the lock
// that guards it. The zero value remembers nothing.
//
// It remembers mostRemembered peers. For one more the peer is forgotten that was entered
// first.
type ProtocolMemory struct {
	of    map[wire.Atom]remembered
	names []wire.Atom // in the order in which they were entered; from next on, and then from 0
	next  int         // the first of them, once there are mostRemembered
}

// remembered is what is remembered of a peer.
type remembered struct {
	best      int  // the best protocol that it has been seen to have
	warned    int  // the protocol that it has been warned of; 0: none
	connected bool // it has been
}

// mostRemembered is how many peers are remembered, at most.
const mostRemembered = 4096

// set keeps what is known of a peer.
func (m *ProtocolMemory) set(name wire.Atom, r remembered) {
	if m.of == nil {
		m.of = make(map[wire.Atom]remembered)
	}
	if _, ok := m.of[name]; !ok {
		if len(m.names) < mostRemembered {
			m.names = append(m.names, name)
		} else {
			delete(m.of, m.names[m.next])
			m.names[m.next] = name
			m.next = (m.next + 1) % mostRemembered
		}
	}
	m.of[name] = r
}

// HasBeenConnected reports whether a peer has been connected.
func (m *ProtocolMemory) HasBeenConnected(name wire.Atom) bool { return m.of[name].connected }

// Fallback is a less preferred protocol than a peer is known to speak.
type Fallback struct {
	Used, Best int
	New        bool // nobody has been warned of it
}

// Dials is told that a peer is about to be dialled by the protocol used, where announced is
// the best that is announced. ok: that is a fallback.
func (m *ProtocolMemory) Dials(name wire.Atom, used, announced int) (f Fallback, ok bool) {
	r, known := m.of[name]
	best := announced
	if known {
		best = min(best, r.best)
	}
	if best >= used {
		return Fallback{}, false
	}
	m.set(name, remembered{best, used, r.connected})
	return Fallback{used, best, r.warned != used}, true
}

// Connected is told that a peer is connected by the protocol used, of all that the node
// has; -1: by none of them, so there is nothing to compare with. ok: that is a fallback
// that nobody has been warned of.
func (m *ProtocolMemory) Connected(name wire.Atom, used, all int) (f Fallback, ok bool) {
	r, known := m.of[name]
	worse := known && r.best < used
	ok = worse && r.warned != used
	f = Fallback{used, r.best, ok}
	switch {
	case worse:
		r.warned = used
	case used >= 0:
		r = remembered{best: used}
	default:
		r.best = all
	}
	r.connected = true
	m.set(name, r)
	return f, ok
}
