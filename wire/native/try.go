package native

import "github.com/actornode/actornode/internal/wire/socket"

// Try is part of links.TryFlusher. A link with a session, or one that is closed, leaves
// everything to Flush.
func (l *link) Try() (more bool) {
	if l.session != nil || l.closed.Load() {
		return true
	}
	n, more := socket.Try(l.writer, &l.mu, &l.out.buf, &l.spare, &l.out.long)
	l.sent.Add(uint64(n))
	return more
}

// sendRest sends what Try has left. The caller holds writer.
func (l *link) sendRest() error {
	rest := l.writer.Rest()
	if len(rest) == 0 {
		return nil
	}
	return l.send(rest)
}
