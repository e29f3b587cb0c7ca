package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/wire/dist"
)

// fallsBack is told that this node is about to dial a peer by the protocol with that
// place, where the best that is announced is another. why is the error that it had with it.
func (d *distribution) fallsBack(name Atom, proto, announced int, why error) {
	d.mu.Lock()
	f, ok := d.memory.Dials(name, proto, announced)
	d.mu.Unlock()
	if !ok {
		return
	}
	d.fallbacks.Add(1)
	if !f.New {
		return
	}
	if announced == proto {
		why = errNotAnnounced
	}
	d.warnOfFallback("trying a less preferred protocol: the preferred one failed", name, f.Used, f.Best, "error", briefError(why))
}

// linked is told that a peer is connected by a protocol.
func (d *distribution) linked(p *peer, protocol string) {
	proto := slices.IndexFunc(d.cfg.Protocols, func(p dist.Protocol) bool { return p.Name() == protocol })
	d.mu.Lock()
	if d.dials.Withdraw(&p.dial) { // it has connected by itself
		p.holds--
	}
	f, ok := d.memory.Connected(p.name, proto, len(d.cfg.Protocols))
	d.mu.Unlock()
	if ok {
		d.fallbacks.Add(1)
		d.warnOfFallback("a peer connected with a less preferred protocol than it used before", p.name, f.Used, f.Best)
	}
}

var errNotAnnounced = errors.New("the peer no longer announces the preferred protocol")

// warnOfFallback says what has happened, and what to do about it.
func (d *distribution) warnOfFallback(what string, name Atom, proto, best int, more ...any) {
	used, better := d.cfg.Protocols[proto].Name(), d.cfg.Protocols[best].Name()
	d.n.cfg.Log.Warn(what, append([]any{"peer", string(name), "protocol", used, "preferred", better,
		"to_forbid", fmt.Sprintf("remove %s from protocols", used)}, more...)...)
}
