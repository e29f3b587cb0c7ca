package erldist

import (
	"math"
	"sync"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func init() {
	links.EnterChecker(func(protocol any) links.Checker {
		if p, ok := protocol.(*Protocol); ok {
			return unknownPeer{p}
		}
		return nil
	})
}

// scratch are writers that encode messages for nobody.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// Check is part of links.Checker. What it reads of out is set once.
func (l *link) Check(to wire.Dest, msg any) error {
	return check(writer{local: l.out.local, peer: l.out.peer, flags: l.out.flags, headed: l.out.headed, limit: l.out.limit,
		nobody: l.out.nobody, values: l.out.values}, l.out.enc.Foreign, to, msg)
}

// unknownPeer checks messages for a peer that may be a Go node or one of OTP: what neither takes is refused.
type unknownPeer struct{ p *Protocol }

// nobody stands for the sender of a message that is not sent.
var nobody = wire.NewOrigin(wire.NodeID{Name: "nobody@nowhere", Creation: 1}).PID(0)

// Check is part of links.Checker.
func (u unknownPeer) Check(to wire.Dest, msg any) error {
	w := writer{flags: erlflags.Announced, headed: true, limit: math.MaxInt, nobody: nobody}
	err := error(nil)
	if u.p.Values != nil {
		goNode := w
		goNode.values = u.p.Values
		if err = check(goNode, u.p.Foreign, to, msg); err == nil {
			return nil
		}
	}
	if otp := check(w, u.p.Foreign, to, msg); otp == nil || err == nil {
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
