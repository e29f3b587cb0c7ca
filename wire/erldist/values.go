package erldist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// goMark is the first element of a payload that is a Go value, {'$go', Binary}; of a request with its monitor, {'$go', Ref,
// Payload}, or {'$go', Ref, Wait, Payload} if it is known how long the caller waits; and of a reply, {'$go', reply, Payload}.
// See links.Requester.
const (
	goMark  wire.Atom = "$go"
	goReply wire.Atom = "reply"
)

// setValues makes a writer write Go values, if the peer can read them.
func (w *writer) setValues(v Values) {
	if v != nil && w.flags.Has(erlflags.GoValues) {
		w.values, w.enc.Limited = v, true
	}
}

// value returns the payload term for t: t itself, or {'$go', Binary}.
func (w *writer) value(t any) (any, error) {
	left := mostExact
	if exact(t, &left) {
		return t, nil
	}
	b, err := w.values.Append(w.scratch[:0], t)
	if err != nil {
		return nil, err
	}
	if w.scratch = b; len(b) > keptScratch {
		w.scratch = nil // a long message keeps it until it is sent
	}
	return wire.Tuple{goMark, b}, nil
}

// request writes the beginning of the payload of f, if that is a request or a reply, and returns the term to write after
// it.
func (w *writer) request(f *dist.Frame) any {
	switch p := f.Payload.(type) {
	case *links.Request:
		if f.From.Node() != w.local {
			w.fail("From is %v, no process of %s", f.From, w.local)
		}
		waits := p.Wait > 0 && w.flags.Has(erlflags.CallWait)
		arity := byte(3)
		if waits {
			arity = 4
		}
		w.body = append(w.body, tagSmallTuple, arity)
		w.atom(goMark)
		w.ref(p.Ref, "Ref")
		if waits {
			w.term(int(links.WaitMillis(p.Wait)))
		}
		return p.Body
	case *links.Reply:
		w.body = append(w.body, tagSmallTuple, 3)
		w.atom(goMark)
		w.atom(goReply)
		return p.Value
	}
	return f.Payload
}

// keptScratch is less than the size from which the encoder shares a binary instead of copying it.
const keptScratch = etfcodec.ShareFrom - 1

// mostExact is the maximum number of parts of a term that exact examines.
const mostExact = 64

// exact reports whether a term arrives unchanged, with the same Go types. left is the number of parts that remain to be
// examined.
func exact(t any, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch t := t.(type) {
	case int:
		return true
	case wire.Atom:
		return true
	case []byte:
		return t != nil
	case wire.PID:
		return !t.IsZero()
	case wire.Ref:
		return !t.IsZero()
	case float64:
		return !math.IsNaN(t) && !math.IsInf(t, 0)
	case wire.Tuple:
		return !(len(t) >= 2 && len(t) <= 4 && t[0] == goMark) && exactAll(t, left)
	case wire.List:
		return len(t) > 0 && exactAll(t, left)
	case wire.ImproperList:
		return len(t.Head) > 0 && isRef(t.Tail) && exactAll(t.Head, left)
	}
	return false
}

func exactAll(terms []any, left *int) bool {
	for _, t := range terms {
		if !exact(t, left) {
			return false
		}
	}
	return true
}

// isRef reports whether t is the tail of an alias in a request, [alias|Ref].
func isRef(t any) bool {
	ref, ok := t.(wire.Ref)
	return ok && !ref.IsZero()
}

// SetHost implements links.Hosted.
func (l *link) SetHost(n any) { l.in.host = n }

// Requests implements links.Requester.
func (l *link) Requests() bool { return l.in.values != nil }

// setValues makes a reader read Go values from a peer that writes them, and marks from others.
func (r *reader) setValues(v Values) {
	if v == nil {
		return
	}
	if r.flags.Has(erlflags.GoValues) {
		r.values = v
	}
	r.unmark = v.Unmark
	r.cache.isMark = v.IsMark
}

// goBinary returns the binary of a {'$go', Binary} at the beginning of b, and the rest. It returns false if b begins with
// another term.
func (r *reader) goBinary(b []byte) (data, rest []byte, ok bool) {
	if b, ok = r.behindMark(b, 2); !ok {
		return nil, nil, false
	}
	if len(b) < 5 || b[0] != tagBinary {
		return nil, nil, false
	}
	n, b := uint64(binary.BigEndian.Uint32(b[1:])), b[5:]
	if n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// behindMark returns the bytes after the first element of a tuple with arity elements, if that element is goMark.
func (r *reader) behindMark(b []byte, arity byte) (rest []byte, ok bool) {
	if r.values == nil || len(b) < 4 || b[0] != tagSmallTuple || b[1] != arity {
		return nil, false
	}
	return r.behindAtom(b[2:], goMark)
}

// behindAtom returns the bytes after the atom a at the beginning of b.
func (r *reader) behindAtom(b []byte, a wire.Atom) (rest []byte, ok bool) {
	switch {
	case len(b) < 2:
		return nil, false
	case b[0] == tagAtomCacheRef:
		return b[2:], int(b[1]) < len(r.atoms) && r.atoms[b[1]] == any(a)
	case b[0] == tagSmallAtom && int(b[1]) == len(a) && bytes.HasPrefix(b[2:], []byte(a)):
		return b[2+len(a):], true
	}
	return nil, false
}

// request reads the beginning of a payload that is a request or a reply into f, and returns the rest. ok is false if it is
// neither.
func (r *reader) request(f *dist.Frame, b []byte) (carried []byte, ok bool, err error) {
	if f.Op != dist.OpSend {
		return nil, false, nil
	}
	rest, waits := r.behindMark(b, 4)
	if waits = waits && r.flags.Has(erlflags.CallWait); !waits {
		if rest, ok = r.behindMark(b, 3); !ok {
			return nil, false, nil
		}
	}
	b = rest
	if b, ok := r.behindAtom(b, goReply); ok && !waits {
		if f.Ref.IsZero() {
			return nil, false, errors.New("a reply that is not to an alias")
		}
		r.answer = links.Reply{}
		f.Payload = &r.answer
		return b, true, nil
	}
	c := control{r: r, b: b}
	r.asked = links.Request{Ref: c.ref("Ref")}
	if waits {
		if r.asked.Wait, err = links.ReadWait(c.integer("Wait")); err != nil {
			c.fail("%w", err)
		}
	}
	switch {
	case c.err != nil:
		return nil, false, c.err
	case !f.Ref.IsZero():
		return nil, false, errors.New("a request to an alias")
	case f.From.Node() != r.peer:
		return nil, false, fmt.Errorf("a request from %v, no process of %s", f.From, r.peer)
	}
	f.Payload = &r.asked
	return c.b, true, nil
}

// goValue reads the value in such a binary. An invalid value does not end the link, because the end of the message does not
// depend on it.
func (r *reader) goValue(data []byte) any {
	v, rest, err := r.values.Decode(data, r.host)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes behind the end of a Go value", len(rest))
	}
	if err != nil {
		return &links.Unreadable{Err: err, Term: v}
	}
	return v
}

// mayHaveMarks reports whether bytes without a distribution header may contain a mark: all marks begin with the same
// character.
func mayHaveMarks(b []byte) bool { return bytes.IndexByte(b, '$') >= 0 }
