package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/node/internal/restart"
)

// Service describes a process that a node keeps up; see [Node.Keep].
type Service struct {
	// Options of each spawn. Name or Label says in logs which service it is. Link,
	// Announce and Protected are the node's to set.
	Options Options
	// New makes the behaviour of a new process, again at each restart.
	New func() Actor
	// Ask asks the process for an answer, for the check of the services. Default: that it
	// runs is enough.
	Ask func(ctx context.Context, pid PID) error
}

// ServiceError says that a service cannot be kept up: the node has ended for it.
type ServiceError struct {
	Service string
	Ends    int // within a minute
	Reason  any // of the last end
}

func (e *ServiceError) Error() string {
	return fmt.Sprintf("node: the service %s keeps failing: it ended %d times within %v, the last time with %s",
		e.Service, e.Ends, restart.Period, reasonText(e.Reason))
}

// reasonText is an exit reason for an error or a log line, without a stack.
func reasonText(why any) string {
	if c, ok := why.(*Crash); ok {
		return c.String()
	}
	return reason.PlainText(why)
}

// keeper keeps the services of a node up. Its zero value is ready.
//
// Invariants:
//
//  1. Each service in all has one goroutine, keep, until it has been given up or the
//     node stops.
//  2. A service's pid is that of the process that keep waits for, or zero: none runs.
type keeper struct {
	wg sync.WaitGroup // of the goroutines

	mu     sync.Mutex
	over   bool // the node stops
	cancel []context.CancelFunc
	all    []*service
}

// service is a Service that is kept up.
type service struct {
	Service
	restarts restart.Plan // its goroutine's

	proc atomic.Pointer[proc] // the process that is started for it, or was at last

	// Guarded by keeper.mu.
	pid  PID
	ends int // so far
}

// title is what a service is called.
func (s *service) title() string {
	if s.Options.Name != "" {
		return string(s.Options.Name)
	}
	return s.Options.Label
}

// Keep starts a service: a process that the node starts again under its name when it
// has ended, in whatever way. It returns when the first process has started, its Init
// included. The name is the service's as long as the node runs: nobody else can
// register it or take it away, also while no process runs.
//
// The process is protected: other nodes cannot end it ([Options].Protected). This
// program can; then it is started again, and what the process knew is lost.
//
// A service that ends more than 10 times within a minute cannot be kept up. Then the
// node ends: [Node.Done] and [Node.Err] tell, and the log does, as an error.
//
// Errors: [ErrBadOption] without a name and a label, and those of [SpawnWait].
func (n *Node) Keep(ctx context.Context, s Service) (PID, error) {
	if s.Options.Name == "" && s.Options.Label == "" || s.New == nil {
		return PID{}, fmt.Errorf("%w: a service needs New, and a name or a label", ErrBadOption)
	}
	s.Options.Protected = true
	k := &service{Service: s}
	if name := s.Options.Name; !n.names.reserve(name, k) {
		return PID{}, fmt.Errorf("%w: %s is reserved for a service", ErrNameTaken, name)
	}
	pid, err := n.startKept(ctx, k)
	if err != nil {
		n.names.unreserve(s.Options.Name)
		return PID{}, err
	}
	running, cancel := context.WithCancel(context.Background())
	n.keeper.mu.Lock()
	defer n.keeper.mu.Unlock()
	if n.keeper.over {
		cancel()
		return PID{}, ErrNodeStopped
	}
	k.pid = pid
	n.keeper.all = append(n.keeper.all, k)
	n.keeper.cancel = append(n.keeper.cancel, cancel)
	n.keeper.wg.Add(1)
	n.env.Go(func() { n.keep(running, k, pid) })
	return pid, nil
}

// startKept starts a process of a service. A panic of New is an error.
func (n *Node) startKept(ctx context.Context, k *service) (pid PID, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &ExitError{panicked(recover())}
		}
	}()
	o := k.Options
	o.service = k
	pid, err = SpawnWait(ctx, n, o, k.New())
	returned = true
	return pid, err
}

// keep is the goroutine of a service: started by Keep, ended when the node stops or the
// service is given up, waited for by Node.Stop.
func (n *Node) keep(ctx context.Context, k *service, pid PID) {
	defer n.keeper.wg.Done()
	for {
		reason, err := AwaitExit(ctx, n, pid)
		if err != nil || n.stopped.Load() {
			return
		}
		for {
			n.setKept(k, PID{})
			pause, ok := k.restarts.After(n.env.Now())
			if n.stopped.Load() || ctx.Err() != nil {
				return
			}
			if !ok {
				n.giveUp(&ServiceError{k.title(), k.restarts.Recent(), reason})
				return
			}
			n.cfg.Log.Error("a service ended: it will be restarted", "service", k.title(), "process", pid.String(),
				"reason", reasonText(reason), "restarts", k.restarts.Total(), "in", pause.String())
			select {
			case <-n.env.After(pause):
			case <-ctx.Done():
				return
			}
			if pid, err = n.startKept(ctx, k); err == nil {
				break
			}
			reason = errorTerm(err)
		}
		n.setKept(k, pid)
		n.cfg.Log.Info("a service was restarted", "service", k.title(), "process", pid.String())
	}
}

// setKept notes which process is the service's; zero: none.
func (n *Node) setKept(k *service, pid PID) {
	n.keeper.mu.Lock()
	defer n.keeper.mu.Unlock()
	if k.pid = pid; pid.IsZero() {
		k.ends++
	}
}

// giveUp ends the node.
func (n *Node) giveUp(err *ServiceError) {
	if !n.failure.CompareAndSwap(nil, err) {
		return
	}
	n.cfg.Log.Error("a service ended too often: the node stops", "service", err.Service, "ends", err.Ends,
		"within", restart.Period.String(), "reason", reasonText(err.Reason))
	n.finish()
	n.env.Go(func() { n.Stop() }) // it waits for the goroutine that has called; ended by itself
}

// finish closes Done.
func (n *Node) finish() { n.doneOnce.Do(func() { close(n.done) }) }

// Done returns a channel that is closed when the node stops: by [Node.Stop], or
// because a service cannot be kept up. Stop waits until it has stopped.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err says why [Node.Done] is closed: a [*ServiceError], or [ErrNodeStopped]; nil: it is
// not.
func (n *Node) Err() error {
	select {
	case <-n.done:
	default:
		return nil
	}
	if err := n.failure.Load(); err != nil {
		return err
	}
	return ErrNodeStopped
}

// stop ends what the keeper does and waits for it. The node is stopped already.
func (r *keeper) stop() {
	r.mu.Lock()
	r.over = true
	cancel := r.cancel
	r.cancel = nil
	r.mu.Unlock()
	for _, c := range cancel {
		c()
	}
	r.wg.Wait()
}

// checkServices finds out whether each service that the node keeps up runs, is
// registered, and answers before ctx ends. The error names the first that does not:
// one that is being started again, too.
func (n *Node) checkServices(ctx context.Context) error {
	if err := n.Err(); err != nil {
		return err
	}
	type state struct {
		*service
		pid  PID
		ends int
	}
	n.keeper.mu.Lock()
	all := make([]state, len(n.keeper.all))
	for i, k := range n.keeper.all {
		all[i] = state{k, k.pid, k.ends}
	}
	n.keeper.mu.Unlock()
	for _, s := range all {
		name := s.Options.Name
		registered, ok := n.Whereis(name)
		switch {
		case s.pid.IsZero() || !n.IsAlive(s.pid):
			return fmt.Errorf("node: the service %s is being restarted, for the %s time", s.title(), ordinal(max(1, s.ends)))
		case name != "" && (!ok || registered != s.pid):
			return fmt.Errorf("node: the service %s is not registered as %s", s.pid, name)
		case s.Ask == nil:
			continue
		}
		if err := s.Ask(ctx, s.pid); err != nil {
			return fmt.Errorf("node: the service %s did not answer: %w", s.title(), err)
		}
	}
	return nil
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprint(n, "st")
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprint(n, "nd")
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprint(n, "rd")
	}
	return fmt.Sprint(n, "th")
}

// isProtected reports whether a process of this node is: see [Options].Protected.
func (n *Node) isProtected(pid PID) bool {
	p := n.lookup(pid)
	return p != nil && p.protected
}

// ErrProtected says that a process is protected: what was asked for takes code of this
// program, or the rights of an operator.
var ErrProtected = errors.New("node: the process is protected from other nodes")

// areYouThere is what the services of this package are asked by checkServices.
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
