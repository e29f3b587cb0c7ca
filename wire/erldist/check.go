package erldist

import (
	"math"
	"sync"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// scratch provides writers that encode messages without sending them.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// Check implements links.Checker. It reads only fields of out that are set once.
func (l *link) Check(to wire.Dest, msg any) error {
	return check(writer{local: l.out.local, peer: l.out.peer, flags: l.out.flags, headed: l.out.headed, limit: l.out.limit,
		nobody: l.out.nobody, values: l.out.values}, l.out.enc.Foreign, to, msg)
}

// nobody is the sender of a message that is only checked.
var nobody = wire.NewOrigin(wire.NodeID{Name: "nobody@nowhere", Creation: 1}).PID(0)

// Check returns the [*wire.EncodeError] with which links to both Go nodes and OTP nodes would refuse a message, without
// sending it. A message that one of them accepts is not refused. Any goroutine may call it.
func (p *Protocol) Check(to wire.Dest, msg any) error {
	w := writer{flags: erlflags.Announced, headed: true, limit: math.MaxInt, nobody: nobody}
	err := error(nil)
	if p.Values != nil {
		goNode := w
		goNode.values = p.Values
		if err = check(goNode, p.Foreign, to, msg); err == nil {
			return nil
		}
	}
	if otp := check(w, p.Foreign, to, msg); otp == nil || err == nil {
		return otp
	}
	return err
}

// check encodes a message like the writer w, but without the atom cache.
func check(w writer, foreign func(any) (any, error), to wire.Dest, msg any) error {
	s := scratch.Get().(*writer)
	w.body, w.cuts, w.scratch = s.body[:0], s.cuts[:0], s.scratch
	*s = w
	s.enc.Foreign, s.enc.Limited = foreign, w.values != nil
	f := dist.Frame{Op: dist.OpSend, Payload: msg}
	switch to := to.(type) {
	case wire.PID:
		f.To = to
	case wire.Atom:
		f.Name = to
	case wire.Ref:
		f.Ref = to
	}
	s.signal(&f)
	_, err := s.whole()
	clear(s.cuts)
	if cap(s.body) <= keptSize {
		scratch.Put(s)
	}
	return err
}
