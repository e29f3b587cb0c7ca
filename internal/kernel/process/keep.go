package process

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/wire"
)

// Service is a process that is kept up.
type Service struct {
	Title string    // in logs and errors
	Name  wire.Atom // that it is registered under; "": none

	// Start starts a process of the service, and returns when it has started.
	Start func(ctx context.Context) (wire.PID, error)
	// Ask asks the process for an answer; nil: that it runs is enough.
	Ask func(ctx context.Context, pid wire.PID) error
}

// Kept describes a process that a node keeps up, to those above it. A is node.Actor.
type Kept[A any] struct {
	Name     wire.Atom // that it is registered under; "": none
	Label    string    // what logs call a service without a name
	ShowPeer bool      // see node.Options
	New      func() A  // makes the behaviour of a new process, again at each restart
	System   bool      // the behaviour answers system messages by itself; else the node does: its State, if it has that method

	// Ask asks the process for an answer, for the check of the services; nil: that it runs is
	// enough.
	Ask func(ctx context.Context, pid wire.PID) error

	// Operators says, from then on, which peers operate the node: all others cannot end, nor suspend, what peers have not
	// started. Nil: nothing changes.
	Operators func(peer wire.Atom) bool
}

// ServiceError says that a service cannot be kept up: the node has ended for it.
type ServiceError struct {
	Service string
	Ends    int // within Within
	Within  time.Duration
	Reason  string // of the last end
}

func (e *ServiceError) Error() string {
	return fmt.Sprintf("node: the service %s keeps failing: it ended %d times within %v, the last time with %s",
		e.Service, e.Ends, e.Within, e.Reason)
}

// KeeperHost is what a keeper asks of the node.
type KeeperHost interface {
	// AwaitExit waits for the end of a process. The error says that the node or ctx has ended.
	AwaitExit(ctx context.Context, pid wire.PID) (reason any, err error)
	// Reason is the exit reason that an error stands for, and Text is an exit reason for logs
	// and errors.
	Reason(err error) any
	Text(reason any) string
	// IsStopped reports whether the node has been stopped.
	IsStopped() bool
	IsAlive(pid wire.PID) bool
	Whereis(name wire.Atom) (wire.PID, bool)
	// GiveUp has the node end because of a service. It does not wait for that.
	GiveUp(err *ServiceError)
}

// Keeper keeps the services of a node up. Its fields are set before it is used.
type Keeper struct {
	Host KeeperHost
	Env  env.Env
	Log  *slog.Logger

	wg sync.WaitGroup // of the goroutines

	mu     sync.Mutex
	over   bool // Stop has been called
	cancel []context.CancelFunc
	all    []*service
}

// service is a service that is kept up.
type service struct {
	Service
	restarts plan // its goroutine's

	// Guarded by Keeper.mu.
	pid  wire.PID
	ends int // so far
}

// Keep keeps a service up from now on; pid is its first process, which has started. False: the
// keeper is stopped.
func (k *Keeper) Keep(s Service, pid wire.PID) bool {
	ctx, cancel := context.WithCancel(context.Background())
	one := &service{Service: s, pid: pid}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		cancel()
		return false
	}
	k.all = append(k.all, one)
	k.cancel = append(k.cancel, cancel)
	k.wg.Add(1)
	k.Env.Go(func() { k.keep(ctx, one, pid) })
	return true
}

// keep is the goroutine of a service.
func (k *Keeper) keep(ctx context.Context, s *service, pid wire.PID) {
	defer k.wg.Done()
	for {
		reason, err := k.Host.AwaitExit(ctx, pid)
		if err != nil || k.Host.IsStopped() {
			return
		}
		for {
			k.set(s, wire.PID{})
			pause, ok := s.restarts.After(k.Env.Now())
			if k.Host.IsStopped() || ctx.Err() != nil {
				return
			}
			if !ok {
				k.giveUp(s, reason)
				return
			}
			k.Log.Error("a service ended: it will be restarted", "service", s.Title, "process", pid.String(),
				"reason", k.Host.Text(reason), "restarts", s.restarts.Total(), "in", pause.String())
			select {
			case <-k.Env.After(pause):
			case <-ctx.Done():
				return
			}
			if pid, err = s.Start(ctx); err == nil {
				break
			}
			reason = k.Host.Reason(err)
		}
		k.set(s, pid)
		k.Log.Info("a service was restarted", "service", s.Title, "process", pid.String())
	}
}

// set notes which process is the service's; zero: none.
func (k *Keeper) set(s *service, pid wire.PID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.pid = pid; pid.IsZero() {
		s.ends++
	}
}

func (k *Keeper) giveUp(s *service, reason any) {
	k.Host.GiveUp(&ServiceError{
		Service: s.Title, Ends: s.restarts.Recent(), Within: KeepPeriod, Reason: k.Host.Text(reason),
	})
}

// Stop ends what the keeper does and waits for it. The node has been stopped already.
func (k *Keeper) Stop() {
	k.mu.Lock()
	k.over = true
	cancel := k.cancel
	k.cancel = nil
	k.mu.Unlock()
	for _, c := range cancel {
		c()
	}
	k.wg.Wait()
}

// Check finds out whether each service runs, is registered, and answers before ctx ends. The
// error names the first that does not: one that is being started again, too.
func (k *Keeper) Check(ctx context.Context) error {
	k.mu.Lock()
	all := make([]service, len(k.all))
	for i, s := range k.all {
		all[i] = service{Service: s.Service, pid: s.pid, ends: s.ends}
	}
	k.mu.Unlock()
	for _, s := range all {
		registered, ok := k.Host.Whereis(s.Name)
		switch {
		case s.pid.IsZero() || !k.Host.IsAlive(s.pid):
			return fmt.Errorf("node: the service %s is being restarted, for the %s time", s.Title, ordinal(max(1, s.ends)))
		case s.Name != "" && (!ok || registered != s.pid):
			return fmt.Errorf("node: the service %s is not registered as %s", s.pid, s.Name)
		case s.Ask == nil:
			continue
		}
		if err := s.Ask(ctx, s.pid); err != nil {
			return fmt.Errorf("node: the service %s did not answer: %w", s.Title, err)
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
