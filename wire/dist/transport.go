package dist

import (
	"context"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
)

// Transport makes the connections that a [Protocol] uses. [TCP] is one; package tlsdist has another.
type Transport interface {
	// Dial opens a connection to addr, host:port, the announced address of peer. When it returns, the transport has
	// verified everything about the peer that it can verify. ctx bounds Dial.
	Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error)
	// Listen returns a listener at addr. Its Accept must not wait for anything that a peer could delay: the transport's own
	// handshake is part of the first Read or Write, and thus subject to the connection's deadline.
	Listen(ctx context.Context, addr string) (net.Listener, error)
}

// Chooser is a [Transport] that dials differently for some protocols.
type Chooser interface {
	DialFor(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error)
}

// Encrypter is a [Transport] that reports whether it protects traffic between nodes from being read or changed.
type Encrypter interface{ Encrypts() bool }

// Voucher is a connection that can verify the node at its other end.
type Voucher interface {
	// Vouch returns an error if the other end cannot be the node peer. It may be called after the first successful Read.
	Vouch(peer wire.Atom) error
}

// TCP is the default transport. The zero value works: small writes are sent at once (TCP_NODELAY), as in OTP, and the
// system probes idle connections.
type TCP struct {
	// KeepAlive is the idle time before the system probes a connection, and the interval between probes. Default: 15 s. If
	// negative, there are no probes; ticks still detect dead peers, but later.
	KeepAlive time.Duration
	// Delay enables Nagle's algorithm: small writes wait until the peer has acknowledged previous ones. That saves packets
	// and adds latency.
	Delay bool
}

// Dial implements Transport. It tries a host's addresses of both families.
func (t TCP) Dial(ctx context.Context, addr string, _ wire.Atom) (net.Conn, error) {
	d := net.Dialer{KeepAlive: t.KeepAlive}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return t.tuned(conn)
}

// Listen implements Transport. Without a host in addr it listens on all addresses of both families; with a host name it
// listens on only one of its addresses, preferably IPv4.
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

// delaying is a listener whose connections use Nagle's algorithm.
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
		} // it has been closed already
	}
}
