package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
)

// Config of a Service.
type Config struct {
	Rate  rate.Limit    // requests of a client per second
	Burst int           // requests of a client at once
	Idle  time.Duration // after that a session is forgotten, and so is the limit of a client
	Jobs  int           // at once; further ones are refused
	Work  func(ctx context.Context, job string) (string, error)
}

// A job is tried so often, with a pause before each further try, which doubles.
const (
	tries = 3
	pause = 100 * time.Millisecond
)

// Take asks the limit of a client for a request.
type Take struct{ genserver.Returns[bool] }

func take(l *rate.Limiter, _ *genserver.Context, _ Take) (bool, error) { return l.Allow(), nil }

// session belongs to a user.
type session struct{ visits int }

// Visit counts a visit, and returns how many there were.
type Visit struct{ genserver.Returns[int] }

func (s *session) visit(*genserver.Context, Visit) (int, error) {
	s.visits++
	return s.visits, nil
}

var (
	limits   = genserver.Define(genserver.OnCall(take))
	sessions = genserver.Define(genserver.OnCall((*session).visit))
)

// Service has the processes below a supervisor.
type Service struct {
	Config
	n                *node.Node
	top              node.PID
	limits, sessions *keyed.Group[string]
}

// Start starts the processes of a Service.
func Start(ctx context.Context, n *node.Node, c Config) (*Service, error) {
	s := &Service{Config: c, n: n}
	s.limits = keyed.MustNew(keyed.Kind[string]{Name: "limits", Idle: c.Idle, New: func(string) (node.Actor, error) {
		return limits.New(rate.NewLimiter(c.Rate, c.Burst)), nil
	}})
	s.sessions = keyed.MustNew(keyed.Kind[string]{Name: "sessions", Idle: c.Idle, New: func(string) (node.Actor, error) {
		return sessions.New(&session{}), nil
	}})
	var err error
	s.top, err = supervisor.Start(ctx, n, supervisor.Spec{
		Intensity: 10, Period: time.Minute,
		Children: []supervisor.Child{
			s.limits.Child(),
			s.sessions.Child(),
			tasks.Child("jobs", tasks.Options{Max: c.Jobs}),
		},
	}, node.Options{Name: "hour"})
	if err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	return s, nil
}

// Allow reports whether a client may make a request now.
func (s *Service) Allow(ctx context.Context, client string) (bool, error) {
	return keyed.Ask(ctx, s.n, s.limits, client, Take{})
}

// Visit counts a visit of a user.
func (s *Service) Visit(ctx context.Context, user string) (int, error) {
	return keyed.Ask(ctx, s.n, s.sessions, user, Visit{})
}

// Run does a job, each try in a process of its own: a panic fails the try, and so does it if there is no place.
func (s *Service) Run(ctx context.Context, job string) (result string, err error) {
	work := func(p *node.Process) (string, error) { return s.Work(p.Context(), job) }
	for try := range tries {
		if try > 0 && !sleep(ctx, pause<<(try-1)) {
			return "", ctx.Err()
		}
		result, err = node.Await(ctx, s.n, tasks.Go(s.n, node.Atom("jobs"), work))
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return result, err
}

// sleep waits, and reports whether ctx has not ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
