package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/wire"
)

// remembered is what is remembered of a peer.
type remembered struct {
	best   int  // the most preferred protocol that it has been seen to have, by its place in Distribution.Protocols
	warned int  // the protocol that it has been warned of; 0: none
	linked bool // it has been connected
}

// mostRemembered is how many peers are remembered, at most.
const mostRemembered = 4096

// remember keeps what is known of a peer. The caller holds d.mu.
func (d *dist) remember(name Atom, s remembered) {
	if _, ok := d.remembered[name]; !ok && len(d.remembered) >= mostRemembered {
		for other := range d.remembered { // any
			delete(d.remembered, other)
			break
		}
	}
	d.remembered[name] = s
}

// fallsBack is told that this node is about to dial a peer by the protocol with that
// place, where the best that is announced is another. why is the error that it had with it.
func (d *dist) fallsBack(name Atom, proto, announced int, why error) {
	d.mu.Lock()
	s, known := d.remembered[name]
	best := announced
	if known {
		best = min(best, s.best)
	}
	if best >= proto {
		d.mu.Unlock()
		return
	}
	told := s.warned == proto
	d.remember(name, remembered{best, proto, s.linked})
	d.mu.Unlock()
	d.fallbacks.Add(1)
	if told {
		return
	}
	if announced == proto {
		why = errNotAnnounced
	}
	d.warnOfFallback("trying a less preferred protocol: the preferred one failed", name, proto, best, "error", briefError(why))
}

// linked is told that a peer is connected by a protocol.
func (d *dist) linked(p *peer, protocol string) {
	proto := slices.IndexFunc(d.cfg.Protocols, func(p wire.Protocol) bool { return p.Name() == protocol })
	d.mu.Lock()
	if d.dials.withdraw(p) { // it has connected by itself
		p.holds--
	}
	s, known := d.remembered[p.name]
	worse := known && s.best < proto
	told := s.warned == proto
	switch {
	case worse:
		s.warned = proto
	case proto >= 0:
		s = remembered{best: proto}
	default: // none of this node's: there is nothing to compare with
		s.best = len(d.cfg.Protocols)
	}
	s.linked = true
	d.remember(p.name, s)
	d.mu.Unlock()
	if worse && !told {
		d.fallbacks.Add(1)
		d.warnOfFallback("a peer connected with a less preferred protocol than it used before", p.name, proto, s.best)
	}
}

var errNotAnnounced = errors.New("the peer no longer announces the preferred protocol")

// warnOfFallback says what has happened, and what to do about it.
func (d *dist) warnOfFallback(what string, name Atom, proto, best int, more ...any) {
	used, better := d.cfg.Protocols[proto].Name(), d.cfg.Protocols[best].Name()
	d.n.cfg.Log.Warn(what, append([]any{"peer", string(name), "protocol", used, "preferred", better,
		"to_forbid", fmt.Sprintf("remove %s from protocols", used)}, more...)...)
}
