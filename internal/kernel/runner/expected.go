package runner

import (
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/wire"
)

// Expected returns msg, which p will receive, in a form that keeps p alive if an owner holds it. p is nil if the process has
// exited.
func Expected(p *process.Process, msg any) any {
	if p == nil || !p.Boxed {
		return msg
	}
	return inbox.Expect(p.Cold.Box, msg)
}

// OwnerOf returns the owner that keeps the process of sys with the PID to alive while it is referenced, or nil if there is
// none. Names and aliases keep their process alive themselves.
func OwnerOf(sys *process.System, to wire.Dest) any {
	if pid, ok := to.(wire.PID); ok {
		if p := sys.Lookup(pid); p != nil && p.Boxed {
			return inbox.OwnerOf(p.Cold.Box)
		}
	}
	return nil
}

// Keeping returns f, which sends the answer to a request to a process, wrapped so that it keeps the result of OwnerOf alive
// until it has returned. Until then a process that counts its requests counts this one.
func Keeping(sys *process.System, to wire.Dest, f func(a *process.Acting)) func(a *process.Acting) {
	if pid, ok := to.(wire.PID); ok {
		if p := sys.Lookup(pid); p != nil && p.Counts {
			p.Ask(1)
			return func(a *process.Acting) {
				defer p.Ask(-1)
				f(a)
			}
		}
	}
	owner := OwnerOf(sys, to)
	if owner == nil {
		return f
	}
	return func(a *process.Acting) {
		defer runtime.KeepAlive(owner)
		f(a)
	}
}

// ForTimer returns the message of a process that a timer will send to p in the form for the timer: copied, or watched, as
// configured by the node.
func ForTimer(from wire.PID, p *process.Process, msg any) (any, error) {
	tr := p.System.Traces()
	if !tr.Guards() {
		return Expected(p, msg), nil
	}
	msg, err := tr.Copied(from, p.PID(), false, msg)
	switch {
	case err != nil:
		return nil, err
	case p.Boxed:
		return Expected(p, msg), nil
	case from == p.PID():
		return watch.ToItself(msg), nil
	}
	return tr.Held(from, p.PID(), msg), nil
}
