package native

import (
	"encoding/binary"
	"fmt"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// writer encodes signals as frames. A link's lock guards it.
//
//  1. buf holds whole frames, in the order in which they were written. Each frame refers only to definitions in earlier
//     frames.
//  2. A refused signal leaves buf and the tables unchanged.
//  3. buf holds nothing of a sender that was written after its message in long.
type writer struct {
	// Set once.
	local, peer wire.NodeID
	limit       int // bytes of a message
	partial     int // maximum bytes of concurrent messages in parts
	streams     int // maximum number of them
	threshold   int // minimum payload size for compression; 0 means never
	sums        bool
	waits       bool // the peer reads how long callers wait

	dict     pack.EncodeDict
	enc      pack.Encoder
	from, to pidTable
	undo     []sentPID // pids of the current signal
	buf      []byte
	packed   packer
	err      error // of the current signal

	standalone *pack.Encoder // for payloads in parts; made on first use
	long       []*outgoing   // messages that are sent in parts, the oldest first
	used       uint64        // bit set of the stream numbers in use
	open       int           // bytes of the started ones
	left       int           // remaining bytes of long
}

// sentPID is a changed place of a table, for undoing it.
type sentPID struct {
	t     *pidTable
	place int
	was   wire.PID
}

// write appends the frame of f to buf, or keeps it as a long message.
func (w *writer) write(f *dist.Frame) error {
	if len(w.long) > 0 && w.inProgress(f.From) {
		return dist.ErrLater
	}
	at := len(w.buf)
	w.err = nil
	w.head(f, 0)
	if n := len(w.buf) - at; n > maxFrame-partHead-9 {
		w.fail("the header of %s has %d bytes, the most allowed are %d", f.Op, n, maxFrame-partHead-9)
	}
	long := false
	if w.err == nil && int(f.Op) < len(payloads) && payloads[f.Op] {
		long = w.payload(at, f)
	}
	switch {
	case w.err == nil && long:
		w.back(at)
		return w.begin(f)
	}
	if w.err != nil {
		w.back(at)
		return &wire.EncodeError{Err: w.err}
	}
	w.close(at)
	w.undo = w.undo[:0]
	w.dict.Commit()
	return nil
}

// close fills in the size of the frame that begins at offset at of buf.
func (w *writer) close(at int) {
	binary.BigEndian.PutUint16(w.buf[at:], uint16(len(w.buf)-at-sizeBytes))
	if w.sums {
		w.buf = appendSum(w.buf, w.buf[at:])
	}
}

// back removes the frame that begins at offset at of buf.
func (w *writer) back(at int) {
	w.buf = w.buf[:at]
	for i := len(w.undo) - 1; i >= 0; i-- {
		u := w.undo[i]
		u.t[u.place] = u.was
	}
	w.undo = w.undo[:0]
	w.dict.Undo()
}

// send is write for a short message between two processes that both ends know. It returns false if write must be used.
func (w *writer) send(from, to wire.PID, msg any) bool {
	b, ok := msg.([]byte)
	return ok && w.sendBytes(from, to, b)
}

// sendBytes is send for a binary, which is copied.
func (w *writer) sendBytes(from, to wire.PID, b []byte) bool {
	i, j := pidPlace(from.Number()), pidPlace(to.Number())
	if w.from[i] != from || w.to[j] != to || len(w.long) > 0 || from.IsZero() || to.IsZero() {
		return false
	}
	if len(b) > smallBinary || w.threshold > 0 || w.sums {
		return false
	}
	n := 3 + 2 + len(b)
	w.buf = append(w.buf, 0, byte(n), byte(dist.OpSend), byte(i), byte(j), binary8, byte(len(b)))
	w.buf = append(w.buf, b...)
	return true
}

// The longest binary whose frame's size fits one byte, and its first byte: "bin 8" in MessagePack's specification.
const (
	smallBinary = 250
	binary8     = 0xc4
)

// payload appends the payload of f to the frame that begins at offset at of buf. long reports that it is too long for a
// frame; the end of buf is then invalid.
func (w *writer) payload(at int, f *dist.Frame) (long bool) {
	term := carried(f)
	switch t := term.(type) {
	case []byte:
		long = len(t) >= pack.Large
	case string:
		long = len(t) >= pack.Large
	}
	if long {
		return true
	}
	begin := len(w.buf)
	var first [1][]byte
	segs, buf, err := w.enc.Segments(first[:0], w.buf, term)
	if err != nil {
		w.err = err
		return false
	}
	w.buf = buf
	if len(segs) > 1 || len(w.buf)-at-sizeBytes > maxFrame {
		return true
	}
	if n := len(w.buf) - begin; w.threshold > 0 && n >= w.threshold {
		if b := w.packed.pack(w.buf[begin:]); b != nil {
			w.buf = append(w.buf[:begin], b...)
			w.buf[at+sizeBytes] |= bitPacked
		}
	}
	return false
}

// carried returns the term that f carries.
func carried(f *dist.Frame) any {
	switch p := f.Payload.(type) {
	case *links.Request:
		return p.Body
	case *links.Reply:
		return p.Value
	}
	if f.Op == dist.OpSpawn {
		return spawnTerm(f)
	}
	return f.Payload
}

// withoutTerm returns the payload of a frame whose term is sent in parts.
func withoutTerm(payload any) any {
	switch p := payload.(type) {
	case *links.Request:
		return &links.Request{Ref: p.Ref, Wait: p.Wait}
	case *links.Reply:
		return &links.Reply{}
	}
	return nil
}

// spawnTerm returns the payload of a spawn request.
func spawnTerm(f *dist.Frame) wire.Tuple {
	s := f.Spawn
	bits := 0
	if s.Link {
		bits |= spawnLinked
	}
	if s.Monitor {
		bits |= spawnWatched
	}
	leader := s.Leader
	if leader.IsZero() {
		leader = f.From
	}
	return wire.Tuple{s.Module, s.Function, wire.List(s.Args), leader, bits, s.Name, s.Options}
}

// fail keeps the first error.
func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// head appends the size, to be filled in, the op, and the fields of f.
func (w *writer) head(f *dist.Frame, bits byte) {
	extras := w.extras(f)
	if extras != 0 {
		bits |= bitExtras
	}
	w.buf = append(w.buf, 0, 0, byte(f.Op)|bits)
	w.fields(f)
	if extras == 0 || w.err != nil {
		return
	}
	w.buf = append(w.buf, extras)
	if extras&extraID != 0 {
		w.buf = pack.AppendUint(w.buf, f.ID)
	}
	if extras&extraToken != 0 {
		w.buf, w.err = w.enc.Append(w.buf, f.Token)
	}
	if r, ok := f.Payload.(*links.Request); ok {
		w.of(w.local, f.From, "From")
		w.ref(r.Ref)
		if extras&extraWait != 0 {
			w.buf = pack.AppendUint(w.buf, uint64(links.WaitMillis(r.Wait)))
		}
	}
}

func (w *writer) extras(f *dist.Frame) (bits byte) {
	if f.Urgent && (f.Op == dist.OpSend || f.Op == dist.OpSignal) {
		bits = extraUrgent
	}
	if f.ID != 0 && f.Op == dist.OpSend {
		bits |= extraID
	}
	if f.Token != nil {
		bits |= extraToken
	}
	if f.Op == dist.OpSend {
		switch p := f.Payload.(type) {
		case *links.Request:
			bits |= extraRequest
			if p.Wait > 0 && w.waits {
				bits |= extraWait
			}
		case *links.Reply:
			bits |= extraReply
		}
	}
	return bits
}

// fields appends the op's fields as listed in doc.go.
func (w *writer) fields(f *dist.Frame) {
	switch f.Op {
	case dist.OpSend, dist.OpSignal:
		w.pid(&w.from, f.From)
		w.target(f)
	case dist.OpLink, dist.OpExit:
		w.pair(f)
	case dist.OpUnlink, dist.OpUnlinkAck:
		w.pair(f)
		if f.ID == 0 {
			w.fail("an %s with ID 0", f.Op)
		}
		w.buf = pack.AppendUint(w.buf, f.ID)
	case dist.OpMonitor, dist.OpDemonitor:
		w.of(w.local, f.From, "From")
		w.pid(&w.from, f.From)
		w.either(&w.to, w.peer, f.To, f.Name, "To")
		w.ref(f.Ref)
	case dist.OpDown:
		w.either(&w.from, w.local, f.From, f.Name, "From")
		w.of(w.peer, f.To, "To")
		w.pid(&w.to, f.To)
		w.ref(f.Ref)
	case dist.OpGroupLeader:
		w.pid(&w.from, f.From)
		w.some(f.Leader, "Leader")
		w.pid(&w.to, f.Leader)
		w.some(f.To, "To")
		w.pid(&w.to, f.To)
	case dist.OpSpawn:
		w.of(w.local, f.From, "From")
		w.pid(&w.from, f.From)
		w.ref(f.Ref)
		if f.Spawn == nil {
			w.fail("a spawn without Spawn")
		}
	case dist.OpSpawnReply:
		w.reply(f)
	case dist.OpReceipt:
		w.pid(&w.from, f.From)
		w.pid(&w.to, f.To)
		if f.ID == 0 {
			w.fail("a delivery receipt with ID 0")
		}
		w.buf = pack.AppendUint(w.buf, f.ID)
	default:
		w.fail("a frame with the op %s", f.Op)
	}
}

func (w *writer) reply(f *dist.Frame) {
	if !f.From.IsZero() {
		w.of(w.local, f.From, "From")
	}
	w.pid(&w.from, f.From)
	w.of(w.peer, f.To, "To")
	w.pid(&w.to, f.To)
	w.ref(f.Ref)
	bits := byte(0)
	if f.Linked {
		bits |= spawnLinked
	}
	if f.Watched {
		bits |= spawnWatched
	}
	w.buf = append(w.buf, bits)
}

// pair appends a process of this node and one of the peer.
func (w *writer) pair(f *dist.Frame) {
	w.of(w.local, f.From, "From")
	w.pid(&w.from, f.From)
	w.of(w.peer, f.To, "To")
	w.pid(&w.to, f.To)
}

// of checks that p is a process of node; otherwise the peer would end the link.
func (w *writer) of(node wire.NodeID, p wire.PID, what string) {
	if w.some(p, what); p.Node() != node.Name {
		w.fail("%s is a process of %s, not of %s", what, p.Node(), node.Name)
	}
}

func (w *writer) some(p wire.PID, what string) {
	if p.IsZero() {
		w.fail("%s is the zero PID", what)
	}
}

// pid appends a pid, or nil for the zero PID.
func (w *writer) pid(t *pidTable, p wire.PID) {
	if p.IsZero() {
		w.buf = append(w.buf, nilByte)
		return
	}
	i := pidPlace(p.Number())
	if t[i] == p {
		w.buf = append(w.buf, byte(i))
		return
	}
	if w.err != nil {
		return
	}
	if w.buf, w.err = w.enc.AppendPID(w.buf, p); w.err == nil {
		w.undo = append(w.undo, sentPID{t, i, t[i]})
		t[i] = p
	}
}

// nilByte is MessagePack's nil.
const nilByte = 0xc0

func (w *writer) atom(a wire.Atom) {
	if w.err == nil {
		w.buf, w.err = w.enc.AppendAtom(w.buf, a)
	}
}

func (w *writer) ref(r wire.Ref) {
	if r.IsZero() {
		w.fail("Ref is the zero Ref")
	}
	if w.err == nil {
		w.buf, w.err = w.enc.AppendRef(w.buf, r)
	}
}

// target appends the receiver of a message or a signal.
func (w *writer) target(f *dist.Frame) {
	switch {
	case !f.Ref.IsZero():
		w.ref(f.Ref)
	case f.Name != "":
		w.atom(f.Name)
	default:
		w.some(f.To, "To")
		w.pid(&w.to, f.To)
	}
}

// either appends a name, or a process of node.
func (w *writer) either(t *pidTable, node wire.NodeID, p wire.PID, name wire.Atom, what string) {
	if name != "" {
		w.atom(name)
		return
	}
	w.of(node, p, what)
	w.pid(t, p)
}
