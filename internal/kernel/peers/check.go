package peers

import (
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
)

// check checks whether a message can be sent to a peer.
type check struct{ p *Peer }

// Check implements links.Checker. While the peer is being connected the protocol is unknown: messages that none of the node's
// protocols accepts are refused, with the error of the preferred one. The caller may hold any lock.
func (c check) Check(to wire.Dest, msg any) (err error) {
	if link := c.p.checks.Load(); link != nil {
		if *link == nil {
			return nil
		}
		return (*link).Check(to, msg)
	}
	for _, protocol := range c.p.c.cfg.Protocols {
		checker, ok := protocol.(links.Checker)
		if !ok {
			return nil
		}
		why := checker.Check(to, msg)
		if why == nil {
			return nil
		}
		if err == nil {
			err = why
		}
	}
	return err
}
