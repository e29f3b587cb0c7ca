package native

import "github.com/actornode/actornode/wire"

// Try is part of [wire.Prompt]. A link with a session leaves everything to Flush.
func (l *link) Try() (more bool) {
	if l.session != nil {
		return true
	}
	n, more := wire.Try(l.attempt, &l.mu, &l.out.buf, &l.spare, &l.out.long)
	l.sent.Add(uint64(n))
	return more
}

// sendRest sends what Try has left. The caller holds attempt.
func (l *link) sendRest() error {
	rest := l.attempt.Rest()
	if len(rest) == 0 {
		return nil
	}
	return l.send(rest)
}
