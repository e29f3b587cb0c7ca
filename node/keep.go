package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
)

// keptBy is a node as package process knows it.
type keptBy struct{ *Node }

// AwaitExit is part of process.KeeperHost.
func (n keptBy) AwaitExit(ctx context.Context, pid PID) (any, error) {
	return AwaitExit(ctx, n.Node, pid)
}

// Reason is part of process.KeeperHost.
func (n keptBy) Reason(err error) any { return errorTerm(err) }

// Text is part of process.KeeperHost: an exit reason without a stack.
func (n keptBy) Text(why any) string {
	if c, ok := why.(*Crash); ok {
		return c.Error()
	}
	return calls.ReasonWords(why)
}

// IsStopped is part of process.KeeperHost.
func (n keptBy) IsStopped() bool { return n.sys.Stopped.Load() }

// GiveUp is part of process.KeeperHost: it ends the node.
func (n keptBy) GiveUp(err *process.ServiceError) {
	n.giveUp(err, "a service ended too often: the node stops", "service", err.Service, "ends", err.Ends,
		"within", process.KeepPeriod.String(), "reason", err.Reason)
}

// giveUp logs err and ends the node for it, unless it has ended by itself before.
func (n *Node) giveUp(err error, msg string, about ...any) {
	if !n.failure.CompareAndSwap(nil, &err) {
		return
	}
	n.cfg.Log.Error(msg, about...)
	n.finish()
	n.sys.Env.Go(func() { n.Stop() }) // it waits for the goroutine that has called; ended by itself
}

// keep is inside.Keep.
func (n *Node) keep(ctx context.Context, s process.Kept[Actor]) (PID, error) {
	if s.Name == "" && s.Label == "" || s.New == nil {
		return PID{}, fmt.Errorf("%w: a service needs New, and a name or a label", ErrArgument)
	}
	o := Options{Name: s.Name, Label: s.Label, ShowPeer: s.ShowPeer, Protected: true, Daemon: true}
	reservation, ok := n.sys.Names.Reserve(s.Name)
	if !ok {
		return PID{}, fmt.Errorf("%w: %s is reserved for a service", ErrNameTaken, s.Name)
	}
	o.service = reservation
	start := func(ctx context.Context) (PID, error) { return n.startKept(ctx, o, &s) }
	pid, err := start(ctx)
	if err != nil {
		n.sys.Names.Release(reservation)
		return PID{}, err
	}
	if s.Operators != nil {
		n.sys.Operators.Store(&s.Operators)
	}
	title := string(s.Name)
	if title == "" {
		title = s.Label
	}
	if !n.keeper.Keep(process.Service{Title: title, Name: s.Name, Start: start, Ask: s.Ask}, pid) {
		return PID{}, ErrNodeStopped
	}
	return pid, nil
}

// startKept starts a process of a service. A panic of New is an error.
func (n *Node) startKept(ctx context.Context, o Options, s *process.Kept[Actor]) (pid PID, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &ExitError{Reason: Panicked(recover())}
		}
	}()
	b := s.New()
	pid, err = SpawnWait(ctx, n, o, keptActor(b, s))
	returned = true
	return pid, err
}

// finish closes Done.
func (n *Node) finish() { n.doneOnce.Do(func() { close(n.done) }) }

// Done returns a channel that is closed when the node stops: by [Node.Stop], or
// because a service cannot be kept up. Stop waits until it has stopped.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err says why [Node.Done] is closed: [ErrNodeStopped], or an error that names the service that cannot be kept up, or
// the lost node that gave this one its name; nil: it is not closed.
func (n *Node) Err() error {
	select {
	case <-n.done:
	default:
		return nil
	}
	if err := n.failure.Load(); err != nil {
		return *err
	}
	return ErrNodeStopped
}

// checkServices is inside.CheckServices.
func (n *Node) checkServices(ctx context.Context) error {
	if err := n.Err(); err != nil {
		return err
	}
	return n.keeper.Check(ctx)
}

// ErrProtected says that a process is protected: the request takes code of this program, or the rights of an operator.
var ErrProtected = errors.New("node: the process is protected from other nodes")

// areYouThere is what checkServices asks the services of this package.
type areYouThere struct{}

func askThere(n *Node) func(ctx context.Context, pid PID) error {
	return func(ctx context.Context, pid PID) error {
		_, err := Call[bool](ctx, n, pid, areYouThere{})
		return err
	}
}

// isThere answers areYouThere.
func isThere(msg any) bool {
	r, ok := msg.(Request[areYouThere])
	if ok {
		r.Reply(true)
	}
	return ok
}
