package erldist

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// operation is the first element of a control message: its kind.
type operation int

// The operations, with the names from OTP's documentation and the remaining elements of their tuples; + means that a
// payload follows the tuple. Those with TT carry a trace token.
const (
	opLink             operation = 1  // From To
	opSend             operation = 2  // '' To +
	opExit             operation = 3  // From To Reason
	opUnlink           operation = 4  // From To: nodes before OTP 24
	opRegSend          operation = 6  // From '' Name +
	opGroupLeader      operation = 7  // Leader To
	opExit2            operation = 8  // From To Reason
	opSendTT           operation = 12 // '' To Token +
	opExitTT           operation = 13 // From To Token Reason
	opRegSendTT        operation = 16 // From '' Name Token +
	opExit2TT          operation = 18 // From To Token Reason
	opMonitorP         operation = 19 // From ToOrName Ref
	opDemonitorP       operation = 20 // From ToOrName Ref
	opMonitorPExit     operation = 21 // FromOrName To Ref Reason
	opSendSender       operation = 22 // From To +
	opSendSenderTT     operation = 23 // From To Token +
	opPayloadExit      operation = 24 // From To +
	opPayloadExitTT    operation = 25 // From To Token +
	opPayloadExit2     operation = 26 // From To +
	opPayloadExit2TT   operation = 27 // From To Token +
	opPayloadMonitorP  operation = 28 // FromOrName To Ref +
	opSpawnRequest     operation = 29 // Ref From Leader {M,F,A} Options +
	opSpawnRequestTT   operation = 30 // Ref From Leader {M,F,A} Options Token +
	opSpawnReply       operation = 31 // Ref To Flags PidOrError
	opSpawnReplyTT     operation = 32 // Ref To Flags PidOrError Token
	opAliasSend        operation = 33 // From Alias +
	opAliasSendTT      operation = 34 // From Alias Token +
	opUnlinkID         operation = 35 // Id From To
	opUnlinkIDAck      operation = 36 // Id From To
	opAltactSigSend    operation = 37 // Flags From ToOrNameOrAlias [Token] +
	maxOperation                 = opAltactSigSend
	spawnLinked                  = 1 // flags of opSpawnReply
	spawnWatched                 = 2
	altactPriority               = 1 // flags of opAltactSigSend
	altactToken                  = 2
	altactAlias                  = 4
	altactName                   = 8
	altactExit                   = 16
	controlTextLimit             = 400
	controlFormatLimit           = 4096
)

// shapes has the number of elements of a control message, and whether a payload follows. 0 elements means no such
// operation.
var shapes = [maxOperation + 1]struct {
	arity   uint8
	payload bool
}{
	opLink: {3, false}, opSend: {3, true}, opExit: {4, false}, opUnlink: {3, false}, opRegSend: {4, true},
	opGroupLeader: {3, false}, opExit2: {4, false}, opSendTT: {4, true}, opExitTT: {5, false}, opRegSendTT: {5, true},
	opExit2TT: {5, false}, opMonitorP: {4, false}, opDemonitorP: {4, false}, opMonitorPExit: {5, false},
	opSendSender: {3, true}, opSendSenderTT: {4, true}, opPayloadExit: {3, true}, opPayloadExitTT: {4, true},
	opPayloadExit2: {3, true}, opPayloadExit2TT: {4, true}, opPayloadMonitorP: {4, true}, opSpawnRequest: {6, true},
	opSpawnRequestTT: {7, true}, opSpawnReply: {5, false}, opSpawnReplyTT: {6, false}, opAliasSend: {3, true},
	opAliasSendTT: {4, true}, opUnlinkID: {4, false}, opUnlinkIDAck: {4, false}, opAltactSigSend: {4, true},
}

// The usual tags in a control message.
const (
	tagCompressed   = 80
	tagAtomCacheRef = 82
	tagNewPID       = 88
	tagNewerRef     = 90
	tagSmallInteger = 97
	tagSmallTuple   = 104
	tagLargeTuple   = 105
	tagNil          = 106
	tagList         = 108
	tagSmallBig     = 110
	tagSmallAtom    = 119
)

// control reads a control message, element by element. It keeps the first error.
type control struct {
	r    *reader
	all  []byte // control and payload
	b    []byte // the unread part
	op   operation
	left int // remaining elements
	err  error
}

// read reads a control message into f and reports whether a payload follows.
func (c *control) read(f *dist.Frame) (payload bool) {
	arity := c.tuple()
	if c.err == nil && arity == 0 {
		c.fail("it is an empty tuple")
	}
	if c.err != nil {
		return false
	}
	n := c.integer("the operation")
	if c.err != nil {
		return false
	}
	if n > uint64(maxOperation) || shapes[n].arity == 0 {
		c.fail("unknown operation %d", n)
		return false
	}
	c.op = operation(n)
	shape := shapes[c.op]
	if arity != int(shape.arity) && (c.op != opAltactSigSend || arity < int(shape.arity)) {
		c.fail("it takes %d elements, not %d", shape.arity, arity)
		return false
	}
	c.left = arity - 1
	c.elements(f)
	for c.err == nil && c.left > 0 { // later releases may add to opAltactSigSend
		c.term()
	}
	return shape.payload
}

// elements reads the elements after the operation.
func (c *control) elements(f *dist.Frame) {
	switch c.op {
	case opLink:
		f.Op = dist.OpLink
		c.pair(f)
	case opUnlink:
		f.Op = dist.OpUnlink
		c.pair(f)
		if c.err == nil && c.r.flags.Has(erlflags.UnlinkID) {
			c.fail("UNLINK from a node that announced UNLINK_ID")
		}
	case opUnlinkID, opUnlinkIDAck:
		f.Op = dist.OpUnlink
		if c.op == opUnlinkIDAck {
			f.Op = dist.OpUnlinkAck
		}
		if f.ID = c.integer("an unlink id"); c.err == nil && f.ID == 0 {
			c.fail("an unlink id of 0")
		}
		c.pair(f)
	case opExit, opExitTT, opPayloadExit, opPayloadExitTT:
		f.Op = dist.OpExit
		c.pair(f)
		c.token(f, c.op == opExitTT || c.op == opPayloadExitTT)
		c.reason(f, c.op == opExit || c.op == opExitTT)
	case opExit2, opExit2TT, opPayloadExit2, opPayloadExit2TT:
		f.Op = dist.OpSignal
		f.From, f.To = c.pid("From"), c.pid("To")
		c.token(f, c.op == opExit2TT || c.op == opPayloadExit2TT)
		c.reason(f, c.op == opExit2 || c.op == opExit2TT)
	case opMonitorP, opDemonitorP:
		f.Op = dist.OpMonitor
		if c.op == opDemonitorP {
			f.Op = dist.OpDemonitor
		}
		f.From = c.theirs("From")
		f.To, f.Name = c.pidOrName("To", c.r.local)
		f.Ref = c.ref("Ref")
	case opMonitorPExit, opPayloadMonitorP:
		f.Op = dist.OpDown
		f.From, f.Name = c.pidOrName("From", c.r.peer)
		f.To = c.ours("To")
		f.Ref = c.ref("Ref")
		c.reason(f, c.op == opMonitorPExit)
	case opGroupLeader:
		f.Op = dist.OpGroupLeader
		f.Leader, f.To = c.pid("Leader"), c.pid("To")
	case opSpawnRequest, opSpawnRequestTT:
		c.spawn(f)
		c.token(f, c.op == opSpawnRequestTT)
	case opSpawnReply, opSpawnReplyTT:
		c.spawnReply(f)
		c.token(f, c.op == opSpawnReplyTT)
	default:
		c.send(f)
	}
}

// send reads the operations that carry a message.
func (c *control) send(f *dist.Frame) {
	f.Op = dist.OpSend
	switch c.op {
	case opSend, opSendTT:
		c.skip()
		f.To = c.pid("To")
		c.token(f, c.op == opSendTT)
	case opSendSender, opSendSenderTT:
		f.From, f.To = c.pid("From"), c.pid("To")
		c.token(f, c.op == opSendSenderTT)
	case opRegSend, opRegSendTT:
		f.From = c.pid("From")
		c.skip()
		f.Name = c.atom("ToName")
		c.token(f, c.op == opRegSendTT)
	case opAliasSend, opAliasSendTT:
		f.From, f.Ref = c.pid("From"), c.ref("Alias")
		c.token(f, c.op == opAliasSendTT)
	case opAltactSigSend:
		flags := c.integer("Flags")
		f.From = c.pid("From")
		switch {
		case flags&altactName != 0:
			f.Name = c.atom("To")
		case flags&altactAlias != 0:
			f.Ref = c.ref("To")
		default:
			f.To = c.pid("To")
		}
		f.Urgent = flags&altactPriority != 0
		if flags&altactExit != 0 {
			f.Op = dist.OpSignal
		}
		if c.err == nil && flags&altactToken != 0 && c.left == 0 {
			c.fail("its Token is missing")
		}
		c.token(f, flags&altactToken != 0)
	}
}

func (c *control) spawn(f *dist.Frame) {
	f.Op = dist.OpSpawn
	s := new(dist.Spawn)
	f.Spawn = s
	f.Ref, f.From, s.Leader = c.ref("ReqId"), c.theirs("From"), c.pid("GroupLeader")
	mfa, ok := c.term().(wire.Tuple)
	if c.err == nil && (!ok || len(mfa) != 3) {
		c.fail("expected {M,F,A} with the arity A")
	}
	options, ok := c.term().(wire.List)
	if c.err == nil && !ok {
		c.fail("expected a list of options")
	}
	if c.err != nil {
		return
	}
	var isAtom [2]bool
	s.Module, isAtom[0] = mfa[0].(wire.Atom)
	s.Function, isAtom[1] = mfa[1].(wire.Atom)
	arity, isInt := mfa[2].(int)
	if !isAtom[0] || !isAtom[1] || !isInt || arity < 0 {
		c.fail("expected {M,F,A} with the arity A")
		return
	}
	f.ID = uint64(arity) // temporarily, for the check in finish
	for _, o := range options {
		if !option(s, o) {
			c.fail("spawn option %s", wire.Formatter{Max: 100}.Format(o))
			return
		}
	}
}

func (c *control) spawnReply(f *dist.Frame) {
	f.Op = dist.OpSpawnReply
	f.Ref, f.To = c.ref("ReqId"), c.ours("To")
	flags := c.integer("Flags")
	f.Linked, f.Watched = flags&spawnLinked != 0, flags&spawnWatched != 0
	switch r := c.term().(type) {
	case wire.PID:
		f.From = r
		if c.err == nil && r.Node() != c.r.peer {
			c.fail("the new process is on %s, not on %s", r.Node(), c.r.peer)
		}
	case wire.Atom:
		f.Payload = r
	default:
		c.fail("expected the new process or an atom")
	}
}

// option keeps a spawn option.
func option(s *dist.Spawn, o any) bool {
	if t, ok := o.(wire.Tuple); ok && len(t) == 2 {
		switch t[0] {
		case wire.Atom("name"):
			s.Name, ok = t[1].(wire.Atom)
			return ok
		case wire.Atom("monitor"), wire.Atom("link"):
			o = t[0]
		}
	}
	switch o {
	case wire.Atom("link"):
		s.Link = true
	case wire.Atom("monitor"):
		s.Monitor = true
	default:
		s.Options = append(s.Options, o)
	}
	return true
}

// finish checks what requires the payload.
func finish(f *dist.Frame, op operation) error {
	if op != opSpawnRequest && op != opSpawnRequestTT {
		return nil
	}
	if _, unreadable := f.Payload.(*links.Unreadable); unreadable {
		f.ID = 0
		return nil
	}
	args, ok := f.Payload.(wire.List)
	if !ok {
		return errors.New("its arguments are not a list")
	}
	if f.ID != uint64(len(args)) {
		return fmt.Errorf("%d arguments follow it", len(args))
	}
	f.Spawn.Args, f.Payload, f.ID = args, nil, 0
	return nil
}

// fail keeps the first error.
func (c *control) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// invalid returns the error for an invalid control message.
func (c *control) invalid() error {
	return fmt.Errorf("invalid control message %s: %w", c.text(), c.err)
}

// text returns the control message as text, for errors.
func (c *control) text() string {
	if len(c.all) <= controlFormatLimit || len(c.all)-len(c.b) <= controlFormatLimit && c.err == nil {
		if t, _, err := c.r.dec.DecodeBare(c.all); err == nil {
			return wire.Formatter{Max: controlTextLimit}.Format(t)
		}
	}
	return "of " + fmt.Sprint(len(c.all)) + " bytes, " + hex.EncodeToString(c.all[:min(len(c.all), 40)])
}

// tuple reads the header of the tuple.
func (c *control) tuple() (arity int) {
	switch {
	case len(c.b) >= 2 && c.b[0] == tagSmallTuple:
		arity = int(c.b[1])
		c.b = c.b[2:]
	case len(c.b) >= 5 && c.b[0] == tagLargeTuple && binary.BigEndian.Uint32(c.b[1:]) < 256:
		arity = int(c.b[4])
		c.b = c.b[5:]
	default:
		c.fail("it is not a tuple")
	}
	return arity
}

// term reads an element of any type.
func (c *control) term() any {
	if c.err != nil {
		return nil
	}
	c.left--
	t, rest, err := c.r.dec.DecodeBare(c.b)
	if err != nil {
		c.err = err
		return nil
	}
	c.b = rest
	return t
}

// skip reads an unused element: a cookie.
func (c *control) skip() { c.atom("the cookie") }

// integer reads a non-negative integer; for larger ones it returns the low 64 bits.
func (c *control) integer(what string) uint64 {
	if c.err == nil && len(c.b) >= 2 && c.b[0] == tagSmallInteger {
		n := c.b[1]
		c.b = c.b[2:]
		c.left--
		return uint64(n)
	}
	switch n := c.term().(type) {
	case int:
		if n >= 0 {
			return uint64(n)
		}
	case *big.Int:
		if n.Sign() > 0 && (n.IsUint64() || c.op == opAltactSigSend) {
			return new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
		}
	}
	c.fail("%s is not an integer in the allowed range", what)
	return 0
}

// atom reads an atom.
func (c *control) atom(what string) wire.Atom {
	if c.err == nil {
		if a, n := c.atomAt(c.b); n > 0 {
			c.b = c.b[n:]
			c.left--
			return a
		}
	}
	a, ok := c.term().(wire.Atom)
	if !ok {
		c.fail("%s is not an atom", what)
	}
	return a
}

// atomAt returns the cached atom at the beginning of b and its length, or 0 if there is none.
func (c *control) atomAt(b []byte) (a wire.Atom, n int) {
	switch {
	case len(b) >= 2 && b[0] == tagAtomCacheRef && int(b[1]) < len(c.r.atoms):
		a, _ := c.r.atoms[b[1]].(wire.Atom)
		return a, 2
	case len(b) >= 2 && b[0] == tagSmallAtom && b[1] == 0:
		return "", 2
	}
	return "", 0
}

// pid reads a pid.
func (c *control) pid(what string) wire.PID {
	p, ok := c.newPID()
	if ok {
		return p
	}
	p, ok = c.term().(wire.PID)
	if !ok {
		c.fail("%s is not a pid", what)
	}
	return p
}

// newPID reads a NEW_PID_EXT with a node in the cache.
func (c *control) newPID() (p wire.PID, ok bool) {
	if c.err != nil || len(c.b) < 1 || c.b[0] != tagNewPID {
		return p, false
	}
	node, n := c.atomAt(c.b[1:])
	if n == 0 || len(c.b) < 1+n+12 {
		return p, false
	}
	b := c.b[1+n:]
	id := uint64(binary.BigEndian.Uint32(b)) | uint64(binary.BigEndian.Uint32(b[4:]))<<32
	p = c.r.origins.of(node, binary.BigEndian.Uint32(b[8:])).PID(id)
	c.b = b[12:]
	c.left--
	return p, true
}

// theirs reads a pid of the peer, of any incarnation.
func (c *control) theirs(what string) wire.PID { return c.on(c.pid(what), c.r.peer, what) }

// ours reads a pid of this node, of any incarnation.
func (c *control) ours(what string) wire.PID { return c.on(c.pid(what), c.r.local, what) }

func (c *control) on(p wire.PID, node wire.Atom, what string) wire.PID {
	if c.err == nil && p.Node() != node {
		c.fail("%s is a process of %s, not of %s", what, p.Node(), node)
	}
	return p
}

// pair reads a process of the peer and one of this node.
func (c *control) pair(f *dist.Frame) { f.From, f.To = c.theirs("From"), c.ours("To") }

// pidOrName reads a process of node, or a name there.
func (c *control) pidOrName(what string, node wire.Atom) (wire.PID, wire.Atom) {
	if p, ok := c.newPID(); ok {
		return c.on(p, node, what), ""
	}
	switch t := c.term().(type) {
	case wire.PID:
		return c.on(t, node, what), ""
	case wire.Atom:
		return wire.PID{}, t
	}
	c.fail("%s is neither a pid nor a name", what)
	return wire.PID{}, ""
}

// ref reads a reference.
func (c *control) ref(what string) wire.Ref {
	if c.err == nil && len(c.b) >= 3 && c.b[0] == tagNewerRef {
		words := int(binary.BigEndian.Uint16(c.b[1:]))
		node, n := c.atomAt(c.b[3:])
		if b := c.b[3+n:]; n > 0 && words >= 1 && words <= wire.MaxRefWords && len(b) >= 4+4*words {
			var w [wire.MaxRefWords]uint32
			for i := range words {
				w[i] = binary.BigEndian.Uint32(b[4+4*i:])
			}
			c.b = b[4+4*words:]
			c.left--
			return c.r.origins.of(node, binary.BigEndian.Uint32(b)).Ref(w[:words]...)
		}
	}
	ref, ok := c.term().(wire.Ref)
	if !ok {
		c.fail("%s is not a reference", what)
	}
	return ref
}

// token reads a trace token, if there is one.
func (c *control) token(f *dist.Frame, has bool) {
	if has {
		f.Token = c.term()
	}
}

// reason reads an exit reason, if it is not the payload.
func (c *control) reason(f *dist.Frame, has bool) {
	if !has || c.err != nil {
		return
	}
	b := c.b
	if f.Payload = c.term(); errors.Is(c.err, etfcodec.ErrLimit) {
		f.Payload = &links.Unreadable{Err: c.err}
		c.b, c.err = etfcodec.Skip(b)
	}
}
