package erldist

import (
	"io"
	"net"
	"time"
)

// stream is a connection in memory: reads take from in, and writes are kept.
type stream struct {
	in, out []byte
}

func (s *stream) Read(b []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.in)
	s.in = s.in[n:]
	return n, nil
}

func (s *stream) Write(b []byte) (int, error) {
	s.out = append(s.out, b...)
	return len(b), nil
}

func (s *stream) Close() error                     { return nil }
func (s *stream) LocalAddr() net.Addr              { return nil }
func (s *stream) RemoteAddr() net.Addr             { return nil }
func (s *stream) SetDeadline(time.Time) error      { return nil }
func (s *stream) SetReadDeadline(time.Time) error  { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }
