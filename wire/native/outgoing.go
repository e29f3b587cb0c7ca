package native

import (
	"encoding/binary"
	"math/bits"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// outgoing is a message that is sent in parts.
type outgoing struct {
	frame  dist.Frame // without its payload
	segs   [][]byte   // the part still to be sent; immutable
	size   int        // bytes of the whole payload
	left   int
	stream int // its number, or -1 if it has not started
	packed bool
}

// inProgress reports whether a sender must wait for its long message.
func (w *writer) inProgress(from wire.PID) bool {
	for _, o := range w.long {
		if o.frame.From == from {
			return true
		}
	}
	return false
}

// begin keeps a signal whose payload is too long for a frame. Everything except the payload's length has been checked.
func (w *writer) begin(f *dist.Frame) error {
	if len(w.long) >= w.streams {
		return links.ErrLong
	}
	if w.standalone == nil {
		w.standalone = &pack.Encoder{Dict: new(pack.EncodeDict), Types: w.enc.Types, Foreign: w.enc.Foreign,
			Former: w.enc.Former, Message: w.enc.Message}
	}
	w.standalone.Dict.Reset()
	segs, _, err := w.standalone.Segments(nil, nil, carried(f))
	size := 0
	for _, s := range segs {
		size += len(s)
	}
	if err == nil && size > w.limit {
		err = tooLong(size, w.limit)
	}
	if err != nil {
		return &wire.EncodeError{Err: err}
	}
	o := &outgoing{frame: *f, segs: segs, size: size, left: size, stream: -1}
	o.frame.Payload = withoutTerm(f.Payload)
	o.packed = w.threshold > 0 && size >= w.threshold
	w.long = append(w.long, o)
	w.left += size
	w.start()
	return nil
}

// LongFull implements links.LongLimiter.
func (l *link) LongFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.out.long) >= l.out.streams
}

// start announces long messages, up to the number that the peer accepts concurrently.
func (w *writer) start() {
	for _, o := range w.long {
		if o.stream >= 0 {
			continue
		}
		if w.open > 0 && w.open+o.size > w.partial {
			return
		}
		o.stream = bits.TrailingZeros64(^w.used)
		w.used |= 1 << o.stream
		w.open += o.size
		at := len(w.buf)
		w.err = nil
		w.head(&o.frame, bitParts) // cannot fail: it has worked before
		w.buf = append(w.buf, byte(o.stream))
		w.buf = pack.AppendUint(w.buf, uint64(o.size))
		w.close(at)
		w.undo = w.undo[:0]
		w.dict.Commit()
	}
}

// batch is the data of one write: pieces in order.
type batch struct {
	pieces [][]byte
	heads  []byte // memory for the headers of parts, which pieces refer to
	size   int
}

func (b *batch) add(p []byte) {
	if len(p) > 0 {
		b.pieces = append(b.pieces, p)
		b.size += len(p)
	}
}

// partHead is the maximum overhead before and after the data of a part.
const partHead = sizeBytes + 2 + sumSize

// parts moves the next part of each started long message to b. It may run concurrently with Write, because they use
// different fields.
func (w *writer) parts(long []*outgoing, b *batch) {
	if need := len(long) * 2 * partHead; cap(b.heads) < need {
		b.heads = make([]byte, 0, need)
	}
	b.heads = b.heads[:0]
	for _, o := range long {
		if o.stream >= 0 {
			w.part(o, b)
		}
	}
}

func (w *writer) part(o *outgoing, b *batch) {
	n := min(o.left, partSize)
	o.left -= n
	first := len(b.pieces)
	at := len(b.heads)
	b.heads = append(b.heads, 0, 0, opPart, byte(o.stream))
	b.add(b.heads[at:])
	for size := n; size > 0; {
		if len(o.segs[0]) == 0 {
			o.segs = o.segs[1:]
			continue
		}
		k := min(size, len(o.segs[0]))
		b.add(o.segs[0][:k])
		o.segs[0] = o.segs[0][k:]
		size -= k
	}
	if o.packed {
		n = w.packPart(b, first, n)
	}
	binary.BigEndian.PutUint16(b.heads[at:], uint16(2+n))
	if w.sums {
		sum := sumOf(b.pieces[first:])
		at := len(b.heads)
		b.heads = binary.BigEndian.AppendUint32(b.heads, sum)
		b.add(b.heads[at:])
	}
}

// packPart compresses the part of n bytes that begins with piece first, if that makes it shorter, and returns the resulting
// length.
func (w *writer) packPart(b *batch, first, n int) int {
	var p packer
	short := p.packAll(b.pieces[first+1:], n)
	if short == nil {
		return n
	}
	b.pieces[first][2] |= bitPacked
	b.pieces = append(b.pieces[:first+1], short)
	b.size -= n - len(short)
	return len(short)
}

// done removes the messages that have been sent completely.
func (w *writer) done(sent []*outgoing) {
	for _, o := range sent {
		if o.stream >= 0 && o.left == 0 {
			w.used &^= 1 << o.stream
			w.open -= o.size
		}
	}
	w.left = 0
	keep := w.long[:0]
	for _, o := range w.long {
		if w.left += o.left; o.left > 0 {
			keep = append(keep, o)
		}
	}
	clear(w.long[len(keep):])
	w.long = keep
}
