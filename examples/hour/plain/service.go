package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/time/rate"
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

var errFull = errors.New("too many jobs")

// session belongs to a user.
type session struct {
	mu     sync.Mutex
	visits int
}

func (s *session) visit() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits++
	return s.visits
}

// Service has the limits, the sessions and the places for jobs.
type Service struct {
	Config
	limits   *table[*rate.Limiter]
	sessions *table[*session]
	slots    chan struct{}
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		Config:   c,
		limits:   newTable(c.Idle, func() *rate.Limiter { return rate.NewLimiter(c.Rate, c.Burst) }),
		sessions: newTable(c.Idle, func() *session { return &session{} }),
		slots:    make(chan struct{}, c.Jobs),
	}
}

// Allow reports whether a client may make a request now.
func (s *Service) Allow(client string) bool { return s.limits.get(client).Allow() }

// Visit counts a visit of a user.
func (s *Service) Visit(user string) int { return s.sessions.get(user).visit() }

// Run does a job.
func (s *Service) Run(ctx context.Context, job string) (result string, err error) {
	for try := range tries {
		if try > 0 && !sleep(ctx, pause<<(try-1)) {
			return "", ctx.Err()
		}
		result, err = s.try(ctx, job)
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return result, err
}

// try does a job once. A panic is an error.
func (s *Service) try(ctx context.Context, job string) (result string, err error) {
	select {
	case s.slots <- struct{}{}:
	default:
		return "", errFull
	}
	defer func() {
		<-s.slots
		if cause := recover(); cause != nil {
			slog.Error("a job has panicked", "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return s.Work(ctx, job)
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
