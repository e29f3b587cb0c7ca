package raw

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Patience is how long a read or a write of a [Conn] may take where it says nothing else.
const Patience = 30 * time.Second

// Conn is a TCP connection on which each read and each write ends in time.
type Conn struct {
	*net.TCPConn
	Patience time.Duration // of each read and write; Dial sets Patience
}

// Dial connects to addr, HOST:PORT.
func Dial(addr string) (*Conn, error) { return DialFrom("", addr) }

// DialFrom connects to addr from the address source of this host, such as 127.0.0.2;
// "": whichever the system chooses.
func DialFrom(source, addr string) (*Conn, error) {
	d := net.Dialer{Timeout: Patience}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return NewConn(c.(*net.TCPConn)), nil
}

// NewConn makes a Conn of an existing connection.
func NewConn(c *net.TCPConn) *Conn { return &Conn{c, Patience} }

// Send writes all pieces in one write.
func (c *Conn) Send(pieces ...[]byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(c.Patience)); err != nil {
		return err
	}
	b := net.Buffers(pieces)
	_, err := b.WriteTo(c.TCPConn)
	return err
}

// Next reads n bytes.
func (c *Conn) Next(n int) ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.Patience)); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c.TCPConn, b)
	return b, err
}

// Rest reads until the peer closes the connection, or for so long. ended reports the
// former: the connection was closed or reset.
func (c *Conn) Rest(within time.Duration) (b []byte, ended bool) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, true
	}
	b, err := io.ReadAll(io.LimitReader(c.TCPConn, 64<<20))
	return b, !errors.Is(err, os.ErrDeadlineExceeded)
}

// Reset closes the connection by a RST, without the bytes that are under way.
func (c *Conn) Reset() {
	_ = c.SetLinger(0)
	_ = c.Close()
}
