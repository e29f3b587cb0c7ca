package raw

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Patience is the default timeout of reads and writes of a [Conn].
const Patience = 30 * time.Second

// Conn is a TCP connection with a timeout for each read and write.
type Conn struct {
	*net.TCPConn
	Patience time.Duration // of each read and write; Dial sets Patience
}

// Dial connects to addr, HOST:PORT.
func Dial(addr string) (*Conn, error) { return DialFrom("", addr) }

// DialFrom connects to addr from the local address source, such as 127.0.0.2, or one chosen by the system if source is "".
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

// Rest reads until the peer closes the connection, or for the time within. ended reports whether the connection was closed
// or reset.
func (c *Conn) Rest(within time.Duration) (b []byte, ended bool) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, true
	}
	b, err := io.ReadAll(io.LimitReader(c.TCPConn, 64<<20))
	return b, !errors.Is(err, os.ErrDeadlineExceeded)
}

// Reset closes the connection with a RST, which drops data in flight.
func (c *Conn) Reset() {
	_ = c.SetLinger(0)
	_ = c.Close()
}
