package native

// tryMost is how many bytes are sent by Try, at most: more is the business of those
// who may wait.
const tryMost = 64 << 10

// Try is part of [wire.Prompt]. A link with a session leaves everything to Flush.
func (l *link) Try() (more bool) {
	if l.session != nil || !l.attempt.Able() || !l.sending.TryLock() {
		return true
	}
	if l.mu.Lock(); len(l.rest) > 0 || len(l.out.long) > 0 || len(l.out.buf) > tryMost {
		l.mu.Unlock()
		l.sending.Unlock()
		return true
	}
	buf := l.out.buf
	l.out.buf, l.spare = l.spare, nil
	l.mu.Unlock()
	if len(buf) > 0 {
		n := l.attempt.Send(buf)
		l.sent.Add(uint64(n))
		l.rest = buf[n:]
	}
	if more = len(l.rest) > 0; !more {
		l.rest, l.spare = nil, buf[:0]
	}
	l.sending.Unlock()
	if more {
		return true
	}
	l.mu.Lock() // who came meanwhile, and found sending taken, relies on this look
	defer l.mu.Unlock()
	return len(l.out.buf) > 0 || len(l.out.long) > 0
}

// sendRest sends what Try has left. The caller holds sending.
func (l *link) sendRest() error {
	if len(l.rest) == 0 {
		return nil
	}
	rest := l.rest
	l.rest = nil
	return l.send(rest)
}
