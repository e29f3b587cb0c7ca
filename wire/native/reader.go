package native

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// reader decodes frames as signals. It belongs to the goroutine that calls Read.
//
//  1. Frames are decoded completely and in the order received; later frames may refer to what a frame defines (pids, atoms,
//     nodes).
//  2. The messages in parts hold at most partial bytes in at most streams messages. Each holds at most twice what has been
//     received of it, or firstCapacity.
type reader struct {
	local, peer wire.NodeID
	limit       int
	partial     int
	streams     int

	dict     pack.DecodeDict
	dec      pack.Decoder
	from, to pidTable
	unpacker unpacker

	standalone *pack.Decoder // for messages in parts
	open       [maxStreams]*incoming
	count      int // number of open messages
	held       int // their announced bytes

	memory *links.Account // for their memory

	requests bool // the peer sends requests and replies in one frame each
	waits    bool // and how long callers wait
	request  links.Request
	reply    links.Reply
}

// An element of a list, tuple or map takes at least elementSize bytes in memory, but may take only one on the wire. So a
// term may have as many elements as fit into the memory of the longest message, but at least leastElements; with the
// default limits 2^24.
const (
	elementSize   = 16
	leastElements = 1 << 16
)

func termLimits(message int) pack.Limits {
	return pack.Limits{Elements: max(leastElements, message/elementSize)}
}

// violation is the error for a protocol violation; the peer gets its code and text.
type violation struct {
	code code
	err  error
}

func (v *violation) Error() string { return v.err.Error() }
func (v *violation) Unwrap() error { return v.err }

func wrong(format string, args ...any) error {
	return &violation{codeProtocol, fmt.Errorf(format, args...)}
}

// errBye is the peer's goodbye.
type errBye struct {
	code code
	text string
}

func (e *errBye) Error() string { return "the peer ended the link: " + printable.Text(e.text) }
func (e *errBye) Unwrap() error { return e.code.kind() }

// frame decodes the bytes of a frame, without its size, into f, which is zero. It returns false if the frame does not
// complete a signal. f shares no memory with b.
func (r *reader) frame(b []byte, f *dist.Frame) (ok bool, err error) {
	switch op := b[0]; op & opMask {
	case opPart:
		return r.part(b, f)
	case opBye:
		c, text := parseReason(b[1:])
		return false, &errBye{c, text}
	}
	return r.signal(b, f)
}

// short decodes a frame in the short form that writer.send writes. For any other frame it does nothing and returns false.
func (r *reader) short(b []byte, f *dist.Frame) bool {
	if len(b) < 5 || b[0] != byte(dist.OpSend) || b[1] >= pidPlaces || b[2] >= pidPlaces || b[3] != binary8 ||
		len(b) != 5+int(b[4]) {
		return false
	}
	from, to := r.from[b[1]], r.to[b[2]]
	if from.IsZero() || to.IsZero() {
		return false
	}
	f.Op, f.From, f.To = dist.OpSend, from, to
	f.Payload = box.Bytes(b[5:])
	return true
}

// run decodes the short frames at the beginning of b with messages to the process to, at most len(msgs). It returns their
// number and their bytes in b. The binaries of one call share memory if there are more than a few.
func (r *reader) run(b []byte, to wire.PID, msgs []any) (n, taken int) {
	place, total := byte(pidPlace(to.Number())), 0
	if r.to[place] != to {
		return 0, 0
	}
	for n < len(msgs) && len(b)-taken >= shortHead {
		f := b[taken:]
		size := shortHead + int(f[6])
		if f[0] != 0 || int(f[1]) != size-sizeBytes || f[2] != byte(dist.OpSend) || f[3] >= pidPlaces || f[4] != place ||
			f[5] != binary8 || r.from[f[3]].IsZero() || len(f) < size {
			break
		}
		more := box.SizeInBlock(int(f[6]))
		if total+more > box.BlockSize {
			break
		}
		n++
		total += more
		taken += size
	}
	if n < fewShort {
		return r.each(b, msgs[:n]), taken
	}
	block := box.NewBlock(total)
	for i := range n {
		size := shortHead + int(b[6])
		msgs[i] = block.Add(b[shortHead:size])
		b = b[size:]
	}
	return n, taken
}

// each decodes frames that run has checked, with separate memory for each message.
func (r *reader) each(b []byte, msgs []any) int {
	for i := range msgs {
		size := shortHead + int(b[6])
		msgs[i] = box.Bytes(b[shortHead:size])
		b = b[size:]
	}
	return len(msgs)
}

const (
	shortHead = 7 // bytes before the binary that writer.send writes
	fewShort  = 4 // at least this many binaries share memory
)

// signal reads a frame with a signal.
func (r *reader) signal(b []byte, f *dist.Frame) (ok bool, err error) {
	bits := b[0]
	f.Op = dist.Op(bits & opMask)
	c := cursor{r: r, b: b[1:]}
	c.fields(f)
	if bits&bitExtras != 0 {
		c.extras(f)
	}
	if c.err != nil {
		return false, wrong("%s: %w", f.Op, c.err)
	}
	switch {
	case bits&bitUnknown != 0 || bits&(bitParts|bitPacked) == bitParts|bitPacked:
		return false, wrong("a frame that begins with %#x", bits)
	case bits&bitParts != 0:
		return false, r.begin(f, &c)
	case !payloads[f.Op]:
		if len(c.b) > 0 {
			return false, wrong("%s: %d unexpected bytes follow it", f.Op, len(c.b))
		}
		return true, nil
	}
	b = c.b
	if bits&bitPacked != 0 {
		if b, err = r.unpacker.unpack(b); err != nil {
			return false, wrong("%s: its compressed payload: %w", f.Op, err)
		}
	}
	return true, r.payload(&r.dec, b, f)
}

// payload reads the payload of a signal.
func (r *reader) payload(d *pack.Decoder, b []byte, f *dist.Frame) error {
	term, rest, err := d.Term(b)
	if err != nil {
		if term, rest, err = unreadable(d, b, err); err != nil {
			return &violation{codeTerm, fmt.Errorf("the payload of %s: %w", f.Op, err)}
		}
	}
	if len(rest) > 0 {
		return wrong("%s: %d unexpected bytes follow its payload", f.Op, len(rest))
	}
	if _, bad := term.(*links.Unreadable); f.Op == dist.OpSpawn && !bad {
		return spawnOf(term, f)
	}
	f.Payload = links.WithTerm(f.Payload, term)
	return nil
}

// unreadable returns a placeholder for a complete term that cannot be read because of why, and the bytes after it.
func unreadable(d *pack.Decoder, b []byte, why error) (_ any, rest []byte, err error) {
	if !pack.IsWhole(why) {
		return nil, b, why
	}
	u := &links.Unreadable{Err: why}
	u.Term, rest, err = d.Rescue(b)
	return u, rest, err
}

// spawnOf reads the payload of a spawn request.
func spawnOf(term any, f *dist.Frame) error {
	bad := func() error {
		return wrong("a spawn request with the payload %s", wire.Formatter{Max: 200}.Format(term))
	}
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 7 {
		return bad()
	}
	module, ok1 := t[0].(wire.Atom)
	function, ok2 := t[1].(wire.Atom)
	args, ok3 := wire.AsList(t[2])
	leader, ok4 := t[3].(wire.PID)
	bits, ok5 := t[4].(int)
	name, ok6 := t[5].(wire.Atom)
	options, ok7 := wire.AsList(t[6])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 {
		return bad()
	}
	f.Spawn = &dist.Spawn{Module: module, Function: function, Args: args, Leader: leader, Name: name, Options: options,
		Link: bits&spawnLinked != 0, Monitor: bits&spawnWatched != 0}
	return nil
}

// cursor reads the fields of a signal. After an error it reads nothing.
type cursor struct {
	r   *reader
	b   []byte
	err error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// fields reads the op's fields as listed in doc.go.
func (c *cursor) fields(f *dist.Frame) {
	r := c.r
	switch f.Op {
	case dist.OpSend, dist.OpSignal:
		f.From = c.pid(&r.from)
		c.target(f)
	case dist.OpLink, dist.OpExit:
		c.pair(f)
	case dist.OpUnlink, dist.OpUnlinkAck:
		c.pair(f)
		f.ID = c.id()
	case dist.OpMonitor, dist.OpDemonitor:
		f.From = c.of(&r.from, r.peer)
		f.To, f.Name = c.either(&r.to, r.local)
		f.Ref = c.ref()
	case dist.OpDown:
		f.From, f.Name = c.either(&r.from, r.peer)
		f.To = c.of(&r.to, r.local)
		f.Ref = c.ref()
	case dist.OpGroupLeader:
		f.From = c.pid(&r.from)
		f.Leader = c.some(&r.to)
		f.To = c.some(&r.to)
	case dist.OpSpawn:
		f.From = c.of(&r.from, r.peer)
		f.Ref = c.ref()
	case dist.OpSpawnReply:
		if f.From = c.pid(&r.from); !f.From.IsZero() {
			c.on(r.peer, f.From)
		}
		f.To = c.of(&r.to, r.local)
		f.Ref = c.ref()
		bits := c.byte()
		f.Linked, f.Watched = bits&spawnLinked != 0, bits&spawnWatched != 0
	case dist.OpReceipt:
		f.From = c.pid(&r.from)
		f.To = c.pid(&r.to)
		f.ID = c.id()
	default:
		c.fail("unknown op %d", f.Op)
	}
}

func (c *cursor) extras(f *dist.Frame) {
	bits := c.byte()
	f.Urgent = bits&extraUrgent != 0
	known := byte(extraSigns)
	if c.r.requests {
		known |= extraCalls
	}
	if c.r.waits {
		known |= extraWait
	}
	if bits&^known != 0 {
		c.fail("unknown flags: %#x", bits)
	}
	if bits&extraID != 0 {
		f.ID = c.id()
	}
	if bits&extraToken != 0 && c.err == nil {
		f.Token, c.b, c.err = c.r.dec.Term(c.b)
	}
	if bits&(extraCalls|extraWait) != 0 {
		c.call(f, bits)
	}
}

// call reads the extras of a request or of a reply.
func (c *cursor) call(f *dist.Frame, bits byte) {
	r := c.r
	switch {
	case f.Op != dist.OpSend || f.ID != 0 || f.Urgent || bits&extraCalls == extraCalls ||
		bits&(extraRequest|extraWait) == extraWait || f.Ref.IsZero() == (bits&extraReply != 0):
		c.fail("a request or a reply with the flags %#x", bits)
	case bits&extraReply != 0:
		r.reply = links.Reply{}
		f.Payload = &r.reply
	default:
		if f.From.IsZero() {
			c.fail("a request from nobody")
		}
		c.on(r.peer, f.From)
		r.request = links.Request{Ref: c.ref()}
		if bits&extraWait != 0 {
			r.request.Wait = c.wait()
		}
		f.Payload = &r.request
	}
}

// wait reads how long a caller waits.
func (c *cursor) wait() time.Duration {
	d, err := links.ReadWait(c.uint())
	if err != nil {
		c.fail("%w", err)
	}
	return d
}

func (c *cursor) pair(f *dist.Frame) {
	f.From = c.of(&c.r.from, c.r.peer)
	f.To = c.of(&c.r.to, c.r.local)
}

func (c *cursor) byte() (b byte) {
	if c.err == nil && len(c.b) == 0 {
		c.err = errCut
	}
	if c.err != nil {
		return 0
	}
	b, c.b = c.b[0], c.b[1:]
	return b
}

func (c *cursor) uint() (n uint64) {
	if c.err == nil {
		n, c.b, c.err = pack.Uint(c.b)
	}
	return n
}

func (c *cursor) id() uint64 {
	n := c.uint()
	if n == 0 {
		c.fail("the number 0")
	}
	return n
}

// pid reads a pid or nil.
func (c *cursor) pid(t *pidTable) (p wire.PID) {
	switch {
	case c.err != nil:
		return p
	case len(c.b) == 0:
		c.err = errCut
		return p
	case c.b[0] < pidPlaces:
		p, c.b = t[c.b[0]], c.b[1:]
		if p.IsZero() {
			c.fail("a pid of the pid dictionary that was not defined")
		}
		return p
	case c.b[0] == nilByte:
		c.b = c.b[1:]
		return p
	}
	if p, c.b, c.err = c.r.dec.PID(c.b); c.err == nil {
		t[pidPlace(p.Number())] = p
	}
	return p
}

// some reads a required pid.
func (c *cursor) some(t *pidTable) wire.PID {
	p := c.pid(t)
	if p.IsZero() {
		c.fail("a pid is missing")
	}
	return p
}

// of reads the pid of a process of node.
func (c *cursor) of(t *pidTable, node wire.NodeID) wire.PID {
	p := c.some(t)
	c.on(node, p)
	return p
}

func (c *cursor) on(node wire.NodeID, p wire.PID) {
	if name := p.Node(); c.err == nil && name != node.Name {
		c.fail("%s is a process of %s, where a process of %s is required", p, name, node.Name)
	}
}

func (c *cursor) ref() (r wire.Ref) {
	if c.err == nil {
		r, c.b, c.err = c.r.dec.Ref(c.b)
	}
	return r
}

// The extension types of package pack that may occur in the place of a pid.
const (
	extAtomLast = 3 // 1 to 3
	extRef      = 5
)

// ext returns the type of the next extension, or 0 if the next object is not one.
func (c *cursor) ext() byte {
	if c.err != nil || len(c.b) == 0 {
		return 0
	}
	at := 0
	switch tag := c.b[0]; {
	case tag >= 0xd4 && tag <= 0xd8: // fixext
		at = 1
	case tag >= 0xc7 && tag <= 0xc9: // ext 8, 16, 32
		at = 1 + 1<<(tag-0xc7)
	}
	if at == 0 || at >= len(c.b) {
		return 0
	}
	return c.b[at]
}

// atom reads a name, if one is next.
func (c *cursor) atom() (a wire.Atom, ok bool) {
	if kind := c.ext(); kind == 0 || kind > extAtomLast {
		return "", false
	}
	if a, c.b, c.err = c.r.dec.Atom(c.b); a == "" {
		c.fail("an empty name")
	}
	return a, true
}

// target reads the receiver of a message or a signal.
func (c *cursor) target(f *dist.Frame) {
	if c.ext() == extRef {
		f.Ref = c.ref()
		return
	}
	if name, ok := c.atom(); ok {
		f.Name = name
		return
	}
	f.To = c.some(&c.r.to)
}

// either reads a name, or the pid of a process of node.
func (c *cursor) either(t *pidTable, node wire.NodeID) (wire.PID, wire.Atom) {
	if name, ok := c.atom(); ok {
		return wire.PID{}, name
	}
	return c.of(t, node), ""
}

// begin reads the rest of a frame whose payload follows in parts.
func (r *reader) begin(f *dist.Frame, c *cursor) error {
	stream, size := int(c.byte()), c.uint()
	switch {
	case c.err != nil:
		return wrong("%s: %w", f.Op, c.err)
	case len(c.b) > 0 || !payloads[f.Op]:
		return wrong("%s: a frame of this kind cannot be sent in parts", f.Op)
	case stream >= r.streams:
		return &violation{codeLimit, fmt.Errorf("number %d for a message in parts; numbers below %d are allowed", stream, r.streams)}
	case r.open[stream] != nil:
		return wrong("a second message in parts with the number %d", stream)
	case size == 0:
		return wrong("an empty message in parts")
	case size > uint64(r.limit):
		return &violation{codeLimit, fmt.Errorf("a message of %d bytes; at most %d are allowed", size, r.limit)}
	case int(size) > r.partial-r.held:
		return &violation{codeLimit, fmt.Errorf("incomplete messages in parts of more than %d bytes together", r.partial)}
	}
	in := &incoming{frame: *f, size: int(size)}
	in.frame.Payload = withoutTerm(f.Payload)
	r.open[stream] = in
	r.count++
	r.held += int(size)
	*f = dist.Frame{}
	return nil
}

// incoming is a partly received message.
type incoming struct {
	frame dist.Frame
	size  int
	b     []byte
}

// firstCapacity is the capacity of a message in parts until this many bytes have been received.
const firstCapacity = 1 << 20

// take appends a part and charges it to memory.
func (in *incoming) take(b []byte, memory *links.Account) error {
	if was := cap(in.b); was-len(in.b) < len(b) {
		size := in.size
		if len(in.b) == 0 {
			size = min(size, firstCapacity)
		}
		if !memory.Take(size - was) {
			const text = "a message of %d bytes, incomplete after %d: the incomplete messages of all nodes together exceed their " +
				"limit (limits.fragment_bytes)"
			return &violation{codeLimit, fmt.Errorf(text, in.size, len(in.b)+len(b))}
		}
		in.b = append(make([]byte, 0, size), in.b...)
	}
	in.b = append(in.b, b...)
	return nil
}

// part reads a part, and returns the signal if it is the last one.
func (r *reader) part(b []byte, f *dist.Frame) (ok bool, err error) {
	if len(b) < 3 {
		return false, wrong("a part: %w", errCut)
	}
	bits, stream := b[0], int(b[1])
	b = b[2:]
	if bits&^bitPacked != opPart {
		return false, wrong("a part that begins with %#x", bits)
	}
	if stream >= maxStreams || r.open[stream] == nil {
		return false, wrong("a part without a first part")
	}
	in := r.open[stream]
	if bits&bitPacked != 0 {
		if b, err = r.unpacker.unpack(b); err != nil {
			return false, wrong("a part, compressed: %w", err)
		}
	}
	if len(b) == 0 || len(b) > in.size-len(in.b) {
		return false, wrong("a part of %d bytes, where %d were expected", len(b), in.size-len(in.b))
	}
	if err := in.take(b, r.memory); err != nil {
		return false, err
	}
	if len(in.b) < in.size {
		return false, nil
	}
	r.memory.Give(cap(in.b))
	r.open[stream] = nil
	r.count--
	r.held -= in.size
	if r.standalone == nil {
		r.standalone = &pack.Decoder{Dict: new(pack.DecodeDict), Types: r.dec.Types, Limits: r.dec.Limits, Alias: true,
			Host: r.dec.Host, Strict: true}
	}
	r.standalone.Dict.Reset()
	*f = in.frame
	return true, r.payload(r.standalone, in.b, f)
}

// sizeOf returns the size prefix of a frame.
func sizeOf(b []byte) int { return int(binary.BigEndian.Uint16(b)) }
