package keyed

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// idle reports whether p has nothing to do, see the package comment. No use of its entry is in flight, and none begins
// meanwhile: what was sent through the group is in its mailbox, or has been handled.
//
// It reads one fact after the other, while p may run. Handled goes up for each message: of an Actor before that leaves the
// mailbox, of a blocking process when it takes the message. So if p rests at the beginning and at the end, and Handled is the
// same, its code has not run in between, and the facts are of one moment: a message that has come is still in the mailbox, and
// what p has asked before is counted.
func idle(n *node.Node, p *process.Process) bool {
	before := p.Handled.Load()
	return rests(p) && !expects(p) && p.Intake().Len() == 0 && !hasActivations(n, p) && rests(p) && p.Handled.Load() == before
}

// busy reports whether the process of e is clearly not idle, at little cost: its time begins when it no longer is.
func (e *entry[K]) busy() bool {
	return e.word.Load() >= one || e.process.Kind == process.Actor && e.process.Running.Load() || e.process.Intake().Len() > 0
}

// expects reports whether p has still to answer a call, or waits for an answer itself.
func expects(p *process.Process) bool {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.AskedLocked() > 0 {
		return true
	}
	if p.Cold != nil {
		for c := range p.Cold.Calls.Oldest() {
			if c.Tag != process.OfExit {
				return true
			}
		}
	}
	return false
}

// rests reports whether none of p's code runs or is due.
func rests(p *process.Process) bool {
	if !p.Boxed && !p.Inbox.Armed() {
		return false
	}
	if p.Kind == process.Actor || p.Kind == process.External {
		st, _ := p.Runner().Doing()
		return st == observe.Idle && !p.Running.Load()
	}
	p.Mu.Lock()
	timed, _ := runner.Timed(p)
	p.Mu.Unlock()
	return !timed && runner.Receives(p)
}

// hasActivations reports whether p is an active object with activations that wait.
func hasActivations(n *node.Node, p *process.Process) bool {
	i, err := n.Info(p.PID())
	return err == nil && i.Activations != observe.Activations{}
}
