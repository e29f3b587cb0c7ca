package erldist

import (
	"encoding/binary"
	"net"
	"slices"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
)

// fragmentSize is the maximum size of a message in one frame, as in OTP: longer ones are sent in fragments.
const fragmentSize = 64 << 10

// maxLong is the maximum number of concurrent long messages: at most this many fragments are sent before data that was
// written meanwhile.
const maxLong = 16

// fragmentedMessage is a message whose first fragment has been written. Its binaries are not copied: a sent message must
// not change.
type fragmentedMessage struct {
	from wire.PID
	seq  uint64
	next uint64   // number of the next fragment; the last has 1
	rest [][]byte // the remaining data; no element is empty
	left int      // bytes of rest
}

// busy reports whether a long message of a sender is being sent.
func (w *writer) busy(from wire.PID) bool {
	for i := range w.long {
		if w.long[i].from == from {
			return true
		}
	}
	return false
}

// fragments appends the first fragment of the current message, and keeps the others. The whole control message is in the
// first.
func (w *writer) fragments(from wire.PID, size int) error {
	if len(w.long) >= maxLong {
		w.cache.undo()
		return links.ErrLong
	}
	w.seq++
	first := max(fragmentSize, w.control)
	m := fragmentedMessage{from: from, seq: w.seq, left: size, rest: slices.Clone(w.parts())}
	m.next = 1 + uint64((size-min(size, first)+fragmentSize-1)/fragmentSize)
	at := len(w.buf)
	w.buf = m.head(w.buf, firstFragment)
	w.buf = w.cache.appendHeader(w.buf)
	for _, part := range m.take(first, nil) {
		w.buf = append(w.buf, part...)
	}
	binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-4))
	w.body, w.cuts = nil, nil // they belong to the message now
	clear(w.segments)
	if m.left > 0 {
		w.long = append(w.long, m)
	}
	return nil
}

// LongFull implements links.LongLimiter.
func (l *link) LongFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.out.long) >= maxLong
}

// head appends the header of a fragment, without its length, and counts the fragment.
func (m *fragmentedMessage) head(b []byte, tag byte) []byte {
	b = append(b, 0, 0, 0, 0, etfcodec.Version, tag)
	b = binary.BigEndian.AppendUint64(b, m.seq)
	b = binary.BigEndian.AppendUint64(b, m.next)
	m.next--
	return b
}

// take appends the next n bytes, or all remaining ones, to parts.
func (m *fragmentedMessage) take(n int, parts net.Buffers) net.Buffers {
	n = min(n, m.left)
	m.left -= n
	for n > 0 {
		part := m.rest[0]
		if len(part) > n {
			m.rest[0] = part[n:]
			return append(parts, part[:n])
		}
		n -= len(part)
		m.rest[0] = nil
		m.rest = m.rest[1:]
		parts = append(parts, part)
	}
	return parts
}

// advance appends the next fragment of each long message to parts; heads is memory
// for their headers.
func (w *writer) advance(parts net.Buffers, heads []byte) (net.Buffers, []byte) {
	heads = growBy(heads[:0], len(w.long)*(4+fragmentHead)) // so that it is not reallocated
	for i := range w.long {
		m := &w.long[i]
		at := len(heads)
		heads = m.head(heads, nextFragment)
		binary.BigEndian.PutUint32(heads[at:], uint32(fragmentHead+min(m.left, fragmentSize)))
		parts = m.take(fragmentSize, append(parts, heads[at:]))
	}
	w.long = slices.DeleteFunc(w.long, func(m fragmentedMessage) bool { return m.left == 0 })
	return parts, heads
}

// left returns the remaining bytes of long messages.
func (w *writer) left() (n int) {
	for i := range w.long {
		n += w.long[i].left
	}
	return n
}
