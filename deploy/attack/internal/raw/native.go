package raw

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Flags of a [Native] client, as package native lists them.
const (
	Hidden   uint32 = 1   // not in nodes()
	Compress uint32 = 2   // reads compressed frames
	Session  uint32 = 4   // wants a session
	Resume   uint32 = 8   // in a hello: the connection resumes a session
	Bound    uint32 = 16  // sees TLS
	Requests uint32 = 64  // reads requests and replies in a frame each
	GoTypes  uint32 = 256 // reads the types of Go values
)

// Bits of the first byte of a native frame, in addition to the op.
const (
	Extras byte = 0x10 // an integer of bits (1 urgent, 2 ID, 4 token, 8 request, 16 reply), ID, token, ref follow the fields
	Packed byte = 0x20 // the rest is one frame of zstd
	Parts  byte = 0x40 // the rest is a stream and a number of bytes
)

// Ops of native frames that are not a dist.Op.
const (
	OpAck  = 0
	OpPart = 14
	OpBye  = 15
)

// NodeInfo is a node's description of itself in the native handshake.
type NodeInfo struct {
	Flags    uint32
	ID       wire.NodeID
	Grace    uint32 // milliseconds
	Message  uint64 // maximum bytes of a message that it reads
	Partial  uint64 // maximum bytes of all incomplete messages
	Open     uint8  // maximum number of those
	Nonce    [32]byte
	NameSize int // announced size of the name; negative for the real size
}

// Append appends n in the encoding of the handshake.
func (n NodeInfo) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, n.Flags)
	b = binary.BigEndian.AppendUint32(b, n.ID.Creation)
	b = binary.BigEndian.AppendUint32(b, n.Grace)
	b = binary.BigEndian.AppendUint64(b, n.Message)
	b = binary.BigEndian.AppendUint64(b, n.Partial)
	b = append(append(b, n.Open), n.Nonce[:]...)
	size := n.NameSize
	if size < 0 {
		size = len(n.ID.Name)
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(size)), n.ID.Name...)
}

// nodeSize is the size of a NodeInfo before its name.
const nodeSize = 4 + 4 + 4 + 8 + 8 + 1 + 32

// parse parses the encoding of Append.
func (n *NodeInfo) parse(b []byte) error {
	if len(b) < nodeSize+2 || len(b) < nodeSize+2+int(binary.BigEndian.Uint16(b[nodeSize:])) {
		return errors.New("raw: a node that ends too early")
	}
	n.Flags = binary.BigEndian.Uint32(b)
	n.ID.Creation = binary.BigEndian.Uint32(b[4:])
	n.Grace = binary.BigEndian.Uint32(b[8:])
	n.Message = binary.BigEndian.Uint64(b[12:])
	n.Partial = binary.BigEndian.Uint64(b[20:])
	n.Open = b[28]
	n.Nonce = [32]byte(b[29:])
	n.NameSize = int(binary.BigEndian.Uint16(b[nodeSize:]))
	n.ID.Name = wire.Atom(b[nodeSize+2:][:n.NameSize])
	return nil
}

// Native is one side of a connection with the native protocol.
type Native struct {
	*Conn
	Us   NodeInfo  // sent; OpenNative fills it in
	Peer wire.Atom // the addressed node, in a hello

	// The messages of the handshake as sent, without their lengths: the proofs cover them.
	Hello, Welcome, Proof, Acked []byte

	Alive bool     // from a welcome: the node already has a link to this side
	Them  NodeInfo // from a welcome

	Session  [16]byte // from the ack; set it before SendProof if Us has Resume
	Received uint64   // bytes of the session received: counted by Frame, sent by SendProof
	Want     uint64   // bytes of the session received by the peer, from its ack

	// Sums means that frames end with a CRC-32C, which they do if both sides have a Grace. The handshake sets it.
	Sums bool

	dec pack.Decoder
}

// OpenNative connects and sends nothing yet. peer is the name of the node at addr.
func OpenNative(addr string, self wire.NodeID, peer wire.Atom) (*Native, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	return NewNative(c, self, peer), nil
}

// NewNative wraps an existing connection.
func NewNative(c *Conn, self wire.NodeID, peer wire.Atom) *Native {
	n := &Native{Conn: c, Peer: peer, dec: pack.Decoder{Dict: new(pack.DecodeDict)},
		Us: NodeInfo{ID: self, Message: 256 << 20, Partial: 512 << 20, Open: 64, NameSize: -1}}
	_, _ = rand.Read(n.Us.Nonce[:])
	return n
}

// DialNative connects and does the whole handshake, without a session.
func DialNative(addr string, self wire.NodeID, peer wire.Atom, cookie string) (*Native, error) {
	n, err := OpenNative(addr, self, peer)
	if err != nil {
		return nil, err
	}
	if err := n.Handshake(cookie); err != nil {
		_ = n.Close()
		return nil, err
	}
	return n, nil
}

// Handshake does all steps of the dialling side. For a session, add Session to the flags of Us and set its Grace before.
func (n *Native) Handshake(cookie string) error {
	if err := n.SendHello(); err != nil {
		return err
	}
	if err := n.ReadWelcome(); err != nil {
		return err
	}
	if err := n.SendProof(cookie); err != nil {
		return err
	}
	if err := n.ReadAck(cookie); err != nil {
		return err
	}
	return n.SendDone()
}

// Refusal is the error for a node that refuses with a message.
type Refusal struct {
	Code byte
	Text string
}

func (r *Refusal) Error() string { return fmt.Sprintf("raw: refused, code %d: %s", r.Code, r.Text) }

// SendMessage sends a message of the handshake behind its length of 16 bits.
func (n *Native) SendMessage(b []byte) error {
	return n.Send(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b)
}

// Message reads a message of the handshake. A refusal is a *Refusal.
func (n *Native) Message() ([]byte, error) {
	head, err := n.Next(2)
	if err != nil {
		return nil, err
	}
	b, err := n.Next(int(binary.BigEndian.Uint16(head)))
	if err == nil && len(b) > 1 && b[0] == 'E' {
		return b, &Refusal{b[1], string(b[2:])}
	}
	return b, err
}

// HelloMessage returns the message of SendHello: 'H' "ACTN" Min:8 Max:8 Node Plen:16 Peer.
func (n *Native) HelloMessage() []byte {
	b := n.Us.Append([]byte("HACTN\x01\x01"))
	return append(binary.BigEndian.AppendUint16(b, uint16(len(n.Peer))), n.Peer...)
}

// SendHello is the first step of the dialling side.
func (n *Native) SendHello() error {
	n.Hello = n.HelloMessage()
	return n.SendMessage(n.Hello)
}

// ReadWelcome reads the answer to a hello: 'W' "ACTN" Version:8 Alive:8 Node.
func (n *Native) ReadWelcome() (err error) {
	if n.Welcome, err = n.Message(); err != nil {
		return err
	}
	if len(n.Welcome) < 7 || n.Welcome[0] != 'W' {
		return fmt.Errorf("raw: no welcome: %q", n.Welcome)
	}
	n.Alive = n.Welcome[6] == 1
	return n.Them.parse(n.Welcome[7:])
}

// The labels of the two proofs.
const (
	LabelDialled  = "actornode native 1: proof of the side that dialled"
	LabelAccepted = "actornode native 1: proof of the side that accepted"
)

// MAC returns the HMAC-SHA-256 with key cookie of the label, an empty channel and the parts, each prefixed with its 32-bit
// length.
func MAC(cookie, label string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(cookie))
	for _, p := range append([][]byte{[]byte(label), nil}, parts...) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}

// SendProof proves knowledge of cookie: 'P' Session:128 Received:64 Mac:256.
func (n *Native) SendProof(cookie string) error {
	b := binary.BigEndian.AppendUint64(append([]byte{'P'}, n.Session[:]...), n.Received)
	n.Proof = append(b, MAC(cookie, LabelDialled, n.Hello, n.Welcome, b)...)
	return n.SendMessage(n.Proof)
}

// ReadAck reads the node's own proof, 'A' Session:128 Received:64 Mac:256, and checks it.
func (n *Native) ReadAck(cookie string) (err error) {
	if n.Acked, err = n.Message(); err != nil {
		return err
	}
	const body = 1 + 16 + 8
	if len(n.Acked) != body+32 || n.Acked[0] != 'A' {
		return fmt.Errorf("raw: no ack: %q", n.Acked)
	}
	if !hmac.Equal(n.Acked[body:], MAC(cookie, LabelAccepted, n.Hello, n.Welcome, n.Proof, n.Acked[:body])) {
		return errors.New("raw: the node does not know the cookie")
	}
	n.Session = [16]byte(n.Acked[1:17])
	n.Want = binary.BigEndian.Uint64(n.Acked[17:])
	n.Sums = n.Session != [16]byte{}
	return nil
}

// SendDone is the last step of the dialling side: frames follow.
func (n *Native) SendDone() error { return n.SendMessage([]byte{'D'}) }

// Framed returns a frame with its length and, if Sums is set, its checksum.
func (n *Native) Framed(pieces ...[]byte) []byte {
	body := slices.Concat(pieces...)
	b := append(binary.BigEndian.AppendUint16(nil, uint16(len(body))), body...)
	if n.Sums && len(body) > 0 {
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	return b
}

// SendFrame sends arbitrary bytes, at most 65,535, as one frame.
func (n *Native) SendFrame(pieces ...[]byte) error { return n.Send(n.Framed(pieces...)) }

// Tick sends an empty frame.
func (n *Native) Tick() error { return n.SendFrame() }

const sizeOfSize = 2

// Heard takes over the state of the connection before, whose session n resumes: the values that later frames omit, and the
// number of received bytes.
func (n *Native) Heard(before *Native) { n.dec, n.Received = before.dec, before.Received }

// Terms parses a frame of an op, except the bytes of a long payload: it returns its first byte, and its fields and payload
// as terms. A PID that the peer abbreviates is its index, an integer. Each frame of a connection must go through Terms, in
// order, since later frames omit values of earlier ones.
func (n *Native) Terms(frame []byte) (op byte, terms []any, err error) {
	op = frame[0]
	if op&Packed != 0 || op&15 == OpPart || op&15 == OpBye {
		return op, nil, nil
	}
	for b := frame[1:]; len(b) > 0; {
		var t any
		if t, b, err = n.dec.Term(b); err != nil {
			return op, terms, err
		}
		terms = append(terms, t)
	}
	return op, terms, nil
}

// Frame reads the next frame that is not a tick, without its checksum.
func (n *Native) Frame() ([]byte, error) {
	for {
		head, err := n.Next(2)
		if err != nil {
			return nil, err
		}
		size := int(binary.BigEndian.Uint16(head))
		if size == 0 {
			continue
		}
		more := 0
		if n.Sums {
			more = 4
		}
		b, err := n.Next(size + more)
		if op := b[0] & 15; n.Sums && err == nil && op != OpAck && op != OpBye {
			n.Received += uint64(sizeOfSize + size + more)
		}
		return b[:size], err
	}
}

// SignalFrame returns the frame of an op with bits, followed by its fields and payload: terms, nil for omitted ones, Bytes
// for raw bytes. It panics if a term cannot be encoded.
func SignalFrame(op byte, fields ...any) []byte {
	b := []byte{op}
	for _, f := range fields {
		if as, ok := f.(Bytes); ok {
			b = append(b, as...)
			continue
		}
		b = must(pack.Append(b, f))
	}
	return b
}

// Bytes are raw bytes in SignalFrame.
type Bytes []byte

// Signal sends an op with its fields and payload.
func (n *Native) Signal(op byte, fields ...any) error { return n.SendFrame(SignalFrame(op, fields...)) }

// SendReg sends a message to a registered name, as the process from.
func (n *Native) SendReg(from wire.PID, name wire.Atom, message any) error {
	return n.Signal(byte(dist.OpSend), from, name, message)
}

// PID is a process of the node that this side claims to be.
func (n *Native) PID(id uint64) wire.PID { return wire.NewOrigin(n.Us.ID).PID(id) }

// Ref is a reference of it.
func (n *Native) Ref(words ...uint32) wire.Ref { return wire.NewOrigin(n.Us.ID).Ref(words...) }

// Call calls the server name, like gen_server:call, and waits for its answer. It drops other frames meanwhile. All frames
// must have gone through Terms.
func (n *Native) Call(name wire.Atom, request any) (any, error) {
	number := calls.Add(1)
	me, ref, monitor := n.PID(1), n.Ref(number, 2, 3), n.Ref(number, 4, 5)
	if err := n.Signal(byte(dist.OpMonitor), me, name, monitor); err != nil {
		return nil, err
	}
	if err := n.SendReg(me, name, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, ref}, request}); err != nil {
		return nil, err
	}
	for {
		b, err := n.Frame()
		if err != nil {
			return nil, err
		}
		op, terms, err := n.Terms(b)
		switch {
		case err != nil:
			return nil, err
		case len(terms) == 0:
			continue
		case op&15 == byte(dist.OpDown) && len(terms) > 2 && terms[2] == monitor:
			return nil, fmt.Errorf("raw: %s has ended", name)
		}
		if t, ok := terms[len(terms)-1].(wire.Tuple); ok && len(t) == 2 && t[0] == ref {
			return t[1], n.Signal(byte(dist.OpDemonitor), me, name, monitor)
		}
	}
}
