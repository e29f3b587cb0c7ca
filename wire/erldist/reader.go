package erldist

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The beginnings of a frame, after its length:
//
//	131 68 atoms control [payload]                  a message
//	131 69 Seq:64 Frag:64 atoms control [payload…   the first fragment of one
//	131 70 Seq:64 Frag:64 …payload…                 the others; the last has Frag 1
//	112 131 control [131 payload]                   a message without atom cache
//
// atoms.go describes atoms. An empty frame is a tick.
const (
	passThrough   = 112
	distHeader    = 68
	firstFragment = 69
	nextFragment  = 70
	fragmentHead  = 2 + 8 + 8
)

// reader decodes frames as signals. It belongs to the goroutine that calls Read.
type reader struct {
	local, peer wire.Atom
	flags       erlflags.Flags
	limits      dist.LinkLimits
	cache       atomsIn
	pattern     pattern
	atoms       []any // Atoms, of the current message
	dec         etfcodec.Decoder
	origins     originCache
	open        map[uint64]*partial
	partial     int // size of the buffers of open
	memory      *links.Account
	values      Values        // nil if the peer writes none
	asked       links.Request // of the current message
	answer      links.Reply
	host        any                      // the node that reads them
	unmark      func(term, host any) any // nil if terms are not changed
	marked      bool                     // an atom of the current message is a mark
}

// errMemory returns the error for an unfinished message that exceeds the memory limits.
func errMemory(size int) error {
	return fmt.Errorf("an incomplete message, %d bytes so far: the incomplete messages of all nodes together exceed their limit "+
		"(limits.fragment_bytes)",
		size)
}

// partial is a partly received message.
type partial struct {
	atoms  []any
	next   uint64 // number of the next fragment
	b      []byte
	marked bool
}

func newReader(local, peer wire.Atom, flags erlflags.Flags, limits dist.LinkLimits) *reader {
	r := &reader{local: local, peer: peer, flags: flags, limits: limits.WithDefaults()}
	r.dec.Limits.Elements = max(leastElements, r.limits.Message/elementSize)
	r.dec.Limits.Inflated = min(mostInflated, r.limits.Message)
	r.dec.Atoms = func(i byte) (any, bool) {
		if int(i) >= len(r.atoms) {
			return nil, false
		}
		return r.atoms[i], true
	}
	return r
}

// An element of a list, tuple or map takes at least elementSize bytes in memory, but may take only one on the wire. So a
// term may have as many elements as fit into the memory of the longest message, but at least leastElements; with the
// default limits 2^24.
const (
	elementSize   = 16
	leastElements = 1 << 16
	mostInflated  = 64 << 20
)

// frame decodes the bytes of a frame into f. It returns false if the frame does not complete a signal. f shares no memory
// with b.
func (r *reader) frame(b []byte, f *dist.Frame) (ok bool, err error) {
	switch {
	case len(b) == 0: // a tick
		return false, nil
	case b[0] == passThrough:
		return true, r.pass(b[1:], f)
	case b[0] != etfcodec.Version || len(b) < 2:
	case b[1] == distHeader:
		return true, r.whole(b, f)
	case b[1] == firstFragment || b[1] == nextFragment:
		return r.fragment(b, f)
	}
	return false, fmt.Errorf("a frame of %d bytes that begins with % x, which is not a distribution header", len(b),
		b[:min(len(b), 8)])
}

// whole reads a message in one frame.
func (r *reader) whole(frame []byte, f *dist.Frame) (err error) {
	var b []byte
	if r.atoms, b, err = r.cache.header(frame[2:], r.atoms); err != nil {
		return err
	}
	r.marked = r.cache.marked
	if freshAtoms(frame[2:]) {
		r.pattern.to = wire.PID{}
	}
	if err = r.message(b, f, false); err != nil {
		return err
	}
	if bin, ok := f.Payload.([]byte); ok && len(bin) <= mostAgain && f.Op == dist.OpSend && !f.To.IsZero() {
		r.pattern.learn(frame, b, f.From, f.To, len(bin))
	}
	return nil
}

// pass reads a message without a distribution header.
func (r *reader) pass(b []byte, f *dist.Frame) error {
	r.atoms, r.marked = r.atoms[:0], mayHaveMarks(b)
	if len(b) == 0 || b[0] != etfcodec.Version {
		return errors.New("a pass-through frame that does not begin with the version byte 131")
	}
	if len(b) > 1 && b[1] == tagCompressed {
		ctl, rest, err := r.decode(b)
		if err != nil {
			return err
		}
		if b, err = etfcodec.AppendBare(nil, ctl); err != nil {
			return err
		}
		return r.message(append(b, rest...), f, true)
	}
	return r.message(b[1:], f, true)
}

// fragment reads a part of a message.
func (r *reader) fragment(b []byte, f *dist.Frame) (ok bool, err error) {
	if len(b) < fragmentHead {
		return false, errHeaderCut
	}
	first := b[1] == firstFragment
	seq, number := binary.BigEndian.Uint64(b[2:]), binary.BigEndian.Uint64(b[10:])
	b = b[fragmentHead:]
	p, known := r.open[seq]
	switch {
	case first && known:
		return false, fmt.Errorf("a first fragment of sequence %d where fragment %d was expected", seq, p.next)
	case !first && !known:
		return false, fmt.Errorf("fragment %d of sequence %d without its first fragment", number, seq)
	case number == 0:
		return false, fmt.Errorf("fragment 0 of sequence %d", seq)
	case !first && number != p.next:
		return false, fmt.Errorf("fragment %d of sequence %d, where %d was expected", number, seq, p.next)
	case first && number > 1 && len(r.open) >= r.limits.Fragments:
		return false, fmt.Errorf("more than %d incomplete fragmented messages at a time (limits.fragments)", r.limits.Fragments)
	}
	if first {
		r.pattern.to = wire.PID{}
		if r.atoms, b, err = r.cache.header(b, r.atoms); err != nil {
			return false, err
		}
		r.marked = r.cache.marked
		if number == 1 {
			return true, r.message(b, f, false)
		}
		p = &partial{atoms: append([]any(nil), r.atoms...), marked: r.marked}
		if r.open == nil {
			r.open = make(map[uint64]*partial)
		}
		r.open[seq] = p
	}
	if err := r.grow(p, b, number); err != nil {
		return false, err
	}
	p.next = number - 1
	if p.next > 0 {
		return false, nil
	}
	delete(r.open, seq)
	r.partial -= cap(p.b)
	r.memory.Give(cap(p.b))
	r.atoms, r.marked = append(r.atoms[:0], p.atoms...), p.marked
	r.dec.Shared = true // p.b has no other references
	defer func() { r.dec.Shared = false }()
	return true, r.message(p.b, f, false)
}

// reserveFrom is the number of received bytes of a message after which memory is allocated for the size that its fragments
// announce.
const reserveFrom = 1 << 20

// grow appends fragment number, with the data b, to p. From reserveFrom bytes on it allocates memory for the whole message,
// assuming that the other fragments are no longer, because copying a very long message would delay everything else.
func (r *reader) grow(p *partial, b []byte, number uint64) error {
	if len(b) > r.limits.Message-len(p.b) {
		return fmt.Errorf("a fragmented message longer than %d bytes", r.limits.Message)
	}
	was := cap(p.b)
	if n := len(p.b) + len(b); n > was {
		size := 2 * n
		if n >= reserveFrom {
			rest := uint64(r.limits.Message - n)
			if more := number - 1; len(b) > 0 && more < rest/uint64(len(b)) {
				rest = more * uint64(len(b))
			}
			size = n + int(rest)
		}
		size = min(size, r.limits.Message)
		if r.partial+size-was > r.limits.Partial {
			return fmt.Errorf("incomplete fragmented messages of more than %d bytes together", r.limits.Partial)
		}
		if !r.memory.Take(size - was) {
			return errMemory(n)
		}
		p.b = append(make([]byte, 0, size), p.b...)
	}
	r.partial += cap(p.b) - was
	if r.partial > r.limits.Partial {
		return fmt.Errorf("incomplete fragmented messages of more than %d bytes together", r.limits.Partial)
	}
	p.b = append(p.b, b...)
	return nil
}

// message reads control and payload. With versions, the payload has a version byte.
func (r *reader) message(b []byte, f *dist.Frame, versions bool) error {
	if len(b) > r.limits.Message {
		return fmt.Errorf("a message of %d bytes; at most %d are allowed", len(b), r.limits.Message)
	}
	*f = dist.Frame{}
	c := control{r: r, b: b, all: b}
	has := c.read(f)
	if c.err != nil {
		return c.invalid()
	}
	rest := c.b
	if has {
		var err error
		if rest, err = r.carried(f, rest, versions); err != nil {
			return fmt.Errorf("the payload of control message %s: %w", c.text(), err)
		}
	}
	if len(rest) > 0 && !has { // bytes after a payload are ignored, as in OTP: ei sends an extra byte after some terms
		c.err = fmt.Errorf("%d unexpected bytes follow it", len(rest))
		return c.invalid()
	}
	if c.err = finish(f, c.op); c.err != nil {
		return c.invalid()
	}
	return nil
}

// carried reads the payload of f, and returns the bytes after it.
func (r *reader) carried(f *dist.Frame, b []byte, versions bool) (rest []byte, err error) {
	term := b
	if versions && len(b) > 0 {
		term = b[1:]
	}
	within, ok, err := r.request(f, term)
	if err != nil {
		return nil, err
	}
	if !ok {
		f.Payload, rest, err = r.payload(b, versions)
		return rest, err
	}
	v, rest, err := r.payload(within, false)
	f.Payload = links.WithTerm(f.Payload, v)
	return rest, err
}

// payload reads a payload, and returns the bytes after it.
func (r *reader) payload(b []byte, versions bool) (v any, rest []byte, err error) {
	term := b
	if versions && len(b) > 0 {
		term = b[1:]
	}
	if data, rest, ok := r.goBinary(term); ok {
		return r.goValue(data), rest, nil
	}
	r.dec.Dollar = false
	if versions {
		v, rest, err = r.decode(b)
	} else {
		v, rest, err = r.dec.DecodeBare(b)
	}
	if errors.Is(err, etfcodec.ErrLimit) { // the payload is the rest of the message, so the link can continue
		return &links.Unreadable{Err: err, Term: r.dec.Beginning(term)}, nil, nil
	}
	// If two atoms have the same place in OTP's cache, a header lists only the first.
	if (r.marked || r.dec.Dollar) && err == nil && r.unmark != nil {
		v = r.unmark(v, r.host)
	}
	return v, rest, err
}

// decode reads a payload that begins with the version byte. While a compressed payload is being read, its decompressed data
// counts as an unfinished message.
func (r *reader) decode(b []byte) (term any, rest []byte, err error) {
	if len(b) >= 6 && b[1] == tagCompressed {
		n := int(min(binary.BigEndian.Uint32(b[2:]), mostInflated))
		if !r.memory.Take(n) {
			return nil, b, errMemory(n)
		}
		defer r.memory.Give(n)
	}
	return r.dec.Decode(b)
}

// originCache caches the origins of identifiers in control messages, nearly all of which belong to two nodes.
type originCache struct {
	ids  [4]wire.NodeID
	org  [4]wire.Origin
	next int
}

func (c *originCache) of(name wire.Atom, creation uint32) wire.Origin {
	id := wire.NodeID{Name: name, Creation: creation}
	for i := range c.ids {
		if c.ids[i].Creation == creation && c.ids[i].Name == name && c.org[i] != (wire.Origin{}) {
			return c.org[i]
		}
	}
	o := wire.NewOrigin(id)
	c.ids[c.next], c.org[c.next] = id, o
	c.next = (c.next + 1) % len(c.ids)
	return o
}
