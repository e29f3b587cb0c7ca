package erldist

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// state is the message that a side of the handshake waits for. doc.go has a diagram.
type state uint8

const (
	awaitStatus     state = iota // dialing side: the peer's reaction to our name
	awaitChallenge               // dialing side
	awaitAck                     // dialing side: has sent its reply
	awaitName                    // accepting side
	awaitAlive                   // accepting side: whether the peer insists
	awaitComplement              // accepting side: the peer sent an old name message
	awaitReply                   // accepting side
	finished                     // both sides are authenticated
	failed
)

func (s state) String() string {
	return [...]string{"await status", "await challenge", "await ack", "await name", "await alive", "await complement",
		"await reply", "finished", "failed"}[s]
}

// machine is one side of a handshake. It has no socket, clock or randomness: random values are passed in, and messages to
// send are returned.
type machine struct {
	h         dist.Handshake
	challenge uint32         // posed by this side
	announce  erlflags.Flags // capabilities of this side
	state     state
	proof     state // accepting side: the state after the challenge

	peer   wire.NodeID    // as far as it is known
	theirs erlflags.Flags // the peer's, expanded
	// answer is called before a challenge of the peer is answered. It returns false for a challenge that this node has
	// posed, or is answering, in another handshake. If nil, every challenge is answered.
	answer func(challenge uint32) bool
	in     string // cookie that the peer must prove
	out    string // cookie that this side proves
	old    []string
}

// newMachine starts the dialing or the accepting side, and returns its first messages.
func newMachine(h dist.Handshake, dialled bool, announce erlflags.Flags, challenge uint32) (*machine, [][]byte, error) {
	m := &machine{h: h, challenge: challenge, announce: announce, state: awaitName}
	if !h.Hidden {
		m.announce |= erlflags.Published
	}
	if h.Client {
		m.announce |= erlflags.Client
	}
	if err := checkNodeName(h.Local.Name); err != nil {
		return m, nil, m.fail(dist.ErrPeerName, "this node: %v", err)
	}
	if h.Cookies == nil {
		return m, nil, m.fail(dist.ErrCookie, "this node has no cookie for the peer")
	}
	if !dialled {
		return m, nil, nil
	}
	m.peer.Name = h.Peer
	m.state = awaitStatus
	if err := checkNodeName(h.Peer); err != nil {
		return m, nil, m.fail(dist.ErrPeerName, "%v", err)
	}
	if isLong(h.Local.Name) != isLong(h.Peer) {
		return m, nil, m.fail(dist.ErrPeerName, "one of %s (this node) and %s has a long name, with a dot in its host, the other "+
			"a short one: such nodes do not connect", h.Local.Name, h.Peer)
	}
	n := nameMsg{flags: m.announce, creation: h.Local.Creation, name: h.Local.Name}
	if h.Named != nil {
		_, host, _ := strings.Cut(string(h.Local.Name), "@")
		m.announce = m.announce&^erlflags.Published | erlflags.NameMe
		n = nameMsg{flags: m.announce, name: wire.Atom(host)}
	}
	return m, [][]byte{n.append(nil)}, nil
}

// fail ends the handshake.
func (m *machine) fail(kind error, format string, args ...any) error {
	m.state = failed
	return &handshakeError{kind, fmt.Sprintf(format, args...)}
}

// handshakeError is an error with its own text and a kind for errors.Is.
type handshakeError struct {
	kind error // nil if callers do not act on it
	text string
}

func (e *handshakeError) Error() string { return "erldist: handshake: " + e.text }
func (e *handshakeError) Unwrap() error { return e.kind }

// step handles the next message and returns the messages to send, in order. They must be sent even if step returns an
// error.
func (m *machine) step(msg []byte) (out [][]byte, err error) {
	switch m.state {
	case awaitStatus:
		return m.onStatus(msg)
	case awaitChallenge:
		return m.onChallenge(msg)
	case awaitAck:
		return nil, m.onAck(msg)
	case awaitName:
		return m.onName(msg)
	case awaitAlive:
		return m.onAlive(msg)
	case awaitComplement:
		return nil, m.onComplement(msg)
	case awaitReply:
		return m.onReply(msg)
	}
	return nil, m.fail(dist.ErrPeerProtocol, "a message in state %s", m.state)
}

// broken returns the error for a message that the state does not wait for.
func (m *machine) broken(err error) error {
	return m.fail(dist.ErrPeerProtocol, "%s: %v", m.peerName(), err)
}

func (m *machine) peerName() string {
	if m.peer.Name == "" {
		return "the peer"
	}
	return links.Shown(string(m.peer.Name))
}

// ended returns the error for a peer that has closed the connection.
func (m *machine) ended() error {
	switch m.state {
	case awaitStatus:
		return m.fail(nil, "%s closed the connection without an answer: no node of OTP 23 or newer listens there, "+
			"or it does not accept the name %s, or it wants TLS, or it dropped this connection because too many came at a time",
			m.peerName(), m.h.Local.Name)
	case awaitChallenge:
		return m.fail(nil, "%s closed the connection before its challenge", m.peerName())
	case awaitAck:
		return m.fail(dist.ErrCookie, "%s closed the connection after this node's answer to its challenge: "+
			"most likely it has a different cookie", m.peerName())
	case awaitName:
		return m.fail(nil, "the peer closed the connection before it sent its name")
	case awaitAlive:
		return m.fail(dist.ErrBusy, "%s closed the connection when told that it is already connected", m.peerName())
	}
	return m.fail(nil, "%s closed the connection after this node's challenge: it may not accept this node "+
		"(flags %s, name %s)", m.peerName(), m.announce, m.h.Local.Name)
}

// onStatus runs on the dialing side.
func (m *machine) onStatus(msg []byte) ([][]byte, error) {
	status, err := parseStatus(msg)
	if err != nil {
		return nil, m.broken(err)
	}
	m.state = awaitChallenge
	if m.h.Named != nil && status != statusNotAllowed {
		return nil, m.named(status)
	}
	switch status {
	case statusOK, statusSimultaneous:
		return nil, nil
	case statusAlive: // it has a connection that this node does not know, or did not know when it dialed
		if m.h.Insist != nil && !m.h.Insist(wire.NodeID{Name: m.h.Peer}) {
			return [][]byte{statusFalse.append(nil)},
				m.fail(dist.ErrBusy, "%s is already connected, by a connection that both nodes keep", m.peerName())
		}
		return [][]byte{statusTrue.append(nil)}, nil
	case statusNok:
		return nil, m.fail(dist.ErrBusy, "%s answered nok: it is connecting to this node itself and keeps that connection",
			m.peerName())
	case statusNotAllowed:
		return nil, m.fail(dist.ErrNotAllowed, "%s answered not_allowed: it accepts no connection from %s, or requires other flags "+
			"than %s",
			m.peerName(), m.h.Local.Name, m.announce)
	}
	if strings.HasPrefix(string(status), "named:") {
		return nil, m.fail(dist.ErrPeerProtocol, "%s assigned a name that this node did not ask for", m.peerName())
	}
	return nil, m.fail(dist.ErrPeerProtocol, "%s answered with the unknown status %.40q", m.peerName(), string(status))
}

// named takes the name that this node has requested from the peer.
func (m *machine) named(status statusMsg) error {
	id, err := parseNamed(status)
	if err != nil {
		return m.fail(dist.ErrPeerProtocol, "%s assigns no name: %v", m.peerName(), err)
	}
	_, want, _ := strings.Cut(string(m.h.Local.Name), "@")
	if _, host, _ := strings.Cut(string(id.Name), "@"); checkNodeName(id.Name) != nil || host != want {
		return m.fail(dist.ErrPeerName, "%s assigned the name %.300q, and not one at the host %s", m.peerName(), string(id.Name), want)
	}
	m.h.Local = id
	m.h.Named(id)
	return nil
}

// onChallenge runs on the dialing side.
func (m *machine) onChallenge(msg []byte) ([][]byte, error) {
	c, err := parseChallenge(msg)
	if err != nil {
		return nil, m.broken(err)
	}
	if c.name != m.h.Peer {
		return nil, m.fail(dist.ErrPeerName, "expected %s to answer, but %.300q did%s", m.h.Peer, string(c.name),
			namesHint(m.h.Peer, c.name))
	}
	m.peer.Creation = c.creation
	m.theirs = c.flags.Expanded()
	if err := m.checkFlags("to", "aborted"); err != nil {
		return nil, err
	}
	if !m.cookies() {
		return nil, m.fail(dist.ErrCookie, "this node has no cookie for %s", m.peerName())
	}
	if m.answer != nil && !m.answer(c.challenge) {
		return nil, m.fail(dist.ErrCookie, "%s sent back a challenge that this node sent in another handshake: it does not "+
			"know the cookie, and tries to make this node answer in its place (by chance this happens once in some million connections)",
			m.peerName())
	}
	m.state = awaitAck
	return [][]byte{replyMsg{m.challenge, digestOf(m.out, c.challenge)}.append(nil)}, nil
}

// namesHint suggests what may be wrong with a name.
func namesHint(want, got wire.Atom) string {
	switch {
	case checkNodeName(got) != nil:
		return ""
	case isLong(want) && !isLong(got):
		return ", which has a short name (-sname)"
	case !isLong(want) && isLong(got):
		return ", which has a long name (-name)"
	}
	return ""
}

// onAck runs on the dialing side.
func (m *machine) onAck(msg []byte) error {
	a, err := parseAck(msg)
	if err != nil {
		return m.broken(err)
	}
	if !a.digest.equal(digestOf(m.in, m.challenge)) {
		return m.fail(dist.ErrCookie, "%s does not know the cookie: connection attempt cancelled", m.peerName())
	}
	m.state = finished
	return nil
}

// onName runs on the accepting side.
func (m *machine) onName(msg []byte) ([][]byte, error) {
	n, err := parseName(msg)
	if err != nil {
		return nil, m.broken(err)
	}
	m.theirs = n.flags.Expanded()
	m.peer = wire.NodeID{Name: n.name, Creation: n.creation}
	status := statusOK
	switch {
	case n.flags&erlflags.NameMe != 0:
		if status, err = m.name(n.name); err != nil {
			return [][]byte{statusNotAllowed.append(nil)}, err
		}
	case checkNodeName(n.name) != nil:
		return nil, m.broken(checkNodeName(n.name))
	}
	if err := m.checkFlags("from", "rejected"); err != nil {
		return [][]byte{statusNotAllowed.append(nil)}, err
	}
	m.proof = awaitReply
	if n.old {
		m.proof = awaitComplement
	}
	switch v := m.admit(); {
	case v == dist.Full:
		return [][]byte{statusNotAllowed.append(nil)}, m.fail(dist.ErrNotAllowed,
			"connection attempt from %s refused: this node accepts no more connections now", m.peerName())
	case v != dist.Busy && v != dist.NotAllowed && !m.cookies():
		return [][]byte{statusNotAllowed.append(nil)}, m.fail(dist.ErrCookie,
			"connection attempt from %s refused: this node has no cookie for it", m.peerName())
	case v == dist.Welcome:
		return m.issueChallenge(status), nil
	case v == dist.Simultaneous && status == statusOK:
		return m.issueChallenge(statusSimultaneous), nil
	case v == dist.Alive && status == statusOK:
		m.state = awaitAlive
		return [][]byte{statusAlive.append(nil)}, nil
	case v == dist.Busy:
		return [][]byte{statusNok.append(nil)}, m.fail(dist.ErrBusy, "this node is connecting to %s itself and keeps that connection",
			m.peerName())
	}
	return [][]byte{statusNotAllowed.append(nil)},
		m.fail(dist.ErrNotAllowed, "connection attempt from disallowed node %s", m.peerName())
}

// name chooses a name for a peer without one, and returns the status message with it.
func (m *machine) name(host wire.Atom) (statusMsg, error) {
	if strings.Contains(string(host), "@") || host == "" {
		return "", m.fail(dist.ErrPeerProtocol, "the peer asks for a name and gives the invalid host %.300q", string(host))
	}
	m.announce = m.announce&^erlflags.Published | erlflags.NameMe
	id, ok := wire.NodeID{}, false
	if m.h.NameFor != nil {
		id, ok = m.h.NameFor(string(host))
	}
	if !ok {
		return "", m.fail(dist.ErrNotAllowed, "a node at %.300s asks for a name, and this node does not assign names", host)
	}
	if err := checkNodeName(id.Name); err != nil {
		return "", m.fail(dist.ErrPeerName, "name for a node at %.300s: %v", host, err)
	}
	m.peer = id
	return namedMsg(id), nil
}

func (m *machine) admit() dist.Verdict {
	if m.h.Admit == nil {
		return dist.Welcome
	}
	return m.h.Admit(m.peer)
}

// issueChallenge returns a status followed by the challenge.
func (m *machine) issueChallenge(status statusMsg) [][]byte {
	var out [][]byte
	if status != "" {
		out = append(out, status.append(nil))
	}
	m.state = m.proof
	c := challengeMsg{flags: m.announce, challenge: m.challenge, creation: m.h.Local.Creation, name: m.h.Local.Name}
	return append(out, c.append(nil))
}

// onAlive runs on the accepting side.
func (m *machine) onAlive(msg []byte) ([][]byte, error) {
	switch status, err := parseStatus(msg); {
	case err != nil:
		return nil, m.broken(err)
	case status == statusTrue:
		return m.issueChallenge(""), nil
	case status == statusFalse:
		return nil, m.fail(dist.ErrBusy, "%s keeps the existing connection", m.peerName())
	default:
		return nil, m.fail(dist.ErrPeerProtocol, "%s answered %.40q to the status alive", m.peerName(), string(status))
	}
}

// onComplement runs on the accepting side.
func (m *machine) onComplement(msg []byte) error {
	c, err := parseComplement(msg)
	if err != nil {
		return m.broken(err)
	}
	m.theirs |= erlflags.Flags(c.high) << 32
	m.peer.Creation = c.creation
	m.state = awaitReply
	return nil
}

// onReply runs on the accepting side.
func (m *machine) onReply(msg []byte) ([][]byte, error) {
	r, err := parseReply(msg)
	if err != nil {
		return nil, m.broken(err)
	}
	if !m.accept(func(cookie string) bool { return r.digest.equal(digestOf(cookie, m.challenge)) }) {
		return nil, m.fail(dist.ErrCookie, "connection attempt from node %s rejected: it does not know the cookie", m.peerName())
	}
	if m.h.Proved != nil {
		if err := m.h.Proved(m.peer); err != nil {
			return nil, m.fail(err, "connection attempt from %s refused: %v", m.peerName(), err)
		}
	}
	m.state = finished
	return [][]byte{ackMsg{digestOf(m.out, r.challenge)}.append(nil)}, nil
}

// checkFlags reports missing flags of the peer, in OTP's words.
func (m *machine) checkFlags(dir, how string) error {
	missing := erlflags.Needed &^ m.theirs
	if missing == 0 {
		return nil
	}
	return m.fail(dist.ErrNotAllowed, "%s: Connection attempt %s node %s %s since it cannot handle [%s].",
		m.h.Local.Name, dir, m.peerName(), how, `"`+strings.Join(missing.Names(), `","`)+`"`)
}

// cookies gets the cookies for the peer. It returns false if there are none: an empty cookie is never used for a proof.
func (m *machine) cookies() bool {
	m.in, m.out = m.h.Cookies(m.peer.Name)
	if m.h.OldCookies != nil {
		m.old = m.h.OldCookies(m.peer.Name)
	}
	return m.in != "" && m.out != ""
}

// accept decides whether the peer has proved an accepted cookie, and which cookie this side then proves.
func (m *machine) accept(knows func(cookie string) bool) (ok bool) {
	if out, ok := links.ProvedCookie(m.in, m.out, m.old, knows); ok || m.h.Accept == nil {
		m.out = out
		return ok
	}
	m.out, ok = m.h.Accept(m.peer.Name, knows)
	return ok
}

// flags returns the common capabilities.
func (m *machine) flags() erlflags.Flags { return m.announce & m.theirs }
