package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
)

// The messages of the handshake, without their two-byte length prefixes; integers are big-endian:
//
//	hello    'H' "ACTN" Min:8 Max:8 Node Plen:16 Peer …     from the dialing side: versions, itself, the expected peer
//	welcome  'W' "ACTN" Version:8 Alive:8 Node …            the chosen version; 1 if a link already exists
//	proof    'P' Session:128 Received:64 Mac:256            from the dialing side
//	ack      'A' Session:128 Received:64 Mac:256            from the accepting side
//	done     'D'                                            from the dialing side: the link begins after it
//	refusal  'E' Code:8 Text                                from either, at any time: the end
//
//	Node     Flags:32 Creation:32 Grace:32 Message:64 Partial:64 Open:8 Nonce:256 Nlen:16 Name
//
// Bytes at … are ignored, but are covered by the proof. Done is not covered by a proof, so it has none: with a damaged
// length it would swallow the first frames.
const (
	tagHello   = 'H'
	tagWelcome = 'W'
	tagProof   = 'P'
	tagAck     = 'A'
	tagDone    = 'D'
	tagRefusal = 'E'

	magic = "ACTN"
)

const (
	nonceSize    = 32
	macSize      = 32
	nodeSize     = 4 + 4 + 4 + 8 + 8 + 1 + nonceSize
	proofSize    = 1 + 16 + 8 + macSize
	maxHandshake = 4096 // bytes of a message
	maxText      = 400  // bytes of a reason
)

// Bits of the flags in hello and welcome, and of [dist.Peer].Flags.
const (
	flagHidden   uint32 = 1 << iota // the node must not appear in nodes()
	flagCompress                    // it reads compressed frames
	flagSession                     // it requests a session, so that the link survives its connection
	flagResume                      // of a hello: the connection is for an existing link
	flagBound                       // the connection uses TLS, and the proof is bound to it
	_                               // the types of Go values as a former version wrote them: no longer used
	flagRequests                    // it reads requests and replies in one frame each
	flagClient                      // the node is a tool, not a member of the cluster
	flagTypes                       // it reads the types of Go values: see package pack
	flagWaits                       // it reads how long the callers of requests wait
)

// sessionID identifies a link that may survive its connection; zero means none.
type sessionID [16]byte

// nodeInfo is a node's information about itself.
type nodeInfo struct {
	flags   uint32
	id      wire.NodeID
	grace   uint32 // milliseconds
	message uint64 // bytes of the longest message that it reads
	partial uint64 // total bytes of concurrent messages in parts
	open    uint8  // number of concurrent messages in parts
	nonce   [nonceSize]byte
}

func (n *nodeInfo) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, n.flags)
	b = binary.BigEndian.AppendUint32(b, n.id.Creation)
	b = binary.BigEndian.AppendUint32(b, n.grace)
	b = binary.BigEndian.AppendUint64(b, n.message)
	b = binary.BigEndian.AppendUint64(b, n.partial)
	b = append(append(b, n.open), n.nonce[:]...)
	return appendName(b, n.id.Name)
}

func (n *nodeInfo) parse(b []byte) (rest []byte, err error) {
	if len(b) < nodeSize {
		return nil, errShort
	}
	n.flags = binary.BigEndian.Uint32(b)
	n.id.Creation = binary.BigEndian.Uint32(b[4:])
	n.grace = binary.BigEndian.Uint32(b[8:])
	n.message = binary.BigEndian.Uint64(b[12:])
	n.partial = binary.BigEndian.Uint64(b[20:])
	n.open = b[28]
	copy(n.nonce[:], b[29:])
	n.id.Name, rest, err = parseName(b[nodeSize:])
	return rest, err
}

var errShort = errors.New("an incomplete handshake message")

func appendName(b []byte, name wire.Atom) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(name))), name...)
}

// parseName reads a name with its length prefix.
func parseName(b []byte) (name wire.Atom, rest []byte, err error) {
	if len(b) < 2 {
		return "", nil, errShort
	}
	n := int(binary.BigEndian.Uint16(b))
	if n > len(b)-2 {
		return "", nil, errShort
	}
	return wire.Atom(b[2 : 2+n]), b[2+n:], nil
}

// checkName validates the name of a node.
func checkName(name wire.Atom) error { return links.CheckName(string(name)) }

// helloMsg is the first message of the dialing side.
type helloMsg struct {
	min, max uint8 // supported versions
	node     nodeInfo
	peer     wire.Atom // the expected node
}

func (m *helloMsg) append(b []byte) []byte {
	b = append(append(b, tagHello), magic...)
	b = m.node.append(append(b, m.min, m.max))
	return appendName(b, m.peer)
}

// parseVersions reads the common beginning of a hello of any version.
func (m *helloMsg) parseVersions(b []byte) (rest []byte, err error) {
	if len(b) < 7 || b[0] != tagHello || string(b[1:5]) != magic {
		return nil, notNative(b)
	}
	m.min, m.max = b[5], b[6]
	return b[7:], nil
}

func (m *helloMsg) parse(rest []byte) (err error) {
	if rest, err = m.node.parse(rest); err != nil {
		return err
	}
	m.peer, _, err = parseName(rest)
	return err
}

// welcomeMsg is the answer to a hello.
type welcomeMsg struct {
	version uint8
	alive   bool
	node    nodeInfo
}

func (m *welcomeMsg) append(b []byte) []byte {
	b = append(append(b, tagWelcome), magic...)
	b = append(b, m.version, 0)
	if m.alive {
		b[len(b)-1] = 1
	}
	return m.node.append(b)
}

func (m *welcomeMsg) parse(b []byte) error {
	if len(b) < 7 || b[0] != tagWelcome || string(b[1:5]) != magic {
		return notNative(b)
	}
	m.version, m.alive = b[5], b[6] == 1
	_, err := m.node.parse(b[7:])
	return err
}

// proofMsg is a proof, or the ack of one.
type proofMsg struct {
	session  sessionID
	received uint64 // bytes of the session
	mac      [macSize]byte
}

// append appends everything but the mac, which is computed over it.
func (m *proofMsg) append(b []byte, tag byte) []byte {
	b = append(append(b, tag), m.session[:]...)
	return binary.BigEndian.AppendUint64(b, m.received)
}

func (m *proofMsg) parse(b []byte, tag byte) error {
	if len(b) != proofSize || b[0] != tag {
		return unexpected(b, "a proof")
	}
	copy(m.session[:], b[1:])
	m.received = binary.BigEndian.Uint64(b[17:])
	copy(m.mac[:], b[25:])
	return nil
}

// appendReason appends a code and a text, truncated if it is long.
func appendReason(b []byte, c code, text string) []byte {
	return append(append(b, byte(c)), shorten(text)...)
}

func shorten(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "?")
}

// parseReason reads a code and a text.
func parseReason(b []byte) (c code, text string) {
	if len(b) == 0 {
		return codeProtocol, ""
	}
	return code(b[0]), shorten(string(b[1:]))
}

// notNative returns the error for input that does not begin like a hello or welcome.
func notNative(b []byte) error {
	switch {
	case len(b) > 0 && (b[0] == 'N' || b[0] == 'n'):
		return errors.New("the peer speaks the Erlang distribution protocol, but this listener expects the native protocol")
	case len(b) > 5 && bytes.HasPrefix(b[1:], []byte(magic)):
		return unexpected(b, "a handshake message of another step")
	}
	return unexpected(b, "a node that speaks the native protocol")
}

func unexpected(b []byte, what string) error {
	if len(b) > 40 {
		return fmt.Errorf("expected %s, got %d bytes beginning with %.40q", what, len(b), b)
	}
	return fmt.Errorf("expected %s, got %q", what, b)
}

// notHandshaking describes two bytes that are not the length of a message.
func notHandshaking(head []byte) string {
	switch {
	case head[0] == 0x16 && head[1] == 3:
		return "the peer uses TLS, but this node does not"
	case head[0] == 0x15 && head[1] == 3:
		return "the peer answered with a TLS alert, but this node does not use TLS"
	case string(head) == "HT":
		return "the peer answered with HTTP: it is a web server"
	case head[0] >= 'A' && head[0] <= 'Z' && head[1] >= 'A' && head[1] <= 'Z':
		return fmt.Sprintf("the peer sent an HTTP request that begins with %q", head)
	}
	return fmt.Sprintf("a handshake message of %d bytes: the peer speaks a different protocol, or uses TLS where this node does not",
		binary.BigEndian.Uint16(head))
}
