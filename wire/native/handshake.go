package native

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// state is the message that a side of the handshake waits for. doc.go has a diagram.
type state uint8

const (
	awaitWelcome state = iota // dialing side
	awaitAck                  // dialing side: has sent its proof
	awaitHello                // accepting side
	awaitProof                // accepting side
	awaitDone                 // accepting side: has sent its ack
	finished                  // both sides are authenticated
	failed
)

func (s state) String() string {
	return [...]string{"await welcome", "await ack", "await hello", "await proof", "await done", "finished", "failed"}[s]
}

// The versions of the protocol that this node supports.
const (
	minVersion = 1
	maxVersion = 1
)

// machine is one side of a handshake. It has no socket, clock or randomness: random values are passed in, and messages to
// send are returned.
type machine struct {
	h     dist.Handshake
	ours  nodeInfo
	state state
	// bind returns the identification of the channel below, or nothing if there is none. It is called after the first
	// message has arrived.
	bind func() ([]byte, error)
	// session is, on the accepting side, the ID of a new session; on the dialing side, the session to resume, of which
	// received bytes have arrived.
	session  sessionID
	received uint64
	creation uint32 // on the dialing side, to resume a session: the peer's creation
	// find returns the number of bytes received of a session with peer that waits for a connection on this node.
	find func(peer wire.NodeID, id sessionID) (received uint64, ok bool)

	hello, welcome, proof []byte // as sent
	bound                 []byte
	theirs                nodeInfo
	want                  uint64 // bytes of the session that the peer has received
	in, out               string // cookies: the one that the peer must prove, and the one that this side proves
	further               string // the cookie chosen by Handshake.Accept, or "" if it was in or an old one
	old                   []string
}

// newMachine makes the dialing or the accepting side. ours has everything except what h contains; bind and find may be set
// before begin.
func newMachine(h dist.Handshake, dialled bool, ours nodeInfo) (*machine, error) {
	m := &machine{h: h, ours: ours, state: awaitHello}
	m.ours.id = h.Local
	if h.Hidden {
		m.ours.flags |= flagHidden
	}
	if h.Client {
		m.ours.flags |= flagClient
	}
	if h.Grace > 0 {
		m.ours.flags |= flagSession
		m.ours.grace = uint32(min(h.Grace.Milliseconds(), 1<<32-1))
	}
	if err := checkName(h.Local.Name); err != nil {
		return m, m.fail(dist.ErrPeerName, "this node: %v", err)
	}
	if h.Cookies == nil {
		return m, m.fail(dist.ErrCookie, "this node has no cookie for the peer")
	}
	if !dialled {
		return m, nil
	}
	if err := checkName(h.Peer); err != nil {
		return m, m.fail(dist.ErrPeerName, "%v", err)
	}
	m.state = awaitWelcome
	m.theirs.id.Name = h.Peer
	return m, nil
}

// begin returns the first message, which the dialing side sends.
func (m *machine) begin() [][]byte {
	if m.state != awaitWelcome {
		return nil
	}
	m.hello = (&helloMsg{min: minVersion, max: maxVersion, node: m.ours, peer: m.h.Peer}).append(nil)
	return [][]byte{m.hello}
}

// fail ends the handshake without notifying the peer.
func (m *machine) fail(kind error, format string, args ...any) error {
	m.state = failed
	return &handshakeError{kind, fmt.Sprintf(format, args...)}
}

// refuse ends the handshake with a refusal.
func (m *machine) refuse(c code, format string, args ...any) ([][]byte, error) {
	err := m.fail(c.kind(), format, args...)
	return [][]byte{appendReason([]byte{tagRefusal}, c, fmt.Sprintf(format, args...))}, err
}

// handshakeError is an error with its own text and a kind for errors.Is.
type handshakeError struct {
	kind error // nil if callers do not act on it
	text string
}

func (e *handshakeError) Error() string { return "native: handshake: " + e.text }
func (e *handshakeError) Unwrap() error { return e.kind }

// step handles the next message and returns the messages to send, in order. They must be sent even if step returns an
// error.
func (m *machine) step(msg []byte) (out [][]byte, err error) {
	if len(msg) > 0 && msg[0] == tagRefusal && m.state < finished {
		c, text := parseReason(msg[1:])
		return nil, m.fail(c.kind(), "%s refused: %s", m.peerName(), printable.Text(text))
	}
	switch m.state {
	case awaitWelcome:
		return m.onWelcome(msg)
	case awaitAck:
		return m.onAck(msg)
	case awaitHello:
		return m.onHello(msg)
	case awaitProof:
		return m.onProof(msg)
	case awaitDone:
		return m.onDone(msg)
	}
	return nil, m.fail(dist.ErrPeerProtocol, "a message in state %s", m.state)
}

func (m *machine) peerName() string {
	if m.theirs.id.Name == "" {
		return "the peer"
	}
	return links.Shown(string(m.theirs.id.Name))
}

// ended returns the error for a peer that has closed the connection.
func (m *machine) ended() error {
	switch m.state {
	case awaitWelcome:
		return m.fail(nil, "%s closed the connection without an answer: no node that speaks the native protocol listens there, "+
			"or it wants TLS, or it dropped this connection because too many came at a time", m.peerName())
	case awaitHello:
		return m.fail(nil, "the peer closed the connection before it sent its name")
	}
	return m.fail(nil, "%s closed the connection (%s)", m.peerName(), m.state)
}

// onHello runs on the accepting side.
func (m *machine) onHello(msg []byte) ([][]byte, error) {
	var hello helloMsg
	rest, err := hello.parseVersions(msg)
	if err != nil {
		out, err := m.refuse(codeProtocol, "%v", err)
		if len(msg) > 0 && (msg[0] == 'N' || msg[0] == 'n') {
			out = [][]byte{[]byte("snot_allowed")} // the corresponding message of its protocol
		}
		return out, err
	}
	if hello.min > maxVersion || hello.max < minVersion {
		return m.refuse(codeVersion, "no common version of the native protocol: the peer speaks %d to %d, this node %d to %d",
			hello.min, hello.max, minVersion, maxVersion)
	}
	if err := hello.parse(rest); err != nil {
		return m.refuse(codeProtocol, "%v", err)
	}
	if err := checkName(hello.node.id.Name); err != nil {
		return m.refuse(codeName, "%v", err)
	}
	m.hello, m.theirs = msg, hello.node
	if hello.peer != m.h.Local.Name {
		return m.refuse(codeName, "%s wants to connect to %.300s, but this is %s", m.peerName(), printable.Text(string(hello.peer)),
			m.h.Local.Name)
	}
	if out, err := m.channel(); err != nil {
		return out, err
	}
	welcome := welcomeMsg{version: min(hello.max, maxVersion), node: m.ours}
	verdict := dist.Welcome
	if m.h.Admit != nil {
		verdict = m.h.Admit(m.theirs.id)
	}
	switch {
	case verdict == dist.NotAllowed:
		return m.refuse(codeNotAllowed, "%s does not accept %s", m.h.Local.Name, m.peerName())
	case !m.cookies():
		return m.refuse(codeCookie, "%s has no cookie for %s", m.h.Local.Name, m.peerName())
	case m.theirs.flags&flagResume != 0: // its link already exists
	case verdict == dist.Alive:
		welcome.alive = true
	case verdict == dist.Busy:
		return m.refuse(codeBusy, "%s is connecting to %s itself and keeps that connection", m.h.Local.Name, m.peerName())
	case verdict == dist.Full:
		return m.refuse(codeFull, "%s accepts no more connections now: it has as many as it may, or is short of memory", m.h.Local.Name)
	}
	m.state = awaitProof
	m.welcome = welcome.append(nil)
	return [][]byte{m.welcome}, nil
}

// cookies gets the cookies for the peer. It returns false if there are none: an empty cookie is never used for a proof.
func (m *machine) cookies() bool {
	m.in, m.out = m.h.Cookies(m.theirs.id.Name)
	if m.h.OldCookies != nil {
		m.old = m.h.OldCookies(m.theirs.id.Name)
	}
	return m.in != "" && m.out != ""
}

// channel determines the channel binding of the connection, and checks that both sides use the same kind.
func (m *machine) channel() ([][]byte, error) {
	if m.bind != nil {
		var err error
		if m.bound, err = m.bind(); err != nil {
			return m.refuse(codeNotAllowed, "cannot bind the proof of the cookie to the TLS connection: %v", err)
		}
	}
	if has := m.theirs.flags&flagBound != 0; has != (m.ours.flags&flagBound != 0) {
		return m.refuse(codeNotAllowed, "only one of %s and %s uses TLS: something between them ends the TLS connection",
			m.h.Local.Name, m.peerName())
	}
	return nil, nil
}

// onWelcome runs on the dialing side.
func (m *machine) onWelcome(msg []byte) ([][]byte, error) {
	var w welcomeMsg
	if err := w.parse(msg); err != nil {
		return m.refuse(codeProtocol, "%s: %v", m.peerName(), err)
	}
	if w.version < minVersion || w.version > maxVersion {
		return m.refuse(codeVersion, "%s chose version %d, which is not in %d to %d", m.peerName(), w.version, minVersion, maxVersion)
	}
	if w.node.id.Name != m.h.Peer {
		return m.refuse(codeName, "%s answered in place of %s", printable.Text(string(w.node.id.Name)), m.h.Peer)
	}
	m.welcome, m.theirs = msg, w.node
	if out, err := m.channel(); err != nil {
		return out, err
	}
	if w.alive && m.h.Insist != nil && !m.h.Insist(m.theirs.id) {
		return m.refuse(codeBusy, "%s and %s are already connected", m.peerName(), m.h.Local.Name)
	}
	if !m.cookies() {
		return m.refuse(codeCookie, "%s has no cookie for %s", m.h.Local.Name, m.peerName())
	}
	p := proofMsg{session: m.session, received: m.received}
	b := p.append(nil, tagProof)
	m.proof = m.mac(b, m.out, labelDialled, m.hello, m.welcome, b)
	m.state = awaitAck
	return [][]byte{m.proof}, nil
}

// The prefixes of the two proofs, so that neither can be used as the other.
const (
	labelDialled  = "actornode native 1: proof of the side that dialled"
	labelAccepted = "actornode native 1: proof of the side that accepted"
)

// mac appends to dst the proof of a cookie for this handshake.
func (m *machine) mac(dst []byte, cookie, label string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(cookie))
	addPart(h, []byte(label))
	addPart(h, m.bound)
	for _, p := range parts {
		addPart(h, p)
	}
	return h.Sum(dst)
}

func addPart(h hash.Hash, p []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(p)))
	h.Write(n[:])
	h.Write(p)
}

// onProof runs on the accepting side.
func (m *machine) onProof(msg []byte) ([][]byte, error) {
	var p proofMsg
	if err := p.parse(msg, tagProof); err != nil {
		return m.refuse(codeProtocol, "%s: %v", m.peerName(), err)
	}
	if !m.accept(func(cookie string) bool {
		return hmac.Equal(p.mac[:], m.mac(nil, cookie, labelDialled, m.hello, m.welcome, msg[:proofSize-macSize]))
	}) {
		return m.refuse(codeCookie, "%s does not know the cookie that %s expects (or something between them changed the messages)",
			m.peerName(), m.h.Local.Name)
	}
	m.proof, m.want = msg, p.received
	if m.theirs.flags&flagResume == 0 && m.h.Proved != nil {
		if err := m.h.Proved(m.theirs.id); err != nil {
			c := codeNotAllowed
			switch {
			case errors.Is(err, dist.ErrBusy):
				c = codeBusy
			case errors.Is(err, dist.ErrFull):
				c = codeFull
			}
			return m.refuse(c, "%s refused %s: %v", m.h.Local.Name, m.peerName(), err)
		}
	}
	ack := proofMsg{}
	switch {
	case m.theirs.flags&flagResume != 0:
		received, ok := uint64(0), false
		if m.find != nil {
			received, ok = m.find(m.theirs.id, p.session)
		}
		if !ok { // proved like any ack, because it ends a link
			m.session = sessionID{}
			err := m.fail(errSession, "%s no longer keeps the link that %s wants to resume", m.h.Local.Name, m.peerName())
			return [][]byte{m.ack(proofMsg{})}, err
		}
		m.session = p.session
		ack = proofMsg{session: p.session, received: received}
	case m.grace() > 0:
		ack.session = m.session
	default:
		m.session = sessionID{}
	}
	m.state = awaitDone
	return [][]byte{m.ack(ack)}, nil
}

// accept decides whether the peer has proved an accepted cookie, and which cookie this side then proves.
func (m *machine) accept(knows func(cookie string) bool) (ok bool) {
	if out, ok := links.ProvedCookie(m.in, m.out, m.old, knows); ok || m.h.Accept == nil {
		m.out = out
		return ok
	}
	m.further, ok = m.h.Accept(m.theirs.id.Name, knows)
	m.out = m.further
	return ok
}

// ack returns the answer to a proof.
func (m *machine) ack(p proofMsg) []byte {
	b := p.append(nil, tagAck)
	return m.mac(b, m.out, labelAccepted, m.hello, m.welcome, m.proof, b)
}

// grace returns the common time of grace.
func (m *machine) grace() time.Duration {
	return time.Duration(min(m.ours.grace, m.theirs.grace)) * time.Millisecond
}

// onAck runs on the dialing side.
func (m *machine) onAck(msg []byte) ([][]byte, error) {
	var p proofMsg
	if err := p.parse(msg, tagAck); err != nil {
		return m.refuse(codeProtocol, "%s: %v", m.peerName(), err)
	}
	if !hmac.Equal(p.mac[:], m.mac(nil, m.in, labelAccepted, m.hello, m.welcome, m.proof, msg[:proofSize-macSize])) {
		return m.refuse(codeCookie, "%s does not know the cookie that %s expects", m.peerName(), m.h.Local.Name)
	}
	if m.ours.flags&flagResume != 0 && (p.session != m.session || m.theirs.id.Creation != m.creation) {
		return nil, m.fail(errSession, "%s no longer keeps the link to resume, or has restarted", m.peerName())
	}
	m.session, m.want = p.session, p.received
	if m.grace() == 0 {
		m.session = sessionID{}
	}
	m.state = finished
	return [][]byte{{tagDone}}, nil
}

// onDone runs on the accepting side.
func (m *machine) onDone(msg []byte) ([][]byte, error) {
	if len(msg) != 1 || msg[0] != tagDone {
		return m.refuse(codeProtocol, "%s: %v", m.peerName(), unexpected(msg, "the end of the handshake"))
	}
	m.state = finished
	return nil, nil
}

// flags returns the common capabilities.
func (m *machine) flags() uint32 {
	return m.ours.flags & m.theirs.flags &^ (flagHidden | flagResume | flagClient)
}
