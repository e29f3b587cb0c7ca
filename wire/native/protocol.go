package native

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

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Protocol implements the native protocol as a [dist.Protocol]. Its zero value is ready to use; it may be shared, but must
// not be copied.
type Protocol struct {
	// Foreign, if set, returns the term for a Go value in a message that is neither a term nor of a registered type.
	// Without it such a message is not sent.
	Foreign func(value any) (term any, err error)
	// Compress is the minimum payload size in bytes for compression with zstd, if the peer supports it. 0 disables
	// compression.
	Compress int

	types   *pack.Types // the Go types that are sent unchanged; set before use, may be nil
	waiting sessions
}

// SetTypes sets the Go types that are sent unchanged. It is for packages of this module, and must be called before the
// protocol is used.
func (p *Protocol) SetTypes(types *pack.Types) { p.types = types }

// Name returns "native".
func (p *Protocol) Name() string { return "native" }

// Dial runs the handshake on the side that has opened the connection.
func (p *Protocol) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	if h.Redial == nil {
		h.Grace = 0
	}
	first, err := p.dial(ctx, conn, h, nil)
	if err != nil {
		return nil, err
	}
	return p.newLink(first.conn, first.m, p.again(h, first.m)), nil
}

// proved is a connection after its handshake.
type proved struct {
	conn net.Conn
	m    *machine
}

// dial runs the handshake of the side that has opened the connection; see shake.
func (p *Protocol) dial(ctx context.Context, conn net.Conn, h dist.Handshake, set func(*machine)) (proved, error) {
	return links.DialCookies(ctx, conn, h, func(conn net.Conn, h dist.Handshake) (proved, error) {
		m, err := p.shake(ctx, conn, h, true, set)
		return proved{conn, m}, err
	})
}

// Accept runs the handshake on the other side. It closes the connection of a peer that does not authenticate within the
// time limits. It returns links.ErrResumed if the connection has been given to a link that waited for it.
func (p *Protocol) Accept(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	var c claim
	m, err := p.shake(ctx, conn, h, false, func(m *machine) {
		m.find = func(peer wire.NodeID, id sessionID) (received uint64, ok bool) {
			return p.waiting.find(&c, h.Local, peer, id, m.further)
		}
	})
	if err != nil {
		return nil, err
	}
	if m.theirs.flags&flagResume == 0 {
		return p.newLink(conn, m, nil), nil
	}
	if err := c.session.attach(conn, c.gen, c.received, m.want); err != nil {
		return nil, err
	}
	return nil, links.ErrResumed
}

// again returns the function that reconnects for the session that a handshake has started.
func (p *Protocol) again(h dist.Handshake, first *machine) func(context.Context, uint64) (net.Conn, *machine, error) {
	return func(ctx context.Context, received uint64) (net.Conn, *machine, error) {
		conn, err := h.Redial(ctx)
		if err != nil {
			return nil, nil, err
		}
		next, err := p.dial(ctx, conn, h, func(m *machine) {
			m.ours.flags |= flagResume
			m.session, m.received, m.creation = first.session, received, first.theirs.id.Creation
		})
		return next.conn, next.m, err
	}
}

// shake runs a handshake, and closes the connection if it fails. set may change the machine before it starts.
func (p *Protocol) shake(ctx context.Context, conn net.Conn, h dist.Handshake, dialled bool,
	set func(*machine)) (*machine, error) {
	h.Limits = h.Limits.WithDefaults()
	x := &exchange{Handshake: links.Handshake{Package: "native", Ctx: ctx, Conn: conn, Timeout: h.Limits.Timeout}}
	m, err := p.drive(x, h, dialled, set)
	if err == nil {
		return m, nil
	}
	if errors.As(err, new(*handshakeError)) {
		x.linger()
	}
	_ = conn.Close()
	if ctx.Err() != nil && !errors.As(err, new(*handshakeError)) {
		err = fmt.Errorf("native: handshake: %w", context.Cause(ctx))
	}
	return nil, err
}

// drive reads and writes the messages of a handshake.
func (p *Protocol) drive(x *exchange, h dist.Handshake, dialled bool, set func(*machine)) (*machine, error) {
	ours := info(h.Limits)
	var session sessionID
	_, _ = rand.Read(ours.nonce[:]) // never fails
	_, _ = rand.Read(session[:])
	bind := channelOf(x.Conn)
	if bind != nil {
		ours.flags |= flagBound
	}
	m, err := newMachine(h, dialled, ours)
	if err != nil {
		return nil, err
	}
	m.bind = bind
	if !dialled {
		m.session = session
	}
	if set != nil {
		set(m)
	}
	return m, x.Run(func() error { return x.run(m) })
}

// info returns a node's information about itself, without the fields of the handshake.
func info(limits dist.LinkLimits) nodeInfo {
	limits = limits.WithDefaults()
	return nodeInfo{flags: flagCompress | flagTypes | flagRequests | flagWaits, message: uint64(limits.Message),
		partial: uint64(limits.Partial), open: uint8(min(limits.Fragments, maxStreams))}
}

// channelOf returns the channel binding of conn, if it is TLS.
func channelOf(conn net.Conn) func() ([]byte, error) {
	c, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return nil
	}
	return func() ([]byte, error) {
		state := c.ConnectionState()
		return state.ExportKeyingMaterial("EXPORTER-actornode-native", nil, 32)
	}
}

// exchange sends and receives the messages of a handshake, each within the timeout.
type exchange struct {
	links.Handshake
	refused bool // the last message is a refusal
}

func (x *exchange) run(m *machine) error {
	out, err := m.begin(), error(nil)
	for {
		for _, msg := range out {
			x.refused = err != nil
			if e := x.write(msg); e != nil && err == nil {
				err = x.explain(m, e)
			}
		}
		if err != nil || m.state == finished {
			return err
		}
		msg, e := x.read()
		if errors.As(e, new(*handshakeError)) {
			out, err = m.refuse(codeProtocol, "%s", e.(*handshakeError).text)
			continue
		}
		if e != nil {
			return x.explain(m, e)
		}
		out, err = m.step(msg)
	}
}

func (x *exchange) write(msg []byte) error {
	return x.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...))
}

// read returns the next message and reads no byte after it, because that belongs to the link.
func (x *exchange) read() ([]byte, error) {
	if err := x.Arm(); err != nil {
		return nil, err
	}
	var head [2]byte
	if _, err := io.ReadFull(x.Conn, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint16(head[:])
	if n > maxHandshake {
		return nil, &handshakeError{dist.ErrPeerProtocol, notHandshaking(head[:])}
	}
	msg := make([]byte, n)
	_, err := io.ReadFull(x.Conn, msg)
	return msg, err
}

func (x *exchange) explain(m *machine, err error) error {
	return x.Explain(m.peerName(), m.state.String(), err, m.ended)
}

// The time and the number of bytes for which a refused peer can read the reason. The data that it has sent must be read
// first, or the system discards the refusal.
const (
	lingerTime = time.Second
	lingerSize = 64 << 10
)

func (x *exchange) linger() {
	half, ok := x.Conn.(interface{ CloseWrite() error })
	if !x.refused || !ok || x.Ctx.Err() != nil {
		return
	}
	stop := context.AfterFunc(x.Ctx, func() { _ = x.Conn.Close() })
	defer stop()
	if half.CloseWrite() == nil && x.Conn.SetReadDeadline(time.Now().Add(min(lingerTime, x.Timeout))) == nil {
		_, _ = io.CopyN(io.Discard, x.Conn, lingerSize)
	}
}
