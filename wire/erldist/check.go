package erldist

import (
	"math"
	"sync"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// scratch are writers that encode messages for nobody.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// Check is part of links.Checker. What it reads of out is set once.
func (l *link) Check(to wire.Dest, msg any) error {
	return check(writer{local: l.out.local, peer: l.out.peer, flags: l.out.flags, headed: l.out.headed, limit: l.out.limit,
		nobody: l.out.nobody, values: l.out.values}, l.out.enc.Foreign, to, msg)
}

// nobody stands for the sender of a message that is not sent.
var nobody = wire.NewOrigin(wire.NodeID{Name: "nobody@nowhere", Creation: 1}).PID(0)

// Check returns the error with which links to Go nodes and to nodes of OTP would refuse a message, a [*wire.EncodeError], and
// sends nothing: what one of them takes is not refused. Any goroutine may call it.
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

// check encodes a message as the writer w would, but for the cache of atoms.
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
