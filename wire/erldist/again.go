package erldist

import (
	"bytes"
	"encoding/binary"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Bulk traffic is repetitive: short binaries to one process, from one or a few processes of this node. Their frames have
// the same beginning except for the sender's number. A pattern is the beginning of one such frame: the writer copies it for
// the next frame, and the reader compares instead of decoding. It is valid until an atom enters the cache.
type pattern struct {
	to   wire.PID    // zero if there is no pattern
	node wire.Origin // of From
	head []byte      // of the frame after its length, up to the tag of the binary
	from int         // offset of From's number in head
}

// The frame of a pattern is a message from one process to another: {22, From, To} and a binary.
const (
	tagBinary   = 109
	binaryHead  = 4 // its length
	numberBytes = 8 // of a pid
	mostAgain   = 250
)

// learn takes the pattern of a frame without its length: control is the part after its atoms, size is the binary's size. If
// the frame has no pattern, p becomes unusable.
func (p *pattern) learn(frame, control []byte, from, to wire.PID, size int) {
	p.to = wire.PID{}
	head := frame[:len(frame)-binaryHead-size]
	ctl := []byte{tagSmallTuple, 3, tagSmallInteger, byte(opSendSender), tagNewPID}
	at := len(frame) - len(control) + len(ctl)
	if !bytes.HasPrefix(control, ctl) || head[len(head)-1] != tagBinary || freshAtoms(frame[2:]) {
		return
	}
	switch frame[at] {
	case tagAtomCacheRef:
		at += 2
	case tagSmallAtom:
		at += 2 + int(frame[at+1])
	default:
		return
	}
	p.to, p.node, p.from = to, from.Origin(), at
	p.head = append(p.head[:0], head...)
}

// freshAtoms reports whether a distribution header, without its tag, puts atoms into the cache.
func freshAtoms(b []byte) bool {
	for i := range int(b[0]) {
		if half(b[1:], i)&newEntry != 0 {
			return true
		}
	}
	return false
}

// again appends the frame of a message with the pattern. It returns false if write must be used.
func (w *writer) again(from, to wire.PID, b []byte) bool {
	p := &w.pattern
	if p.to != to || to.IsZero() || p.node != from.Origin() || len(b) > mostAgain || len(w.long) > 0 {
		return false
	}
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(p.head)+binaryHead+len(b)))
	at := len(w.buf) + p.from
	w.buf = append(w.buf, p.head...)
	n := from.Number()
	binary.BigEndian.PutUint32(w.buf[at:], uint32(n))
	binary.BigEndian.PutUint32(w.buf[at+4:], uint32(n>>32))
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(b)))
	w.buf = append(w.buf, b...)
	return true
}

// Send implements links.MessageWriter.
func (l *link) Send(from, to wire.PID, msg any) (buffered int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.out
	b, ok := msg.([]byte)
	if !ok || !w.again(from, to, b) {
		at := len(w.buf)
		if err = w.write(&dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg}); err != nil {
			return len(w.buf), err
		}
		if ok && w.headed && len(b) <= mostAgain && !from.IsZero() {
			w.pattern.learn(w.buf[at+4:], w.body, from, to, len(b))
		}
	}
	l.n++
	return len(w.buf), nil
}

// SendBytes implements links.MessageWriter.
func (l *link) SendBytes(from, to wire.PID, b []byte) (buffered int, taken bool) {
	l.mu.Lock()
	if taken = l.out.again(from, to, b); taken {
		l.n++
	}
	buffered = len(l.out.buf)
	l.mu.Unlock()
	return buffered, taken
}

// Batch implements links.BatchReader, for short binaries.
func (l *link) Batch(to wire.PID, msgs []any) (n int) {
	if l.in.pattern.to != to || to.IsZero() {
		return 0
	}
	for n < len(msgs) {
		buf, _ := l.src.Peek(l.src.Buffered())
		var parts [box.BlockMost][]byte
		k, taken := l.in.alike(buf, parts[:min(len(parts), len(msgs)-n)])
		if k == 0 {
			break
		}
		together(parts[:k], msgs[n:])
		_, _ = l.src.Discard(taken)
		n += k
	}
	return n
}

// alike finds the binaries of the complete frames at the beginning of b that match the pattern and fit into one block. It
// returns their number and their bytes in b.
func (r *reader) alike(b []byte, parts [][]byte) (n, taken int) {
	p, free := &r.pattern, box.BlockSize
	for n < len(parts) && len(b)-taken >= 4+len(p.head)+binaryHead {
		f := b[taken+4:]
		size := int(binary.BigEndian.Uint32(f[len(p.head):]))
		end := len(p.head) + binaryHead + size
		if size > mostAgain || box.SizeInBlock(size) > free || len(f) < end || binary.BigEndian.Uint32(b[taken:]) != uint32(end) ||
			!bytes.Equal(f[:p.from], p.head[:p.from]) ||
			!bytes.Equal(f[p.from+numberBytes:len(p.head)], p.head[p.from+numberBytes:]) {
			break
		}
		parts[n] = f[end-size : end]
		n++
		free -= box.SizeInBlock(size)
		taken += 4 + end
	}
	return n, taken
}

// fewAlike is the minimum number of binaries that share memory.
const fewAlike = 4

// together puts copies of parts into msgs.
func together(parts [][]byte, msgs []any) {
	if len(parts) < fewAlike {
		for i, p := range parts {
			msgs[i] = box.Bytes(p)
		}
		return
	}
	free := 0
	for _, p := range parts {
		free += box.SizeInBlock(len(p))
	}
	block := box.NewBlock(free)
	for i, p := range parts {
		msgs[i] = block.Add(p)
	}
}
