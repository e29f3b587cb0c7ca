package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"time"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

const (
	host   wire.Atom = "go@127.0.0.1"
	cookie string    = "an-attack-does-not-know-this"
	// For the Erlang protocol.
	goMark  wire.Atom = "$go"
	goReply wire.Atom = "reply"
)

// stage is the stage of a connection.
type stage int

const (
	opened     stage = iota // we dialled, and have sent nothing
	named                   // has sent its name or hello
	challenged              // Erlang: has got its status
	proved                  // has sent its proof
	up
	called // the node has dialled, and we have read nothing
	posed  // we have sent status and challenge
	done   // the handshake is over; the node may prefer another connection
	gone
)

func (s stage) String() string {
	return [...]string{"opened", "named", "challenged", "proved", "up", "called", "posed", "done", "gone"}[s]
}

// conn is a connection of a peer with the node.
type conn struct {
	p     *peer
	id    int
	end   *end
	stage stage
	in    []byte // received and not parsed
	over  bool   // the node has closed it
	slow  bool   // does not read

	goNode   bool        // says that it is a Go node
	erl      *raw.Erlang // one of erl and nat is nil
	nat      *raw.Native
	headed   bool
	atoms    [8][256]any // of the headers that have arrived
	atomAt   []any       // of the present message
	atomTold [2048]bool  // by us, to the node
	dec      etfcodec.Decoder
	parts    map[uint64]*parts
	heard    pack.Decoder
	from     [128]wire.PID
	to       [128]wire.PID

	// A session of the native protocol.
	session  bool
	cut      bool   // the connection is gone and the session is not
	sent     []byte // what may have to be sent to the node again
	base     uint64 // of sent
	received uint64

	since   time.Time // of the handshake, or of the cut
	lazy    bool      // takes its time for the handshake
	wrong   bool      // its handshake is wrong
	told    []byte    // text of a goodbye or a refusal
	state   *state    // once up
	doomed  string    // why the node must have closed it when everything is at rest
	chaos   bool      // it has sent something with unpredictable effects
	severed bool      // it is no longer a link
}

// parts is a message that comes in parts.
type parts struct {
	frame dist.Frame
	atoms []any
	b     []byte
	size  int
}

func (c *conn) String() string {
	kind := "erlang"
	if c.nat != nil {
		kind = "native"
	}
	return fmt.Sprintf("%s#%d %s", c.p.name, c.id, kind)
}

// send sends bytes as they are.
func (c *conn) send(b []byte) { c.end.send(b) }

// frame sends a frame, any bytes, in its envelope. In a session they count, and are kept.
func (c *conn) frame(b []byte) {
	if c.erl != nil {
		c.send(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
		return
	}
	framed := c.nat.Framed(b)
	if c.session && len(b) > 0 && b[0]&15 != raw.OpAck && b[0]&15 != raw.OpBye {
		c.sent = append(c.sent, framed...)
	}
	if !c.cut {
		c.send(framed)
	}
}

// tick says that the peer is alive; in a session also what it has received.
func (c *conn) tick() {
	if c.session && !c.cut {
		c.frame(pack.AppendUint([]byte{raw.OpAck}, c.received))
	}
	c.frame(nil)
}

// encode makes the frame of a signal.
func (c *conn) encode(f *dist.Frame) []byte {
	if c.erl != nil {
		control, payload := erlang(f)
		return c.erl.ControlFrame(control, payload...)
	}
	return native(f)
}

// erlang returns the control message of a signal, and its payload.
func erlang(f *dist.Frame) (control wire.Tuple, payload []any) {
	var to any = f.To
	if f.Name != "" {
		to = f.Name
	}
	switch f.Op {
	case dist.OpSend:
		payload = []any{marked(f.Payload)}
		switch {
		case f.Urgent && !f.Ref.IsZero():
			control = wire.Tuple{37, 1 | 4, f.From, f.Ref}
		case f.Urgent && f.Name != "":
			control = wire.Tuple{37, 1 | 8, f.From, f.Name}
		case f.Urgent:
			control = wire.Tuple{37, 1, f.From, f.To}
		case !f.Ref.IsZero():
			control = wire.Tuple{33, f.From, f.Ref}
		case f.Name != "":
			control = wire.Tuple{6, f.From, wire.Atom(""), f.Name}
		default:
			control = wire.Tuple{22, f.From, f.To}
		}
	case dist.OpLink:
		control = wire.Tuple{1, f.From, f.To}
	case dist.OpUnlink:
		control = wire.Tuple{35, f.ID, f.From, f.To}
	case dist.OpUnlinkAck:
		control = wire.Tuple{36, f.ID, f.From, f.To}
	case dist.OpExit:
		control, payload = wire.Tuple{24, f.From, f.To}, []any{f.Payload}
		if f.ID == 1 {
			control, payload = wire.Tuple{3, f.From, f.To, f.Payload}, nil
		}
	case dist.OpSignal:
		control, payload = wire.Tuple{26, f.From, f.To}, []any{f.Payload}
		if f.ID == 1 {
			control, payload = wire.Tuple{8, f.From, f.To, f.Payload}, nil
		}
	case dist.OpMonitor:
		control = wire.Tuple{19, f.From, to, f.Ref}
	case dist.OpDemonitor:
		control = wire.Tuple{20, f.From, to, f.Ref}
	case dist.OpDown:
		control, payload = wire.Tuple{28, f.From, f.To, f.Ref}, []any{f.Payload}
	case dist.OpGroupLeader:
		control = wire.Tuple{7, f.Leader, f.To}
	case dist.OpSpawn:
		s := f.Spawn
		options := wire.List{}
		if s.Link {
			options = append(options, wire.Atom("link"))
		}
		if s.Monitor {
			options = append(options, wire.Atom("monitor"))
		}
		if s.Name != "" {
			options = append(options, wire.Tuple{wire.Atom("name"), s.Name})
		}
		control = wire.Tuple{29, f.Ref, f.From, s.Leader, wire.Tuple{s.Module, s.Function, len(s.Args)}, append(options, s.Options...)}
		payload = []any{wire.List(s.Args)}
	case dist.OpSpawnReply:
		var result any = f.From
		if f.From.IsZero() {
			result = f.Payload
		}
		control = wire.Tuple{31, f.Ref, f.To, 0, result}
	}
	return control, payload
}

// marked returns what a Go node sends by the Erlang protocol in place of the bytes of a Go value, of a request, or of a
// reply.
func marked(payload any) any {
	switch p := payload.(type) {
	case raw.Bytes:
		return wire.Tuple{goMark, []byte(p)}
	case *links.Request:
		return wire.Tuple{goMark, p.Ref, marked(p.Body)}
	case *links.Reply:
		return wire.Tuple{goMark, goReply, marked(p.Value)}
	}
	return payload
}

// unmarked is the reverse of marked.
func unmarked(payload any) (_ any, err error) {
	t, ok := payload.(wire.Tuple)
	if !ok || len(t) < 2 || t[0] != goMark {
		return payload, nil
	}
	if len(t) == 2 {
		payload, _, err = pack.Decode(t[1].([]byte))
		return payload, err
	}
	carried, err := unmarked(t[2])
	if t[1] == goReply {
		return &links.Reply{Value: carried}, err
	}
	return &links.Request{Ref: t[1].(wire.Ref), Body: carried}, err
}

// native returns the frame of a signal.
func native(f *dist.Frame) []byte {
	var from any = f.From
	if f.From.IsZero() {
		from = nil
	}
	var to any = f.To
	switch {
	case f.Name != "":
		to = f.Name
	case !f.Ref.IsZero():
		to = f.Ref
	}
	op := byte(f.Op)
	switch f.Op {
	case dist.OpSend:
		switch p := f.Payload.(type) {
		case *links.Request:
			return raw.SignalFrame(op|raw.Extras, from, to, 8, p.Ref, p.Body)
		case *links.Reply:
			return raw.SignalFrame(op|raw.Extras, from, to, 16, p.Value)
		}
		switch {
		case f.ID != 0:
			return raw.SignalFrame(op|raw.Extras, from, to, 2, f.ID, f.Payload)
		case f.Urgent:
			return raw.SignalFrame(op|raw.Extras, from, to, 1, f.Payload)
		}
		return raw.SignalFrame(op, from, to, f.Payload)
	case dist.OpSignal:
		return raw.SignalFrame(op, from, to, f.Payload)
	case dist.OpLink:
		return raw.SignalFrame(op, from, f.To)
	case dist.OpUnlink, dist.OpUnlinkAck:
		return raw.SignalFrame(op, from, f.To, f.ID)
	case dist.OpExit:
		return raw.SignalFrame(op, from, f.To, f.Payload)
	case dist.OpMonitor, dist.OpDemonitor:
		to = any(f.To)
		if f.Name != "" {
			to = f.Name
		}
		return raw.SignalFrame(op, from, to, f.Ref)
	case dist.OpDown:
		return raw.SignalFrame(op, from, f.To, f.Ref, f.Payload)
	case dist.OpGroupLeader:
		return raw.SignalFrame(op, from, f.Leader, f.To)
	case dist.OpSpawn:
		s := f.Spawn
		bits := 0
		if s.Link {
			bits |= 1
		}
		if s.Monitor {
			bits |= 2
		}
		return raw.SignalFrame(op, from, f.Ref, wire.Tuple{s.Module, s.Function, wire.List(s.Args), s.Leader, bits, s.Name, s.Options})
	case dist.OpSpawnReply:
		if from == nil {
			return raw.SignalFrame(op, nil, f.To, f.Ref, 0, f.Payload)
		}
		return raw.SignalFrame(op, from, f.To, f.Ref, 0, nil)
	}
	panic(f.Op)
}

// next takes a frame from the received bytes. ok false: none is complete.
func (c *conn) next() (b []byte, ok bool, err error) {
	if c.erl != nil {
		if len(c.in) < 4 {
			return nil, false, nil
		}
		n := int(binary.BigEndian.Uint32(c.in))
		if len(c.in) < 4+n {
			return nil, false, nil
		}
		b, c.in = c.in[4:4+n], c.in[4+n:]
		return b, true, nil
	}
	if len(c.in) < 2 {
		return nil, false, nil
	}
	n, sum := int(binary.BigEndian.Uint16(c.in)), 0
	if c.nat.Sums && n > 0 {
		sum = 4
	}
	if len(c.in) < 2+n+sum {
		return nil, false, nil
	}
	all := c.in[:2+n+sum]
	b, c.in = all[2:2+n], c.in[2+n+sum:]
	if sum > 0 {
		if crc32.Checksum(all[:2+n], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(all[2+n:]) {
			return nil, false, errors.New("a frame of the node whose sum is wrong")
		}
		if op := b[0] & 15; op != raw.OpAck && op != raw.OpBye {
			c.received += uint64(len(all))
		}
	}
	return b, true, nil
}

// message takes a message of the handshake.
func (c *conn) message() (b []byte, ok bool) {
	if len(c.in) < 2 {
		return nil, false
	}
	n := int(binary.BigEndian.Uint16(c.in))
	if len(c.in) < 2+n {
		return nil, false
	}
	b, c.in = c.in[2:2+n], c.in[2+n:]
	return b, true
}

// decode makes a signal from a frame, if the frame completes one.
func (c *conn) decode(b []byte) (f dist.Frame, ok bool, err error) {
	if len(b) == 0 {
		return f, false, nil
	}
	if c.erl != nil {
		return c.decodeErlang(b)
	}
	return c.decodeNative(b)
}

var errShort = errors.New("a frame of the node that ends too early")

func (c *conn) decodeErlang(b []byte) (f dist.Frame, ok bool, err error) {
	c.atomAt = nil
	switch {
	case b[0] == 112 && !c.headed:
		var control any
		if control, b, err = c.dec.Decode(b[1:]); err != nil {
			return f, false, err
		}
		f, err = c.control(control, b, c.dec.Decode)
		return f, true, err
	case len(b) < 3 || b[0] != 131 || !c.headed:
		return f, false, fmt.Errorf("a frame of the node that begins with % x", b[:min(len(b), 4)])
	case b[1] == 68:
		if b, err = c.header(b[2:]); err != nil {
			return f, false, err
		}
	case b[1] == 69 || b[1] == 70:
		seq, left := binary.BigEndian.Uint64(b[2:]), binary.BigEndian.Uint64(b[10:])
		p := c.parts[seq]
		if b[1] == 69 {
			if b, err = c.header(b[18:]); err != nil {
				return f, false, err
			}
			p = &parts{atoms: c.atomAt, size: int(left)}
			c.parts[seq] = p
		} else {
			b = b[18:]
		}
		if p == nil || p.size != int(left) {
			return f, false, fmt.Errorf("fragment %d of sequence %d of the node is out of order", left, seq)
		}
		p.b, p.size = append(p.b, b...), p.size-1
		if left > 1 {
			return f, false, nil
		}
		delete(c.parts, seq)
		b, c.atomAt = p.b, p.atoms
	default:
		return f, false, fmt.Errorf("a frame of the node that begins with % x", b[:2])
	}
	control, b, err := c.dec.DecodeBare(b)
	if err != nil {
		return f, false, err
	}
	f, err = c.control(control, b, c.dec.DecodeBare)
	return f, true, err
}

// header reads the atoms of a frame.
func (c *conn) header(b []byte) ([]byte, error) {
	n := int(b[0])
	b = b[1:]
	if n == 0 {
		return b, nil
	}
	flags := b[:n/2+1]
	b = b[n/2+1:]
	for i := range n {
		flag, at := flags[i/2]>>(4*(i%2))&15, b[0]
		b = b[1:]
		if flag&8 != 0 {
			size := int(b[0])
			c.atoms[flag&7][at] = wire.Atom(b[1 : 1+size])
			b = b[1+size:]
		}
		if c.atoms[flag&7][at] == nil {
			return nil, errors.New("the node says an atom that it has not told")
		}
		c.atomAt = append(c.atomAt, c.atoms[flag&7][at])
	}
	return b, nil
}

// control makes a signal from a control message.
func (c *conn) control(control any, rest []byte, decode func([]byte) (any, []byte, error)) (f dist.Frame, err error) {
	t, ok := control.(wire.Tuple)
	if !ok || len(t) < 3 {
		return f, fmt.Errorf("a control message of the node that is %s", wire.Format(control))
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the control message %s of the node: %v", wire.Format(control), cause)
		}
	}()
	if len(rest) > 0 {
		if f.Payload, rest, err = decode(rest); err != nil {
			return f, err
		}
		if len(rest) > 0 {
			return f, fmt.Errorf("%d bytes behind %s", len(rest), wire.Format(control))
		}
		if c.goNode {
			if f.Payload, err = unmarked(f.Payload); err != nil {
				return f, err
			}
		}
	}
	pidOrName := func(v any) (wire.PID, wire.Atom) {
		if a, ok := v.(wire.Atom); ok {
			return wire.PID{}, a
		}
		return v.(wire.PID), ""
	}
	id := func(v any) uint64 {
		if n, ok := v.(*big.Int); ok {
			return n.Uint64()
		}
		n, _ := wire.AsInt(v)
		return uint64(n)
	}
	op, _ := wire.AsInt(t[0])
	switch op {
	case 1:
		f.Op, f.From, f.To = dist.OpLink, t[1].(wire.PID), t[2].(wire.PID)
	case 6:
		f.Op, f.From, f.Name = dist.OpSend, t[1].(wire.PID), t[3].(wire.Atom)
	case 22:
		f.Op, f.From, f.To = dist.OpSend, t[1].(wire.PID), t[2].(wire.PID)
	case 33:
		f.Op, f.From, f.Ref = dist.OpSend, t[1].(wire.PID), t[2].(wire.Ref)
	case 37:
		f.Op, f.From, f.Ref = dist.OpSend, t[2].(wire.PID), t[3].(wire.Ref)
	case 35:
		f.Op, f.ID, f.From, f.To = dist.OpUnlink, id(t[1]), t[2].(wire.PID), t[3].(wire.PID)
	case 36:
		f.Op, f.ID, f.From, f.To = dist.OpUnlinkAck, id(t[1]), t[2].(wire.PID), t[3].(wire.PID)
	case 24:
		f.Op, f.From, f.To = dist.OpExit, t[1].(wire.PID), t[2].(wire.PID)
	case 26:
		f.Op, f.From, f.To = dist.OpSignal, t[1].(wire.PID), t[2].(wire.PID)
	case 19, 20:
		f.Op = dist.OpMonitor
		if op == 20 {
			f.Op = dist.OpDemonitor
		}
		f.From, f.Ref = t[1].(wire.PID), t[3].(wire.Ref)
		f.To, f.Name = pidOrName(t[2])
	case 28:
		f.Op, f.To, f.Ref = dist.OpDown, t[2].(wire.PID), t[3].(wire.Ref)
		f.From, f.Name = pidOrName(t[1])
	case 7:
		f.Op, f.Leader, f.To = dist.OpGroupLeader, t[1].(wire.PID), t[2].(wire.PID)
	case 29:
		mfa := t[4].(wire.Tuple)
		args, _ := wire.AsList(f.Payload)
		f.Op, f.Ref, f.From = dist.OpSpawn, t[1].(wire.Ref), t[2].(wire.PID)
		f.Spawn = &dist.Spawn{Module: mfa[0].(wire.Atom), Function: mfa[1].(wire.Atom), Args: args, Leader: t[3].(wire.PID)}
	case 31:
		f.Op, f.Ref, f.To = dist.OpSpawnReply, t[1].(wire.Ref), t[2].(wire.PID)
		bits := id(t[3])
		f.Linked, f.Watched = bits&1 != 0, bits&2 != 0
		if pid, ok := t[4].(wire.PID); ok {
			f.From = pid
		} else {
			f.Payload = t[4]
		}
	default:
		return f, fmt.Errorf("the operation %d of the node", op)
	}
	return f, nil
}

func (c *conn) decodeNative(b []byte) (f dist.Frame, ok bool, err error) {
	bits := b[0]
	op := bits & 15
	switch op {
	case raw.OpAck:
		n, rest, err := pack.Uint(b[1:])
		if err != nil || len(rest) > 0 || n < c.base || n > c.base+uint64(len(c.sent)) {
			return f, false, fmt.Errorf("an ack of byte %d, where %d to %d are kept", n, c.base, c.base+uint64(len(c.sent)))
		}
		c.sent, c.base = c.sent[n-c.base:], n
		return f, false, nil
	case raw.OpBye:
		c.told = bytes.Clone(b[1:])
		return f, false, nil
	case raw.OpPart:
		p := c.parts[uint64(b[1])]
		if p == nil || bits != raw.OpPart || len(p.b)+len(b)-2 > p.size {
			return f, false, errors.New("a part of the node that belongs to no message")
		}
		if p.b = append(p.b, b[2:]...); len(p.b) < p.size {
			return f, false, nil
		}
		delete(c.parts, uint64(b[1]))
		alone := pack.Decoder{Dict: new(pack.DecodeDict)}
		f = p.frame
		var term any
		term, b, err = alone.Term(p.b)
		f.Payload = links.WithTerm(f.Payload, term)
		if err == nil && len(b) > 0 {
			err = errShort
		}
		return f, true, err
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a frame of the node, % x: %v", b[:min(len(b), 40)], cause)
		}
	}()
	r := fields{c: c, b: b[1:]}
	f.Op = dist.Op(op)
	switch f.Op {
	case dist.OpSend, dist.OpSignal:
		f.From = r.pid(&c.from)
		r.target(&f, &c.to)
	case dist.OpLink, dist.OpExit:
		f.From, f.To = r.pid(&c.from), r.pid(&c.to)
	case dist.OpUnlink, dist.OpUnlinkAck:
		f.From, f.To, f.ID = r.pid(&c.from), r.pid(&c.to), r.uint()
	case dist.OpMonitor, dist.OpDemonitor:
		f.From = r.pid(&c.from)
		r.target(&f, &c.to)
		f.Ref = r.term().(wire.Ref)
	case dist.OpDown:
		var from dist.Frame
		r.target(&from, &c.from)
		f.From, f.Name = from.To, from.Name
		f.To, f.Ref = r.pid(&c.to), r.term().(wire.Ref)
	case dist.OpGroupLeader:
		f.From, f.Leader, f.To = r.pid(&c.from), r.pid(&c.to), r.pid(&c.to)
	case dist.OpSpawn:
		f.From, f.Ref = r.pid(&c.from), r.term().(wire.Ref)
	case dist.OpSpawnReply:
		f.From, f.To, f.Ref = r.pid(&c.from), r.pid(&c.to), r.term().(wire.Ref)
		bits := r.uint()
		f.Linked, f.Watched = bits&1 != 0, bits&2 != 0
	case dist.OpReceipt:
		f.From, f.To, f.ID = r.pid(&c.from), r.pid(&c.to), r.uint()
	default:
		return f, false, fmt.Errorf("the op %d of the node", op)
	}
	if bits&raw.Extras != 0 {
		more := r.uint()
		if more&2 != 0 {
			f.ID = r.uint()
		}
		if more&4 != 0 {
			f.Token = r.term()
		}
		switch {
		case more&8 != 0:
			f.Payload = &links.Request{Ref: r.term().(wire.Ref)}
		case more&16 != 0:
			f.Payload = &links.Reply{}
		}
	}
	if bits&raw.Parts != 0 {
		stream := r.uint()
		c.parts[stream] = &parts{frame: f, size: int(r.uint())}
		return f, false, nil
	}
	switch f.Op {
	case dist.OpSend, dist.OpExit, dist.OpSignal, dist.OpDown, dist.OpSpawn, dist.OpSpawnReply, dist.OpReceipt:
		f.Payload = links.WithTerm(f.Payload, r.term())
	}
	if len(r.b) > 0 {
		return f, false, errShort
	}
	if f.Op == dist.OpSpawn {
		t := f.Payload.(wire.Tuple)
		args, _ := wire.AsList(t[2])
		f.Spawn = &dist.Spawn{Module: t[0].(wire.Atom), Function: t[1].(wire.Atom), Args: args}
	}
	return f, true, nil
}

// signals returns the signals that one of the node stands for: a call in one frame stands for two.
func signals(f dist.Frame) []dist.Frame {
	switch p := f.Payload.(type) {
	case *links.Request:
		monitor := dist.Frame{Op: dist.OpMonitor, From: f.From, To: f.To, Name: f.Name, Ref: p.Ref}
		f.Payload = wire.Tuple{calls, wire.Tuple{f.From, aliasTag(p.Ref)}, p.Body}
		return []dist.Frame{monitor, f}
	case *links.Reply:
		f.Payload = wire.Tuple{aliasTag(f.Ref), p.Value}
	}
	return []dist.Frame{f}
}

// aliasTag is the tag of a call that is answered to an alias.
func aliasTag(ref wire.Ref) any { return wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref} }

// fields reads the fields of a native frame; it panics if one is missing.
type fields struct {
	c *conn
	b []byte
}

func (r *fields) term() (t any) {
	var err error
	if t, r.b, err = r.c.heard.Term(r.b); err != nil {
		panic(err)
	}
	return t
}

func (r *fields) uint() uint64 {
	n, b, err := pack.Uint(r.b)
	if err != nil {
		panic(err)
	}
	r.b = b
	return n
}

func (r *fields) pid(table *[128]wire.PID) wire.PID {
	switch t := r.term().(type) {
	case nil:
		return wire.PID{}
	case int:
		if table[t].IsZero() {
			panic("a pid that the node has not told")
		}
		return table[t]
	case wire.PID:
		table[(t.Number()^t.Number()>>32)%128] = t
		return t
	default:
		panic(fmt.Sprintf("%v where a pid must be", t))
	}
}

func (r *fields) target(f *dist.Frame, table *[128]wire.PID) {
	if k := r.b[0]; k < 128 {
		f.To = r.pid(table)
		return
	}
	switch t := r.term().(type) {
	case wire.Atom:
		f.Name = t
	case wire.Ref:
		f.Ref = t
	case wire.PID:
		table[(t.Number()^t.Number()>>32)%128] = t
		f.To = t
	default:
		panic(fmt.Sprintf("%v where a destination must be", t))
	}
}

// flags returns the flags of the Erlang protocol for the connection.
func (c *conn) flags() erlflags.Flags {
	flags := raw.PlainFlags
	if c.headed {
		flags = raw.HeadedFlags
	}
	if c.goNode {
		flags |= erlflags.GoValues
	}
	return flags
}
