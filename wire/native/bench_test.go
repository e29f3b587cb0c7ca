package native

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// stream is a connection in memory: reads take from in, over and over if they should, and writes are kept or counted.
type stream struct {
	in, out []byte
	at      int
	again   bool
	drop    bool
	sent    int
}

func (s *stream) Read(b []byte) (int, error) {
	if s.at == len(s.in) {
		if !s.again {
			return 0, io.EOF
		}
		s.at = 0
	}
	n := copy(b, s.in[s.at:])
	s.at += n
	return n, nil
}

func (s *stream) Write(b []byte) (int, error) {
	if s.sent += len(b); !s.drop {
		s.out = append(s.out, b...)
	}
	return len(b), nil
}

func (s *stream) Close() error                     { return nil }
func (s *stream) LocalAddr() net.Addr              { return nil }
func (s *stream) RemoteAddr() net.Addr             { return nil }
func (s *stream) SetDeadline(time.Time) error      { return nil }
func (s *stream) SetReadDeadline(time.Time) error  { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }

var (
	nodeA = wire.NodeID{Name: "a@host", Creation: 7}
	nodeB = wire.NodeID{Name: "b@host", Creation: 9}
	onA   = wire.NewOrigin(nodeA)
	onB   = wire.NewOrigin(nodeB)
)

// over returns a link from local to peer over conn, as after a handshake.
func (p *Protocol) over(conn net.Conn, local, peer wire.NodeID, limits dist.LinkLimits) *link {
	h := dist.Handshake{Local: local, Limits: limits}
	theirs := info(limits)
	theirs.id = peer
	m := &machine{h: h, ours: info(limits), theirs: theirs, state: finished}
	return p.newLink(conn, m, nil)
}

func BenchmarkSend(b *testing.B) {
	for _, senders := range []uint64{1, 64} {
		b.Run(map[uint64]string{1: "1Sender", 64: "64Senders"}[senders], func(b *testing.B) {
			conn := &stream{drop: true}
			var p Protocol
			l := p.over(conn, nodeA, nodeB, dist.LinkLimits{})
			var msg any = make([]byte, 64)
			to := onB.PID(5)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				buffered, err := l.Send(onA.PID(1000+uint64(n)%senders), to, msg)
				if err != nil {
					b.Fatal(err)
				}
				if buffered > 64<<10 {
					_, _ = l.Flush(false)
				}
			}
			_, _ = l.Flush(false)
			b.ReportMetric(float64(conn.sent)/float64(n), "bytes/msg")
		})
	}
}

// recorded returns the bytes that a link sends for frames.
func recorded(b testing.TB, frames ...dist.Frame) []byte {
	conn := &stream{}
	l := new(Protocol).over(conn, nodeA, nodeB, dist.LinkLimits{})
	for i := range frames {
		_, err := l.Write(&frames[i])
		require.NoError(b, err)
	}
	_, err := l.Flush(false)
	require.NoError(b, err)
	return conn.out
}

func BenchmarkRead(b *testing.B) {
	one := dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: make([]byte, 64)}
	frames := make([]dist.Frame, 1000)
	for i := range frames {
		frames[i] = one
	}
	conn := &stream{in: recorded(b, frames...), again: true}
	l := new(Protocol).over(conn, nodeB, nodeA, dist.LinkLimits{})
	var f dist.Frame
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Read(&f); err != nil {
			b.Fatal(err)
		}
	}
}
