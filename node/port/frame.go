package port

import (
	"encoding/binary"
	"errors"
	"io"
)

// header is the length before each frame: 32 bits, big-endian, itself not counted.
const header = 4

// Sizes of buffers.
const (
	step         = 64 << 10 // bytes that are allocated in advance
	keepCapacity = 1 << 20  // larger buffers are not kept
)

var errEmptyFrame = errors.New("an empty frame")

// tooLarge is a frame beyond the limit.
type tooLarge struct {
	n     int64
	limit int
}

func (*tooLarge) Error() string { return "a frame longer than the limit" }

// frames reads frames from a stream.
type frames struct {
	r     io.Reader
	limit int
	buf   []byte
}

// next returns the bytes of the next frame, which are valid until the call after.
// It allocates as the bytes come, not as the header says. Errors: io.EOF, also
// inside of a frame; [errEmptyFrame]; [*tooLarge]; those of the stream.
func (f *frames) next() ([]byte, error) {
	var head [header]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, ends(err)
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	switch {
	case size == 0:
		return nil, errEmptyFrame
	case size > int64(f.limit):
		return nil, &tooLarge{size, f.limit}
	}
	n := int(size)
	if cap(f.buf) > keepCapacity && n <= keepCapacity {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	for len(f.buf) < n {
		at := len(f.buf)
		more := min(n-at, max(step, at)) // at most as much again as has come
		if cap(f.buf)-at < more {
			f.buf = append(make([]byte, 0, at+more), f.buf...)
		}
		f.buf = f.buf[:at+more]
		if _, err := io.ReadFull(f.r, f.buf[at:]); err != nil {
			return nil, ends(err)
		}
	}
	return f.buf, nil
}

func ends(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
