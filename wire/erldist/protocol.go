package erldist

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Protocol implements the Erlang distribution protocol as a [dist.Protocol]. Its zero value is ready to use; it may be
// shared, but must not be copied. A node must accept and dial with the same Protocol, so that it does not answer challenges
// that it has posed itself.
type Protocol struct {
	// Foreign, if set, returns the term for a Go value in a message that is not a term, such as etf.ToTerm. Without it such
	// a message is not sent.
	Foreign func(value any) (term any, err error)
	// Values, if set, reads and writes values that are not Erlang terms. See [Values].
	Values Values
	// Packet4 makes the lengths in the handshake four bytes long, as in OTP over TLS. A *tls.Conn is detected without it.
	Packet4 bool
	// Without is a set of capabilities, as bits of OTP's dist.hrl, that this side does not announce: the peer treats it
	// like a node that lacks them, such as a C or Java node. Default: it announces all of its capabilities.
	Without uint64

	challenges challenges
}

// Values encodes and decodes the Go values of a node. Its methods may be called concurrently.
//
// Two nodes with Values announce that by a flag that OTP does not use. Between them, a payload that would not arrive
// unchanged, such as a string or a Go struct, is sent as {'$go', Binary}: Append makes the binary, and Decode reads it for
// host, the *node.Node that reads from the link, or nil. Decode accepts any bytes, and uses at most about 100 bytes of
// memory for each of them. With an error it returns a description of the value, and only the message is lost.
//
// A payload from any other node that contains an atom that is a mark is passed to Unmark, which returns its replacement for
// host, and may change the term. Payloads without such atoms have no extra cost.
type Values interface {
	Append(dst []byte, value any) ([]byte, error)
	Decode(b []byte, host any) (value any, rest []byte, err error)
	IsMark(a wire.Atom) bool
	Unmark(term, host any) any
}

// Name returns "erlang".
func (p *Protocol) Name() string { return "erlang" }

// Dial runs the handshake on the side that has opened the connection.
func (p *Protocol) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return links.DialCookies(ctx, conn, h, func(conn net.Conn, h dist.Handshake) (dist.Link, error) {
		return p.shake(ctx, conn, h, true)
	})
}

// Accept runs the handshake on the other side. It closes the connection of a peer that does not authenticate within the
// time limits.
func (p *Protocol) Accept(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return p.shake(ctx, conn, h, false)
}

func (p *Protocol) shake(ctx context.Context, conn net.Conn, h dist.Handshake, dialled bool) (dist.Link, error) {
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

// drive reads and writes the messages of a handshake.
func (p *Protocol) drive(ctx context.Context, conn net.Conn, h dist.Handshake, dialled bool) (dist.Link, error) {
	ours, err := p.challenges.issue(h.Local.Name)
	if err != nil {
		return nil, err
	}
	defer p.challenges.done(ours, false)
	x := &exchange{links.Handshake{Package: "erldist", Ctx: ctx, Conn: conn, Timeout: h.Limits.WithDefaults().Timeout}, 2}
	if _, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok || p.Packet4 {
		x.lengthSize = 4
	}
	without := erlflags.Flags(p.Without)
	announce := erlflags.Announce(without)
	if p.Values != nil {
		announce |= (erlflags.GoValues | erlflags.CallWait) &^ without
	}
	m, out, err := newMachine(h, dialled, announce, ours.number)
	var answered []challenge // at most one
	m.answer = func(number uint32) bool {
		theirs := challenge{h.Local.Name, number}
		ok := p.challenges.answer(theirs)
		if ok {
			answered = append(answered, theirs)
		}
		return ok
	}
	err = x.Run(func() error { return x.run(m, out, err) })
	for _, n := range answered {
		p.challenges.done(n, m.state != finished)
	}
	if err != nil {
		return nil, err
	}
	return p.newLink(conn, m), nil
}

// exchange sends and receives the messages of a handshake, each within the timeout.
type exchange struct {
	links.Handshake
	lengthSize int
}

// run continues the handshake with the first messages, and the error, of the machine.
func (x *exchange) run(m *machine, out [][]byte, err error) error {
	for {
		for _, msg := range out {
			if e := x.write(msg); e != nil && err == nil {
				err = x.explain(m, e)
			}
		}
		if err != nil || m.state == finished {
			return err
		}
		msg, e := x.read()
		if e != nil {
			return x.explain(m, e)
		}
		out, err = m.step(msg)
	}
}

func (x *exchange) write(msg []byte) error {
	b := make([]byte, x.lengthSize, x.lengthSize+len(msg))
	if x.lengthSize == 2 {
		binary.BigEndian.PutUint16(b, uint16(len(msg)))
	} else {
		binary.BigEndian.PutUint32(b, uint32(len(msg)))
	}
	return x.Write(append(b, msg...))
}

// read returns the next message and reads no byte after it, because that belongs to the link.
func (x *exchange) read() ([]byte, error) {
	if err := x.Arm(); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(x.Conn, head[4-x.lengthSize:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n >= maxHandshake {
		return nil, &handshakeError{dist.ErrPeerProtocol,
			fmt.Sprintf("a handshake message of %d bytes: the peer speaks a different protocol, "+
				"or uses TLS where this node does not", n)}
	}
	msg := make([]byte, n)
	_, err := io.ReadFull(x.Conn, msg)
	return msg, err
}

// explain turns an error of the connection into one of the handshake.
func (x *exchange) explain(m *machine, err error) error {
	if errors.As(err, new(*handshakeError)) {
		return err
	}
	return x.Explain(m.peerName(), m.state.String(), err, m.ended)
}
