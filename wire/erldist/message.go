package erldist

import (
	"crypto/md5" //nolint:gosec // the protocol's digest
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
)

// The messages of the handshake, without their length prefixes:
//
//	name        'N' Flags:64 Creation:32 Nlen:16 Name …            from the dialing side
//	name        'n' 5:16 Flags:32 Name                             the same before OTP 25
//	status      's' Text                                           "ok", "ok_simultaneous", "nok", "not_allowed",
//	                                                               "alive", then "true" or "false" from the dialing side
//	status      's' "named:" Nlen:16 Name Creation:32 …            to a peer that has requested a name
//	challenge   'N' Flags:64 Challenge:32 Creation:32 Nlen:16 Name …
//	complement  'c' FlagsHigh:32 Creation:32                       after an 'n'
//	reply       'r' Challenge:32 Digest:128
//	ack         'a' Digest:128
//
// Bytes at … are ignored. Names are Latin-1, except in a status, where they are UTF-8. A digest is the MD5 of a cookie and
// a challenge in decimal.
const (
	tagName       = 'N' // also of challenges
	tagOldName    = 'n'
	tagStatus     = 's'
	tagComplement = 'c'
	tagReply      = 'r'
	tagAck        = 'a'
)

const (
	digestSize     = md5.Size
	nameHead       = 1 + 8 + 4 + 2
	challengeHead  = 1 + 8 + 4 + 4 + 2
	oldNameHead    = 1 + 2 + 4
	complementSize = 1 + 4 + 4
	replySize      = 1 + 4 + digestSize
	ackSize        = 1 + digestSize
	maxHandshake   = 1 << 16 // maximum bytes of a received message
)

// nameMsg is the first message of the dialing side. With the flag NAME_ME the name is that of its host.
type nameMsg struct {
	flags    erlflags.Flags
	creation uint32
	name     wire.Atom
	old      bool // an 'n': creation and high flags follow in a complement
}

func (m nameMsg) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagName), uint64(m.flags))
	dst = binary.BigEndian.AppendUint32(dst, m.creation)
	return appendName(dst, m.name)
}

func parseName(b []byte) (m nameMsg, err error) {
	switch {
	case len(b) >= nameHead && b[0] == tagName:
		m.flags = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
		m.creation = binary.BigEndian.Uint32(b[9:])
		m.name, err = parseNodeName(b[nameHead-2:])
		return m, err
	case len(b) >= oldNameHead && b[0] == tagOldName:
		m.old = true
		m.flags = erlflags.Flags(binary.BigEndian.Uint32(b[3:]))
		m.name, err = fromLatin1(b[oldNameHead:])
		return m, err
	}
	return m, unexpected(b, "the name of a node")
}

// complementMsg has the fields missing in an old name message.
type complementMsg struct {
	high     uint32 // flags
	creation uint32
}

func (m complementMsg) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, tagComplement), m.high)
	return binary.BigEndian.AppendUint32(dst, m.creation)
}

func parseComplement(b []byte) (m complementMsg, err error) {
	if len(b) != complementSize || b[0] != tagComplement {
		return m, unexpected(b, "the complement of an old name")
	}
	return complementMsg{binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:])}, nil
}

// statusMsg is the accepting side's reaction to a name, or the answer to its "alive".
type statusMsg string

const (
	statusOK           statusMsg = "ok"
	statusSimultaneous statusMsg = "ok_simultaneous"
	statusNok          statusMsg = "nok"
	statusNotAllowed   statusMsg = "not_allowed"
	statusAlive        statusMsg = "alive"
	statusTrue         statusMsg = "true"
	statusFalse        statusMsg = "false"
)

func (m statusMsg) append(dst []byte) []byte { return append(append(dst, tagStatus), m...) }

func parseStatus(b []byte) (statusMsg, error) {
	if len(b) == 0 || b[0] != tagStatus {
		return "", unexpected(b, "a status")
	}
	return statusMsg(b[1:]), nil
}

// namedMsg returns the status that gives a peer its name.
func namedMsg(id wire.NodeID) statusMsg {
	b := binary.BigEndian.AppendUint16([]byte("named:"), uint16(len(id.Name)))
	b = append(b, id.Name...)
	return statusMsg(binary.BigEndian.AppendUint32(b, id.Creation))
}

// parseNamed is the reverse of namedMsg.
func parseNamed(s statusMsg) (id wire.NodeID, err error) {
	b, ok := strings.CutPrefix(string(s), "named:")
	if !ok {
		return id, fmt.Errorf("its status is %.40q", string(s))
	}
	if len(b) < 2 || len(b) < 2+int(b[0])<<8+int(b[1])+4 {
		return id, fmt.Errorf("its status %.40q is too short", string(s))
	}
	n := int(b[0])<<8 + int(b[1])
	return wire.NodeID{Name: wire.Atom(b[2 : 2+n]), Creation: binary.BigEndian.Uint32([]byte(b[2+n:]))}, nil
}

// challengeMsg is the accepting side's introduction, with its challenge.
type challengeMsg struct {
	flags     erlflags.Flags
	challenge uint32
	creation  uint32
	name      wire.Atom
}

func (m challengeMsg) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagName), uint64(m.flags))
	dst = binary.BigEndian.AppendUint32(dst, m.challenge)
	dst = binary.BigEndian.AppendUint32(dst, m.creation)
	return appendName(dst, m.name)
}

func parseChallenge(b []byte) (m challengeMsg, err error) {
	if len(b) < challengeHead || b[0] != tagName {
		return m, unexpected(b, "a challenge")
	}
	m.flags = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
	m.challenge = binary.BigEndian.Uint32(b[9:])
	m.creation = binary.BigEndian.Uint32(b[13:])
	m.name, err = parseNodeName(b[challengeHead-2:])
	return m, err
}

// digest is a proof of a cookie.
type digest [digestSize]byte

func digestOf(cookie string, challenge uint32) digest {
	return md5.Sum(strconv.AppendUint([]byte(cookie), uint64(challenge), 10)) //nolint:gosec // the protocol's digest
}

func (d digest) equal(x digest) bool { return subtle.ConstantTimeCompare(d[:], x[:]) == 1 }

// replyMsg answers a challenge and poses one.
type replyMsg struct {
	challenge uint32
	digest    digest
}

func (m replyMsg) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, tagReply), m.challenge)
	return append(dst, m.digest[:]...)
}

func parseReply(b []byte) (m replyMsg, err error) {
	if len(b) != replySize || b[0] != tagReply {
		return m, unexpected(b, "the answer to a challenge")
	}
	return replyMsg{binary.BigEndian.Uint32(b[1:]), digest(b[5:])}, nil
}

// ackMsg answers the challenge of a reply.
type ackMsg struct{ digest digest }

func (m ackMsg) append(dst []byte) []byte { return append(append(dst, tagAck), m.digest[:]...) }

func parseAck(b []byte) (m ackMsg, err error) {
	if len(b) != ackSize || b[0] != tagAck {
		return m, unexpected(b, "the acknowledgement of an answer")
	}
	return ackMsg{digest(b[1:])}, nil
}

// unexpected returns the error for an invalid message.
func unexpected(b []byte, what string) error {
	if len(b) > 40 {
		return fmt.Errorf("expected %s, got %d bytes beginning with %.40q", what, len(b), b)
	}
	return fmt.Errorf("expected %s, got %q", what, b)
}

// appendName appends a name with its length. Node names have been checked before.
func appendName(dst []byte, name wire.Atom) []byte {
	latin1 := make([]byte, 0, len(name))
	for _, r := range name {
		latin1 = append(latin1, byte(r))
	}
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(latin1))), latin1...)
}

// parseNodeName reads a name with its length prefix.
func parseNodeName(b []byte) (wire.Atom, error) {
	n := int(binary.BigEndian.Uint16(b))
	if n > len(b)-2 {
		return "", fmt.Errorf("expected a name of %d bytes, but %d are left", n, len(b)-2)
	}
	return fromLatin1(b[2 : 2+n])
}

func fromLatin1(b []byte) (wire.Atom, error) {
	if len(b) > wire.MaxAtomRunes {
		return "", fmt.Errorf("a name of %d characters; at most %d are allowed", len(b), wire.MaxAtomRunes)
	}
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return wire.Atom(s.String()), nil
}

// checkNodeName validates the name of a node.
func checkNodeName(name wire.Atom) error {
	if err := links.CheckName(string(name)); err != nil {
		return err
	}
	for _, r := range name {
		if r > 0xff {
			return fmt.Errorf("node name %.300q has %q in it, which is not Latin-1", string(name), r)
		}
	}
	return nil
}

// isLong reports whether a node name is a long one: its host contains a dot, or is an address.
func isLong(name wire.Atom) bool {
	_, host, _ := strings.Cut(string(name), "@")
	return strings.ContainsAny(host, ".:")
}
