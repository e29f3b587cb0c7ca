package dist

import (
	"context"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
)

// Transport makes the connections that a [Protocol] uses.
// [TCP] is one, package tlsdist has another.
type Transport interface {
	// Dial opens a connection to addr, host:port, where peer is said to be. What
	// the transport can prove about the peer is proved when it returns. ctx bounds
	// it.
	Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error)
	// Listen returns what accepts connections at addr. Its Accept waits for nothing
	// that a peer could delay: a handshake of the transport's own is part of the
	// first Read or Write, and so within the deadline of the connection.
	Listen(ctx context.Context, addr string) (net.Listener, error)
}

// Chooser is a [Transport] that dials in another way for some protocols.
type Chooser interface {
	DialFor(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error)
}

// Encrypter is a [Transport] that may say that nobody between two nodes can read or change
// what they send.
type Encrypter interface{ Encrypts() bool }

// Voucher is a connection that knows something of who is at its other end.
type Voucher interface {
	// Vouch returns an error if the peer cannot be the node that it says it is. It
	// may be asked when something has been read.
	Vouch(peer wire.Atom) error
}

// TCP is the transport where no other is chosen. The zero value works: small
// writes leave at once (TCP_NODELAY), as OTP has it, and the system probes idle
// connections.
type TCP struct {
	// KeepAlive is how long a connection is idle before the system probes it, and
	// how long it waits between probes. Default: 15 s. Negative: never; ticks find
	// dead peers all the same, later.
	KeepAlive time.Duration
	// Delay holds small writes back until the peer has acknowledged those before
	// (Nagle's algorithm): fewer packets, longer waits.
	Delay bool
}

// Dial is part of Transport. A host with addresses of both families is tried
// with both.
func (t TCP) Dial(ctx context.Context, addr string, _ wire.Atom) (net.Conn, error) {
	d := net.Dialer{KeepAlive: t.KeepAlive}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return t.tuned(conn)
}

// Listen is part of Transport. Without a host in addr it listens on all addresses
// of both families; with a host's name on one of its addresses only, that of IPv4
// if there is one.
func (t TCP) Listen(ctx context.Context, addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAlive: t.KeepAlive}
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil || !t.Delay {
		return ln, err
	}
	return delaying{ln, t}, nil
}

// tuned sets the options that package net does not set.
func (t TCP) tuned(conn net.Conn) (net.Conn, error) {
	if c, ok := conn.(*net.TCPConn); ok && t.Delay {
		if err := c.SetNoDelay(false); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// delaying is a listener whose connections hold small writes back.
type delaying struct {
	net.Listener
	t TCP
}

func (l delaying) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn, err = l.t.tuned(conn); err == nil {
			return conn, nil
		} // it has gone already
	}
}
