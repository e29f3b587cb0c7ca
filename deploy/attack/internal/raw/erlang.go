package raw

import (
	"crypto/md5" //nolint:gosec // the protocol's digest
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Flags of an [Erlang] client: the required ones, and all supported by this project except those of the distribution
// header. HeadedFlags adds that header (the atom cache and fragments).
const (
	PlainFlags = erlflags.Published | erlflags.ExtendedReferences | erlflags.DistMonitor | erlflags.FunTags |
		erlflags.DistMonitorName | erlflags.NewFunTags | erlflags.ExtendedPidsPorts | erlflags.ExportPtrTag |
		erlflags.BitBinaries | erlflags.NewFloats | erlflags.UnicodeIO | erlflags.SmallAtomTags |
		erlflags.UTF8Atoms | erlflags.MapTag | erlflags.BigCreation | erlflags.SendSender |
		erlflags.BigSeqtraceLabels | erlflags.ExitPayload | erlflags.Handshake23 | erlflags.UnlinkID |
		erlflags.Mandatory25Digest | erlflags.Spawn | erlflags.V4NC | erlflags.Alias | erlflags.AltactSig
	HeadedFlags = PlainFlags | erlflags.DistHdrAtomCache | erlflags.Fragments
)

// Self returns the ID of the node that a client claims to be.
func Self(name string, creation uint32) wire.NodeID {
	return wire.NodeID{Name: wire.Atom(name), Creation: creation}
}

// Erlang is one side of a connection with the Erlang distribution protocol. Its fields hold the values that the methods
// send and have read.
type Erlang struct {
	*Conn
	Self  wire.NodeID
	Flags erlflags.Flags // announced; DialErlang announces PlainFlags

	Peer   wire.NodeID // from a challenge or name that was read
	Theirs erlflags.Flags
	Posed  uint32 // the number of the peer's challenge

	dec etfcodec.Decoder
}

// OpenErlang connects and sends nothing yet.
func OpenErlang(addr string, self wire.NodeID) (*Erlang, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	return NewErlang(c, self), nil
}

// NewErlang wraps an existing connection, dialled or accepted.
func NewErlang(c *Conn, self wire.NodeID) *Erlang {
	return &Erlang{Conn: c, Self: self, Flags: PlainFlags}
}

// DialErlang connects and does the whole handshake.
func DialErlang(addr string, self wire.NodeID, cookie string) (*Erlang, error) {
	e, err := OpenErlang(addr, self)
	if err != nil {
		return nil, err
	}
	if err := e.Handshake(cookie); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// Handshake does all steps of the dialling side. It answers "alive" with "true".
func (e *Erlang) Handshake(cookie string) error {
	if err := e.SendName(); err != nil {
		return err
	}
	status, err := e.Status()
	switch {
	case err != nil:
		return err
	case status == "alive":
		if err := e.SendStatus("true"); err != nil {
			return err
		}
	case status != "ok" && status != "ok_simultaneous":
		return fmt.Errorf("raw: status %q", status)
	}
	if err := e.Challenge(); err != nil {
		return err
	}
	const mine = 1_234_567
	if err := e.SendReply(mine, Digest(cookie, e.Posed)); err != nil {
		return err
	}
	digest, err := e.Ack()
	if err == nil && digest != Digest(cookie, mine) {
		err = errors.New("raw: the node does not know the cookie")
	}
	return err
}

// SendMessage sends a message of the handshake, prefixed with its 16-bit length.
func (e *Erlang) SendMessage(b []byte) error {
	return e.Send(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b)
}

// Message reads a message of the handshake.
func (e *Erlang) Message() ([]byte, error) {
	head, err := e.Next(2)
	if err != nil {
		return nil, err
	}
	return e.Next(int(binary.BigEndian.Uint16(head)))
}

// NameMessage returns the message of SendName: 'N' Flags:64 Creation:32 Nlen:16 Name.
func (e *Erlang) NameMessage() []byte {
	b := binary.BigEndian.AppendUint64([]byte{'N'}, uint64(e.Flags))
	b = binary.BigEndian.AppendUint32(b, e.Self.Creation)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Self.Name)))
	return append(b, e.Self.Name...)
}

// SendName is the first step of the dialling side.
func (e *Erlang) SendName() error { return e.SendMessage(e.NameMessage()) }

// Status reads a status, without its tag: "ok", "nok", "alive", "not_allowed" …
func (e *Erlang) Status() (string, error) {
	b, err := e.tagged('s', 1)
	if err != nil {
		return "", err
	}
	return string(b[1:]), nil
}

// SendStatus sends a status of either side.
func (e *Erlang) SendStatus(status string) error {
	return e.SendMessage(append([]byte{'s'}, status...))
}

// Challenge reads the peer's challenge and sets Peer, Theirs and Posed.
func (e *Erlang) Challenge() error {
	b, err := e.tagged('N', 19)
	if err != nil {
		return err
	}
	e.Theirs = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
	e.Posed = binary.BigEndian.Uint32(b[9:])
	e.Peer = wire.NodeID{Name: wire.Atom(b[19:]), Creation: binary.BigEndian.Uint32(b[13:])}
	return nil
}

// ChallengeMessage returns the message of SendChallenge: 'N' Flags:64 Challenge:32 Creation:32 Nlen:16 Name.
func (e *Erlang) ChallengeMessage(number uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{'N'}, uint64(e.Flags))
	b = binary.BigEndian.AppendUint32(b, number)
	b = binary.BigEndian.AppendUint32(b, e.Self.Creation)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Self.Name)))
	return append(b, e.Self.Name...)
}

// SendChallenge is a step of the accepting side.
func (e *Erlang) SendChallenge(number uint32) error {
	return e.SendMessage(e.ChallengeMessage(number))
}

// Name reads the name of a dialling node and sets Peer and Theirs.
func (e *Erlang) Name() error {
	b, err := e.tagged('N', 15)
	if err != nil {
		return err
	}
	e.Theirs = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
	e.Peer = wire.NodeID{Name: wire.Atom(b[15:]), Creation: binary.BigEndian.Uint32(b[9:])}
	return nil
}

// SendReply answers a challenge and poses one: 'r' Challenge:32 Digest:128.
func (e *Erlang) SendReply(number uint32, digest [md5.Size]byte) error {
	return e.SendMessage(append(binary.BigEndian.AppendUint32([]byte{'r'}, number), digest[:]...))
}

// Reply reads the answer of a dialling node.
func (e *Erlang) Reply() (number uint32, digest [md5.Size]byte, err error) {
	b, err := e.tagged('r', 5+md5.Size)
	if err != nil {
		return 0, digest, err
	}
	return binary.BigEndian.Uint32(b[1:]), [md5.Size]byte(b[5:]), nil
}

// SendAck is the last step of the accepting side: 'a' Digest:128.
func (e *Erlang) SendAck(digest [md5.Size]byte) error {
	return e.SendMessage(append([]byte{'a'}, digest[:]...))
}

// Ack reads the last message of the handshake.
func (e *Erlang) Ack() (digest [md5.Size]byte, err error) {
	b, err := e.tagged('a', 1+md5.Size)
	if err != nil {
		return digest, err
	}
	return [md5.Size]byte(b[1:]), nil
}

func (e *Erlang) tagged(tag byte, least int) ([]byte, error) {
	b, err := e.Message()
	if err == nil && (len(b) < least || b[0] != tag) {
		err = fmt.Errorf("raw: a message that begins with %q, not %q", b[:min(len(b), 40)], tag)
	}
	return b, err
}

// Digest proves knowledge of cookie: the MD5 of it and the challenge in decimal.
func Digest(cookie string, challenge uint32) [md5.Size]byte {
	return md5.Sum(strconv.AppendUint([]byte(cookie), uint64(challenge), 10)) //nolint:gosec // the protocol's digest
}

// SendFrame sends arbitrary bytes as a frame, prefixed with their 32-bit length.
func (e *Erlang) SendFrame(pieces ...[]byte) error {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	return e.Send(slices.Insert(slices.Clone(pieces), 0, binary.BigEndian.AppendUint32(nil, uint32(n)))...)
}

// Tick sends an empty frame, a keep-alive.
func (e *Erlang) Tick() error { return e.SendFrame() }

// Frame reads the next frame that is no tick.
func (e *Erlang) Frame() ([]byte, error) {
	for {
		head, err := e.Next(4)
		if err != nil {
			return nil, err
		}
		if n := int(binary.BigEndian.Uint32(head)); n > 0 {
			return e.Next(n)
		}
	}
}

// headed reports whether frames have a distribution header.
func (e *Erlang) headed() bool {
	return e.Flags&e.Theirs&(erlflags.DistHdrAtomCache|erlflags.Fragments) != 0
}

// ControlFrame returns the frame of a control message and its optional payload, both terms. It writes all atoms in full. It
// panics if a term cannot be encoded.
func (e *Erlang) ControlFrame(control any, payload ...any) []byte {
	if e.headed() {
		b := []byte{131, 68, 0}
		for _, t := range append([]any{control}, payload...) {
			b = must(new(etfcodec.Encoder).AppendBare(b, t))
		}
		return b
	}
	b := []byte{112}
	for _, t := range append([]any{control}, payload...) {
		b = must(etf.Append(b, t))
	}
	return b
}

// Control sends a control message and its payload.
func (e *Erlang) Control(control any, payload ...any) error {
	return e.SendFrame(e.ControlFrame(control, payload...))
}

// SendReg sends a message to a registered name, as the process from.
func (e *Erlang) SendReg(from wire.PID, name wire.Atom, message any) error {
	return e.Control(wire.Tuple{6, from, wire.Atom(""), name}, message)
}

// SendPID sends a message to a process.
func (e *Erlang) SendPID(from, to wire.PID, message any) error {
	return e.Control(wire.Tuple{22, from, to}, message)
}

// Signal reads the next frame of a connection without atom cache: its control message and its payload, if any.
func (e *Erlang) Signal() (control wire.Tuple, payload any, err error) {
	b, err := e.Frame()
	if err != nil {
		return nil, nil, err
	}
	if b[0] != 112 {
		return nil, nil, fmt.Errorf("raw: a frame that begins with % x", b[:min(len(b), 8)])
	}
	term, rest, err := e.dec.Decode(b[1:])
	if err != nil {
		return nil, nil, err
	}
	if len(rest) > 0 {
		payload, _, err = e.dec.Decode(rest)
	}
	control, _ = term.(wire.Tuple)
	return control, payload, err
}

// Fragment returns the frame that begins or continues a sequence. If first, data is an atom header (0 for none), the
// control message and the beginning of the payload. left counts down to 1 for the last fragment.
func Fragment(first bool, sequence, left uint64, data []byte) []byte {
	b := []byte{131, 70}
	if first {
		b[1] = 69
	}
	b = binary.BigEndian.AppendUint64(b, sequence)
	b = binary.BigEndian.AppendUint64(b, left)
	return append(b, data...)
}

// PID returns the PID of a process of the claimed node.
func (e *Erlang) PID(id uint64) wire.PID { return wire.NewOrigin(e.Self).PID(id) }

// Ref returns a reference of the claimed node.
func (e *Erlang) Ref(words ...uint32) wire.Ref { return wire.NewOrigin(e.Self).Ref(words...) }

// calls numbers calls, so that a late answer matches none.
var calls atomic.Uint32

// Call acts like gen_server:call: it sends a request to a registered process, and waits for its reply or its end.
func (e *Erlang) Call(name wire.Atom, request any) (any, error) {
	number := calls.Add(1)
	me, ref, monitor := e.PID(1), e.Ref(number, 2, 3), e.Ref(number, 4, 5)
	if err := e.Control(wire.Tuple{19, me, name, monitor}); err != nil {
		return nil, err
	}
	if err := e.SendReg(me, name, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, ref}, request}); err != nil {
		return nil, err
	}
	for {
		control, payload, err := e.Signal()
		if err != nil {
			return nil, err
		}
		if len(control) > 3 && control[3] == monitor {
			return nil, fmt.Errorf("raw: %s has ended", name)
		}
		if t, ok := payload.(wire.Tuple); ok && len(t) == 2 && t[0] == ref {
			return t[1], e.Control(wire.Tuple{20, me, name, monitor})
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
