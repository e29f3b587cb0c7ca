package port

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// What is read from a program's stdout and stderr after it has exited: what is in
// the pipe, which another process may hold open and even write to.
const (
	drainBytes = 1 << 20
	drainTime  = 250 * time.Millisecond // with nothing to read
)

// outputPipe is the stdout or stderr of a program. Its end is io.EOF, whatever it is.
type outputPipe struct {
	*os.File
	draining atomic.Bool
	left     int          // bytes, once draining; the reader's
	in       atomic.Int64 // bytes read
}

func newOutputPipe(f *os.File) *outputPipe { return &outputPipe{File: f, left: drainBytes} }

// drain ends the pipe soon: when all that the program has written has been read.
func (o *outputPipe) drain() {
	o.draining.Store(true)
	o.SetReadDeadline(time.Now().Add(drainTime))
}

// Read is part of io.Reader.
func (o *outputPipe) Read(b []byte) (int, error) {
	for {
		draining := o.draining.Load()
		if draining {
			if o.left == 0 {
				return 0, io.EOF
			}
			b = b[:min(len(b), o.left)]
			o.SetReadDeadline(time.Now().Add(drainTime))
		}
		n, err := o.File.Read(b)
		o.in.Add(int64(n))
		if draining {
			o.left -= n
		}
		late := n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
		if late && !draining {
			continue // the deadline is drain's: there may be something to read all the same
		}
		if late || errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
		return n, err
	}
}
