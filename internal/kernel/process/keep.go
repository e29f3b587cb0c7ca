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
	Name  wire.Atom // the registered name, or ""

	// Start starts a process of the service, and returns when it has started.
	Start func(ctx context.Context) (wire.PID, error)
	// Ask queries the process; if nil, it suffices that the process runs.
	Ask func(ctx context.Context, pid wire.PID) error
}

// Kept describes a process that a node keeps up, for packages above. A is node.Actor.
type Kept[A any] struct {
	Name     wire.Atom // the registered name, or ""
	Label    string    // name in logs for a service without a registered name
	ShowPeer bool      // see node.Options
	New      func() A  // returns the behaviour of a new process, called again at each restart
	System   bool      // the behaviour answers system messages itself; otherwise the node does, using its method State if it has one

	// Ask queries the process, for the check of the services; if nil, it suffices that the process runs.
	Ask func(ctx context.Context, pid wire.PID) error

	// Operators, unless it is nil, defines from then on which peers are operators of the node: all others can neither end nor
	// suspend processes that peers have not started.
	Operators func(peer wire.Atom) bool
}

// ServiceError reports that a service cannot be kept up: the node has ended because of it.
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

// KeeperHost is the node of a keeper.
type KeeperHost interface {
	// AwaitExit waits for the exit of a process. It returns an error if the node has stopped or ctx has ended.
	AwaitExit(ctx context.Context, pid wire.PID) (reason any, err error)
	// Reason returns the exit reason for an error, and Text the text of an exit reason for logs and errors.
	Reason(err error) any
	Text(reason any) string
	// IsStopped reports whether the node has been stopped.
	IsStopped() bool
	IsAlive(pid wire.PID) bool
	Whereis(name wire.Atom) (wire.PID, bool)
	// GiveUp ends the node because of a service. It does not wait for that.
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
	restarts plan // used by its goroutine only

	// Guarded by Keeper.mu.
	pid  wire.PID
	ends int // so far
}

// Keep keeps a service up from now on; pid is its first process, which has started. It returns false if the keeper is
// stopped.
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

// set records the process of the service, zero for none.
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

// Stop stops the keeper and waits for its goroutines. The node has been stopped already.
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

// Check checks that each service runs, is registered, and answers before ctx ends. The error names the first that does not,
// including one that is being restarted.
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
