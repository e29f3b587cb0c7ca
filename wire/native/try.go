package native

import "github.com/actornode/actornode/internal/wire/socket"

// Try implements links.TryFlusher. A closed link, or one with a session, leaves everything to Flush.
func (l *link) Try() (more bool) {
	if l.session != nil || l.closed.Load() {
		return true
	}
	n, more := socket.Try(l.writer, &l.mu, &l.out.buf, &l.spare, &l.out.long)
	l.sent.Add(uint64(n))
	return more
}

// sendRest sends the remaining data of Try. The caller holds writer.
func (l *link) sendRest() error {
	rest := l.writer.Rest()
	if len(rest) == 0 {
		return nil
	}
	return l.send(rest)
}
