package native

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// The buffer of a reader grows while reads fill it, and shrinks after many small reads, so an idle link has a small one.
const (
	leastInput = 4 << 10
	mostInput  = 256 << 10
	calm       = 64 // consecutive small reads before it shrinks
)

// input splits the received data into frames. It belongs to the reading goroutine.
type input struct {
	conn     net.Conn
	src      io.Reader // of conn
	buf      []byte
	from, to int // the unread part of buf
	small    int // consecutive small reads
	full     bool
	received atomic.Uint64
	silence  time.Duration // read timeout; 0 means none
	sums     bool
	gen      int // of conn, in a session
}

// need returns the total size of the frame at from, as far as it is known.
func (in *input) need() int {
	if in.to-in.from < sizeBytes {
		return sizeBytes
	}
	n := sizeBytes + sizeOf(in.buf[in.from:])
	if in.sums && n > sizeBytes {
		n += sumSize
	}
	return n
}

// more reports whether the next frame is complete and a whole signal, not a tick or a part. In a session the frame may turn
// out to be damaged, and Read may wait.
func (in *input) more() bool {
	have, need := in.to-in.from, in.need()
	if in.sums || have < need || need == sizeBytes {
		return false
	}
	switch first := in.buf[in.from+sizeBytes]; first & opMask {
	case opAck, opPart, opBye:
		return false
	default:
		return first&bitParts == 0
	}
}

// next returns the next frame without its size, valid until the next call. It is empty for a tick.
func (in *input) next() ([]byte, error) {
	for {
		have, need := in.to-in.from, in.need()
		if have >= sizeBytes && have >= need {
			b := in.buf[in.from+sizeBytes : in.from+need]
			in.from += need
			return b, nil
		}
		if err := in.fill(need); err != nil {
			if have > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// fill reads once, into a buffer with space for need bytes from the beginning of the next frame.
func (in *input) fill(need int) error {
	have := in.to - in.from
	size := in.size()
	for size < need {
		size *= 2
	}
	if size != len(in.buf) {
		buf := make([]byte, size)
		copy(buf, in.buf[in.from:in.to])
		in.buf = buf
	} else if in.from > 0 {
		copy(in.buf, in.buf[in.from:in.to])
	}
	in.from, in.to = 0, have
	if in.silence > 0 {
		if err := in.conn.SetReadDeadline(time.Now().Add(in.silence)); err != nil {
			return err
		}
	}
	n, err := in.src.Read(in.buf[in.to:])
	in.received.Add(uint64(n))
	in.to += n
	if n == 0 {
		return err
	}
	in.full = in.to == len(in.buf)
	if n > len(in.buf)/16 {
		in.small = 0
	} else {
		in.small++
	}
	return nil
}

// size returns the next size of the buffer.
func (in *input) size() int {
	switch size := len(in.buf); {
	case size == 0:
		return leastInput
	case in.full && size < mostInput:
		in.full = false
		return 2 * size
	case in.small >= calm && size > leastInput && in.to-in.from < leastInput:
		in.small = 0
		return leastInput
	default:
		return size
	}
}
