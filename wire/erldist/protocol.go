package erldist

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
)

// Protocol is the Erlang distribution protocol as a [wire.Protocol]. Its zero
// value is ready to use, and it may be shared.
type Protocol struct {
	// Foreign, if set, is asked for the term that a Go value in a message stands
	// for that is no term; etf.ToTerm is one to set. Without it such a message is
	// not sent.
	Foreign func(value any) (term any, err error)
	// Packet4 makes the lengths in the handshake four bytes long, as OTP has them
	// over TLS. A *tls.Conn is seen without it.
	Packet4 bool
	// Without are flags that are not announced, to do without what they stand for:
	// OTP lets its transports reject FlagDistHdrAtomCache and FlagFragments.
	Without Flags
}

// DefaultTimeout is for each step of the handshake, as OTP's net_setuptime.
const DefaultTimeout = 7 * time.Second

// Name returns "erlang".
func (p *Protocol) Name() string { return "erlang" }

// Dial is the side of the handshake that has opened the connection.
func (p *Protocol) Dial(ctx context.Context, conn net.Conn, h wire.Handshake) (wire.Link, error) {
	return p.shake(ctx, conn, h, true)
}

// Accept is the other side. It closes the connection of a peer that proves
// nothing within the limits of time.
func (p *Protocol) Accept(ctx context.Context, conn net.Conn, h wire.Handshake) (wire.Link, error) {
	return p.shake(ctx, conn, h, false)
}

func (p *Protocol) shake(ctx context.Context, conn net.Conn, h wire.Handshake, dialled bool) (wire.Link, error) {
	l, err := p.drive(ctx, conn, h, dialled)
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil && !errors.As(err, new(*handshakeError)) {
			err = fmt.Errorf("erldist: handshake: %w", context.Cause(ctx))
		}
		return nil, err
	}
	return l, nil
}

// drive moves the bytes of a handshake.
func (p *Protocol) drive(ctx context.Context, conn net.Conn, h wire.Handshake, dialled bool) (wire.Link, error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("erldist: no random challenge: %w", err)
	}
	io := &exchange{ctx: ctx, conn: conn, lengthSize: 2, timeout: h.Limits.Timeout}
	if io.timeout <= 0 {
		io.timeout = DefaultTimeout
	}
	if _, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok || p.Packet4 {
		io.lengthSize = 4
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()

	m, out, err := newMachine(h, dialled, announce(p.Without), binary.BigEndian.Uint32(random[:]))
	for {
		for _, msg := range out {
			if e := io.write(msg); e != nil && err == nil {
				err = io.explain(m, e)
			}
		}
		if err != nil {
			return nil, err
		}
		if m.state == finished {
			break
		}
		msg, e := io.read()
		if e != nil {
			return nil, io.explain(m, e)
		}
		out, err = m.step(msg)
	}
	if !stop() {
		return nil, ctx.Err()
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("erldist: handshake: %w", err)
	}
	return p.newLink(conn, m), nil
}

// exchange sends and gets the messages of a handshake, each within the timeout.
type exchange struct {
	ctx        context.Context
	conn       net.Conn
	lengthSize int
	timeout    time.Duration
}

// arm gives the next step its time.
func (x *exchange) arm() error {
	if err := x.conn.SetDeadline(time.Now().Add(x.timeout)); err != nil {
		return err
	}
	return x.ctx.Err() // its end may have come before the deadline was set
}

func (x *exchange) write(msg []byte) error {
	if err := x.arm(); err != nil {
		return err
	}
	b := make([]byte, x.lengthSize, x.lengthSize+len(msg))
	if x.lengthSize == 2 {
		binary.BigEndian.PutUint16(b, uint16(len(msg)))
	} else {
		binary.BigEndian.PutUint32(b, uint32(len(msg)))
	}
	_, err := x.conn.Write(append(b, msg...))
	return err
}

// read returns the next message and takes no byte behind it: that is the link's.
func (x *exchange) read() ([]byte, error) {
	if err := x.arm(); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(x.conn, head[4-x.lengthSize:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n >= maxHandshake {
		return nil, &handshakeError{wire.ErrPeerProtocol, fmt.Sprintf("a message of %d bytes: the peer speaks another protocol, "+
			"or has TLS where this node has none", n)}
	}
	msg := make([]byte, n)
	_, err := io.ReadFull(x.conn, msg)
	return msg, err
}

// explain makes an error of the connection one of the handshake.
func (x *exchange) explain(m *machine, err error) error {
	var timeout net.Error
	switch {
	case errors.As(err, new(*handshakeError)):
		return err
	case x.ctx.Err() != nil:
		return fmt.Errorf("erldist: handshake with %s: %w", m.who(), context.Cause(x.ctx))
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("erldist: handshake: %s is silent for %v (%s): %w", m.who(), x.timeout, m.state, err)
	case hungUp(err):
		return m.ended()
	}
	return fmt.Errorf("erldist: handshake with %s (%s): %w", m.who(), m.state, err)
}
