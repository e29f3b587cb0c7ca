package limits

import "github.com/actornode/actornode/wire"

// ProtocolMemory remembers of each peer the best protocol that it is known to support, and whether it has been connected. A
// protocol is its index in the node's list, the preferred one first, so a smaller number is better. The caller of each method
// holds the lock that guards it. The zero value remembers nothing.
//
// It remembers mostRemembered peers. A further one replaces the peer that was entered first.
type ProtocolMemory struct {
	of    map[wire.Atom]remembered
	names []wire.Atom // in the order of entry; from next on, and then from 0
	next  int         // index of the first, once there are mostRemembered
}

// remembered is what is remembered of a peer.
type remembered struct {
	best      int  // the best protocol seen
	warned    int  // the protocol that a warning was logged for, or 0
	connected bool // it has been connected
}

// mostRemembered is the maximum number of remembered peers.
const mostRemembered = 4096

// set stores what is known of a peer.
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

// Fallback is the use of a less preferred protocol than a peer is known to support.
type Fallback struct {
	Used, Best int
	New        bool // no warning has been logged for it
}

// Dials records that a peer is about to be dialled by the protocol used, where announced is the best one announced. ok
// reports whether that is a fallback.
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

// Connected records that a peer has connected by the protocol used, of all that the node has; -1 means by none of them, so
// that there is nothing to compare. ok reports whether that is a fallback without a warning yet.
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
