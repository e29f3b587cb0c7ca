package runner

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// EndWith carries out an error that the Receive of an Actor has returned: p exits, unless the error is, or wraps,
// ErrUnhandled. Then it returns plain ErrUnhandled, and the message is counted as unhandled. The caller has left the stage.
func EndWith(p *process.Process, a *process.Acting, err error) error {
	if _, chosen := err.(*calls.Exit); !chosen && errors.Is(err, process.ErrUnhandled) { // nearly all exits are chosen
		leave(p, a)
		return process.ErrUnhandled
	}
	p.Exit(a, p.System.Host.ReasonOf(err))
	return err
}

// leave counts the current message, which stays in the mailbox of p.
func leave(p *process.Process, a *process.Acting) {
	p.Mu.Lock()
	k := p.ColdPart()
	l := k.Left
	p.Mu.Unlock()
	if l == nil { // only the code that runs p creates or removes one
		var msg any
		p.Runner().Owning(a, func() { msg, _ = p.Queue.Next() })
		l = watch.NewLeft(p.System.Clock.Coarse(), msg)
	}
	p.Mu.Lock()
	k.Left = l
	many, now := l.Add(), *l
	p.Mu.Unlock()
	if many {
		p.System.Host.Left(p, now)
	}
}

// ReportOld reports the messages that p has left unhandled for long, unless they were reported before.
func ReportOld(p *process.Process) {
	var now watch.Left
	old := false
	p.Mu.Lock()
	if p.Cold != nil && p.Cold.Left != nil {
		old = p.Cold.Left.Old(p.System.Clock.Coarse())
		now = *p.Cold.Left
	}
	p.Mu.Unlock()
	if old {
		p.System.Host.Left(p, now)
	}
}
