package erldist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// keptSize is the maximum size of a buffer that is kept for later messages.
const keptSize = 2 << 20

// writer encodes signals as frames. The link's mu guards it.
type writer struct {
	local    wire.Atom
	peer     wire.Atom
	flags    erlflags.Flags
	headed   bool // frames have distribution headers, perhaps without atoms
	limit    int
	nobody   wire.PID       // sender of signals without one
	buf      []byte         // frames that wait for Flush
	body     []byte         // control message and payload of the current message, without the data in cuts
	cuts     []etfcodec.Cut // large binaries of the payload
	segments [][]byte
	long     []fragmentedMessage // messages whose first fragment has been written
	control  int                 // length of the control message in body
	cache    atomsOut
	pattern  pattern
	enc      etfcodec.Encoder
	seq      uint64
	err      error  // of the current control message
	values   Values // nil if the peer cannot read them
	scratch  []byte // buffer for a Go value
}

func newWriter(local wire.NodeID, peer wire.Atom, flags erlflags.Flags, limits dist.LinkLimits,
	foreign func(any) (any, error)) *writer {
	w := &writer{local: local.Name, peer: peer, flags: flags, headed: flags.Headed(), limit: limits.WithDefaults().Message,
		nobody: wire.NewOrigin(local).PID(0)}
	w.enc.Foreign = foreign
	if flags.Has(erlflags.DistHdrAtomCache) {
		w.enc.Atoms = w.cache.index
	}
	return w
}

// write appends the frames of f to buf, or nothing. Of a long message it appends only the first fragment, because atoms
// must enter the cache in order.
func (w *writer) write(f *dist.Frame) error {
	if w.busy(f.From) {
		return dist.ErrLater
	}
	if w.enc.Atoms != nil {
		w.cache.begin()
	}
	w.body, w.cuts, w.err = w.body[:0], w.cuts[:0], nil
	w.signal(f)
	size, err := w.whole()
	if err != nil || size == 0 { // see [dist.Peer.Monitor]
		w.cache.undo()
		return err
	}
	if w.cache.fresh {
		w.pattern.to = wire.PID{}
	}
	if w.headed && size > fragmentSize && w.control < size && w.flags.Has(erlflags.Fragments) {
		return w.fragments(f.From, size)
	}
	at := len(w.buf)
	if w.headed {
		w.buf = append(w.buf, 0, 0, 0, 0, etfcodec.Version, distHeader)
		w.buf = w.cache.appendHeader(w.buf)
	} else {
		w.buf = append(w.buf, 0, 0, 0, 0, passThrough)
	}
	w.buf = growBy(w.buf, size)
	for _, part := range w.parts() {
		w.buf = append(w.buf, part...)
	}
	binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-4))
	clear(w.cuts)
	clear(w.segments) // they refer to the sender's binaries
	if cap(w.body) > keptSize {
		w.body = nil
	}
	return nil
}

// whole returns the size of the current message in bytes, or its error.
func (w *writer) whole() (size int, err error) {
	size = len(w.body)
	for _, c := range w.cuts {
		size += len(c.Data)
	}
	if w.err == nil && size > w.limit {
		w.fail("a message of %d bytes; at most %d are allowed", size, w.limit)
	}
	if w.err != nil {
		err = &wire.EncodeError{Err: w.err}
	}
	return size, err
}

// parts returns the current message as slices, valid until the next call.
func (w *writer) parts() [][]byte {
	w.segments = w.segments[:0]
	from := 0
	for _, c := range w.cuts {
		w.segments = append(w.segments, w.body[from:c.At], c.Data)
		from = c.At
	}
	if from < len(w.body) {
		w.segments = append(w.segments, w.body[from:])
	}
	return w.segments
}

// growBy returns b with capacity for n more bytes.
func growBy(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]byte, 0, len(b)+n), b...)
}

// fail keeps the first error.
func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// cannot fails for a signal that the peer does not support, and reports whether it did.
func (w *writer) cannot(f *dist.Frame, flag erlflags.Flags) bool {
	if w.flags.Has(flag) {
		return false
	}
	w.fail("%s cannot receive %s of this form: it lacks the flag %s", w.peer, f.Op, flag.Name())
	return true
}

// signal writes f into body.
func (w *writer) signal(f *dist.Frame) {
	switch f.Op {
	case dist.OpSend:
		w.send(f)
	case dist.OpLink:
		w.begin(opLink)
		w.pair(f)
		w.end()
	case dist.OpUnlink, dist.OpUnlinkAck:
		w.unlink(f)
	case dist.OpExit:
		w.exit(f, opExit, opExitTT, opPayloadExit, opPayloadExitTT)
	case dist.OpSignal:
		if f.Name != "" || !f.Ref.IsZero() || f.Urgent && w.flags.Has(erlflags.AltactSig) {
			w.altact(f, altactExit)
			return
		}
		w.exit(f, opExit2, opExit2TT, opPayloadExit2, opPayloadExit2TT)
	case dist.OpMonitor, dist.OpDemonitor:
		w.monitor(f)
	case dist.OpDown:
		w.down(f)
	case dist.OpGroupLeader:
		w.begin(opGroupLeader)
		w.pid(f.Leader, "Leader")
		w.pid(f.To, "To")
		w.end()
	case dist.OpSpawn:
		w.spawn(f)
	case dist.OpSpawnReply:
		w.spawnReply(f)
	default:
		w.fail("a frame with the op %s", f.Op)
	}
}

// send writes a message with the operation that fits its destination and the flags.
func (w *writer) send(f *dist.Frame) {
	from := f.From
	if from.IsZero() {
		from = w.nobody
	}
	alias := !f.Ref.IsZero()
	switch {
	case (alias || f.Urgent) && w.flags.Has(erlflags.AltactSig):
		w.altact(f, 0)
		return
	case alias:
		if w.cannot(f, erlflags.Alias) {
			return
		}
		w.begin(traced(f, opAliasSend, opAliasSendTT))
		w.pid(from, "From")
		w.ref(f.Ref, "Ref")
	case f.Name != "":
		w.begin(traced(f, opRegSend, opRegSendTT))
		w.pid(from, "From")
		w.atom("")
		w.atom(f.Name)
	case w.flags.Has(erlflags.SendSender):
		w.begin(traced(f, opSendSender, opSendSenderTT))
		w.pid(from, "From")
		w.pid(f.To, "To")
	default:
		w.begin(traced(f, opSend, opSendTT))
		w.atom("")
		w.pid(f.To, "To")
	}
	w.token(f)
	w.end()
	w.message(f)
}

// altact writes a message or an exit signal in the format of OTP 28.
func (w *writer) altact(f *dist.Frame, flags byte) {
	if w.cannot(f, erlflags.AltactSig) {
		return
	}
	if f.Urgent {
		flags |= altactPriority
	}
	arity := byte(4)
	if f.Token != nil {
		flags |= altactToken
		arity++
	}
	switch {
	case !f.Ref.IsZero():
		flags |= altactAlias
	case f.Name != "":
		flags |= altactName
	}
	w.body = append(w.open(), tagSmallTuple, arity, tagSmallInteger, byte(opAltactSigSend), tagSmallInteger, flags)
	from := f.From
	if from.IsZero() {
		from = w.nobody
	}
	w.pid(from, "From")
	switch {
	case flags&altactAlias != 0:
		w.ref(f.Ref, "Ref")
	case flags&altactName != 0:
		w.atom(f.Name)
	default:
		w.pid(f.To, "To")
	}
	w.token(f)
	w.end()
	w.message(f)
}

func (w *writer) unlink(f *dist.Frame) {
	if !w.flags.Has(erlflags.UnlinkID) { // see [dist.Peer.Acks]
		if f.Op == dist.OpUnlink {
			w.begin(opUnlink)
			w.pair(f)
			w.end()
		}
		return
	}
	op := opUnlinkID
	if f.Op == dist.OpUnlinkAck {
		op = opUnlinkIDAck
	}
	if f.ID == 0 {
		w.fail("an %s with ID 0", f.Op)
	}
	w.begin(op)
	w.term(idTerm(f.ID))
	w.pair(f)
	w.end()
}

// idTerm returns an ID as a term, without an allocation if it is small.
func idTerm(id uint64) any {
	if id < 1<<62 {
		return int(id)
	}
	return new(big.Int).SetUint64(id)
}

// exit writes an exit signal in one of its four formats.
func (w *writer) exit(f *dist.Frame, plain, token, payload, payloadToken operation) {
	if w.flags.Has(erlflags.ExitPayload) {
		w.begin(traced(f, payload, payloadToken))
		w.exitPair(f)
		w.token(f)
		w.end()
		w.payload(f.Payload)
		return
	}
	w.begin(traced(f, plain, token))
	w.exitPair(f)
	w.token(f)
	w.term(f.Payload)
	w.end()
}

func (w *writer) exitPair(f *dist.Frame) {
	if f.Op == dist.OpExit {
		w.pair(f)
		return
	}
	from := f.From
	if from.IsZero() {
		from = w.nobody
	}
	w.pid(from, "From")
	w.pid(f.To, "To")
}

// monitors are the capabilities that a peer needs for monitors. OTP requires both, too.
const monitors = erlflags.DistMonitor | erlflags.DistMonitorName

func (w *writer) monitor(f *dist.Frame) {
	if !w.flags.Has(monitors) {
		return
	}
	op := opMonitorP
	if f.Op == dist.OpDemonitor {
		op = opDemonitorP
	}
	w.begin(op)
	w.mine(f.From, "From")
	w.pidOrName(w.peer, f.To, f.Name, "To")
	w.ref(f.Ref, "Ref")
	w.end()
}

func (w *writer) down(f *dist.Frame) {
	if !w.flags.Has(monitors) {
		return
	}
	op := opMonitorPExit
	if w.flags.Has(erlflags.ExitPayload) {
		op = opPayloadMonitorP
	}
	w.begin(op)
	w.pidOrName(w.local, f.From, f.Name, "From")
	w.theirs(f.To, "To")
	w.ref(f.Ref, "Ref")
	if op == opPayloadMonitorP {
		w.end()
		w.payload(f.Payload)
		return
	}
	w.term(f.Payload)
	w.end()
}

func (w *writer) spawn(f *dist.Frame) {
	if w.cannot(f, erlflags.Spawn) {
		return
	}
	s := f.Spawn
	if s == nil {
		w.fail("a spawn without Spawn")
		return
	}
	w.begin(traced(f, opSpawnRequest, opSpawnRequestTT))
	w.ref(f.Ref, "Ref")
	w.mine(f.From, "From")
	leader := s.Leader
	if leader.IsZero() {
		leader = f.From
	}
	w.pid(leader, "Leader")
	w.body = append(w.body, tagSmallTuple, 3)
	w.atom(s.Module)
	w.atom(s.Function)
	w.term(len(s.Args))
	w.term(options(s))
	w.token(f)
	w.end()
	w.payload(wire.List(s.Args))
}

// options returns the options of a spawn request.
func options(s *dist.Spawn) wire.List {
	l := make(wire.List, 0, 3+len(s.Options))
	if s.Link {
		l = append(l, wire.Atom("link"))
	}
	if s.Monitor {
		l = append(l, wire.Atom("monitor"))
	}
	if s.Name != "" {
		l = append(l, wire.Tuple{wire.Atom("name"), s.Name})
	}
	return append(l, s.Options...)
}

func (w *writer) spawnReply(f *dist.Frame) {
	if w.cannot(f, erlflags.Spawn) {
		return
	}
	w.begin(traced(f, opSpawnReply, opSpawnReplyTT))
	w.ref(f.Ref, "Ref")
	w.theirs(f.To, "To")
	flags := byte(0)
	if f.Linked {
		flags |= spawnLinked
	}
	if f.Watched {
		flags |= spawnWatched
	}
	w.body = append(w.body, tagSmallInteger, flags)
	if f.Payload != nil && f.From.IsZero() {
		w.atom(w.spawnError(f.Payload))
	} else {
		w.mine(f.From, "From, where there is no Payload,")
	}
	w.token(f)
	w.end()
}

// spawnError returns the atom for a failed spawn. A Go node gets the text of the error as an atom, truncated to the maximum
// length. An OTP node gets badarg, because it would keep each such atom for ever.
func (w *writer) spawnError(why any) wire.Atom {
	if a, ok := why.(wire.Atom); ok {
		return a
	}
	if !w.flags.Has(erlflags.GoValues) {
		return "badarg"
	}
	text, ok := wire.AsText(why)
	if !ok {
		text = wire.Formatter{Plain: true, Max: wire.MaxAtomRunes}.Format(why)
	}
	if runes := []rune(text); len(runes) > wire.MaxAtomRunes {
		text = string(runes[:wire.MaxAtomRunes-1]) + "…"
	}
	return wire.Atom(text)
}

// traced returns op, or tt if f has a trace token.
func traced(f *dist.Frame, op, tt operation) operation {
	if f.Token != nil {
		return tt
	}
	return op
}

// open returns body, with a version byte if frames have no distribution headers.
func (w *writer) open() []byte {
	if w.headed {
		return w.body
	}
	return append(w.body, etfcodec.Version)
}

// begin starts the control message.
func (w *writer) begin(op operation) {
	w.body = append(w.open(), tagSmallTuple, shapes[op].arity, tagSmallInteger, byte(op))
}

// end ends the control message.
func (w *writer) end() { w.control = len(w.body) }

// message writes the payload of a message.
func (w *writer) message(f *dist.Frame) {
	w.version()
	t := f.Payload
	if w.values != nil {
		t = w.request(f)
	}
	w.carry(t)
}

// payload writes the payload of another signal.
func (w *writer) payload(t any) {
	w.version()
	w.carry(t)
}

// version writes a payload's version byte.
func (w *writer) version() {
	if !w.headed {
		w.body = append(w.body, etfcodec.Version)
	}
}

func (w *writer) carry(t any) {
	if w.err != nil {
		return
	}
	if w.values != nil {
		if t, w.err = w.value(t); w.err != nil {
			return
		}
	}
	w.body, w.cuts, w.err = w.enc.AppendShared(w.body, t, w.cuts)
}

// term writes an element of any type.
func (w *writer) term(t any) {
	if w.err == nil {
		w.body, w.err = w.enc.AppendBare(w.body, t)
	}
}

func (w *writer) token(f *dist.Frame) {
	if f.Token != nil {
		w.term(f.Token)
	}
}

var errAtom = errors.New("an atom that is not UTF-8 or has more than 255 characters")

func (w *writer) atom(a wire.Atom) {
	if w.enc.Atoms != nil {
		if i, ok := w.cache.index(a); ok {
			w.body = append(w.body, tagAtomCacheRef, i)
			return
		}
	}
	switch {
	case len(a) > 255:
		w.term(a)
	case !utf8.ValidString(string(a)):
		w.fail("%w: %.100q", errAtom, string(a))
	default:
		w.body = append(append(w.body, tagSmallAtom, byte(len(a))), a...)
	}
}

func (w *writer) pid(p wire.PID, what string) {
	if p.IsZero() {
		w.fail("%s is the zero PID", what)
		return
	}
	id := p.Origin().NodeID()
	w.body = append(w.body, tagNewPID)
	w.atom(id.Name)
	w.body = binary.BigEndian.AppendUint32(w.body, uint32(p.Number()))
	w.body = binary.BigEndian.AppendUint32(w.body, uint32(p.Number()>>32))
	w.body = binary.BigEndian.AppendUint32(w.body, id.Creation)
}

// mine and theirs write a process of this node and one of the peer. They refuse a pid of another node, because the peer
// would end the link.
func (w *writer) mine(p wire.PID, what string)   { w.pidOn(w.local, p, what) }
func (w *writer) theirs(p wire.PID, what string) { w.pidOn(w.peer, p, what) }

func (w *writer) pidOn(node wire.Atom, p wire.PID, what string) {
	if name := p.Node(); name != node && !p.IsZero() {
		w.fail("%s is a process of %s, not of %s", what, name, node)
	}
	w.pid(p, what)
}

func (w *writer) pair(f *dist.Frame) {
	w.mine(f.From, "From")
	w.theirs(f.To, "To")
}

func (w *writer) pidOrName(node wire.Atom, p wire.PID, name wire.Atom, what string) {
	if name != "" {
		w.atom(name)
		return
	}
	w.pidOn(node, p, what)
}

func (w *writer) ref(r wire.Ref, what string) {
	if r.IsZero() {
		w.fail("%s is the zero Ref", what)
		return
	}
	var buf [wire.MaxRefWords]uint32
	words := r.AppendWords(buf[:0])
	id := r.Origin().NodeID()
	w.body = append(w.body, tagNewerRef, 0, byte(len(words)))
	w.atom(id.Name)
	w.body = binary.BigEndian.AppendUint32(w.body, id.Creation)
	for _, word := range words {
		w.body = binary.BigEndian.AppendUint32(w.body, word)
	}
}
