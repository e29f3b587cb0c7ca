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

// Protocol is the Erlang distribution protocol as a [dist.Protocol]. Its zero
// value is ready to use, it may be shared, and must not be copied. A node does not answer
// challenges that it has posed itself: it is to accept and to dial with the same Protocol.
type Protocol struct {
	// Foreign, if set, is asked for the term that a Go value in a message stands
	// for that is no term; etf.ToTerm is one to set. Without it such a message is
	// not sent.
	Foreign func(value any) (term any, err error)
	// Values, if set, reads and writes what is no term of Erlang's. See [Values].
	Values Values
	// Packet4 makes the lengths in the handshake four bytes long, as OTP has them
	// over TLS. A *tls.Conn is seen without it.
	Packet4 bool
	// Without are capabilities, as bits of OTP's dist.hrl, that this side does not announce: the peer treats it as a node
	// that lacks them, such as a C or Java node. Default: it announces all that it has.
	Without uint64

	challenges challenges
}

// Values are the Go values of a node. All its methods are for many goroutines at once.
//
// Between two nodes that have Values, which tell each other by a flag that OTP does not use,
// a payload that would not arrive as what it is, such as a string or a Go struct, travels as
// {'$go', Binary}: Append makes the binary, and Decode reads it for host, the *node.Node that
// reads from the link, nil: none does. Decode takes any bytes, and holds no more memory than some 100 bytes for each of them.
// With an error it returns what can be said of the value, and only the message is lost.
//
// Of other nodes, a payload in which an atom stands that is a mark goes through Unmark,
// which returns what takes its place for host, and may change the term. Payloads without such atoms
// cost nothing more.
type Values interface {
	Append(dst []byte, value any) ([]byte, error)
	Decode(b []byte, host any) (value any, rest []byte, err error)
	IsMark(a wire.Atom) bool
	Unmark(term, host any) any
}

// Name returns "erlang".
func (p *Protocol) Name() string { return "erlang" }

// Dial is the side of the handshake that has opened the connection.
func (p *Protocol) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return links.DialCookies(ctx, conn, h, func(conn net.Conn, h dist.Handshake) (dist.Link, error) {
		return p.shake(ctx, conn, h, true)
	})
}

// Accept is the other side. It closes the connection of a peer that proves
// nothing within the limits of time.
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

// drive moves the bytes of a handshake.
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
		announce |= erlflags.GoValues &^ without
	}
	m, out, err := newMachine(h, dialled, announce, ours.number)
	var answered []challenge // one at most
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

// exchange sends and gets the messages of a handshake, each within the timeout.
type exchange struct {
	links.Handshake
	lengthSize int
}

// run goes on where the machine has begun, with what it says and whether it fails.
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

// read returns the next message and takes no byte behind it: that is the link's.
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

// explain makes an error of the connection one of the handshake.
func (x *exchange) explain(m *machine, err error) error {
	if errors.As(err, new(*handshakeError)) {
		return err
	}
	return x.Explain(m.peerName(), m.state.String(), err, m.ended)
}
