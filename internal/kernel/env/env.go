package env

import (
	"context"
	"math/rand/v2"
	"time"
)

// World replaces the real environment. Its methods may be called concurrently.
type World interface {
	Now() time.Time
	// AfterFunc calls f once, on a goroutine of its own, when d has passed.
	AfterFunc(d time.Duration, f func()) Timer
	Go(f func())
	// Uint64 returns a uniformly distributed random number.
	Uint64() uint64
}

// Timer is a [time.Timer] or one of a [World], with the same semantics.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// Env is the source of time, random numbers and goroutines. The zero value is the real environment.
type Env struct{ world World }

// Of returns the Env of a world.
func Of(w World) Env { return Env{w} }

// Now is [time.Now].
func (e Env) Now() time.Time {
	if e.world == nil {
		return time.Now()
	}
	return e.world.Now()
}

// Since is [time.Since].
func (e Env) Since(t time.Time) time.Duration {
	if e.world == nil {
		return time.Since(t)
	}
	return e.world.Now().Sub(t)
}

// Until is [time.Until].
func (e Env) Until(t time.Time) time.Duration {
	if e.world == nil {
		return time.Until(t)
	}
	return t.Sub(e.world.Now())
}

// Go runs f on a goroutine of its own. A comment at each call says what ends f, and what waits for that.
func (e Env) Go(f func()) {
	if e.world == nil {
		go f()
		return
	}
	e.world.Go(f)
}

// AfterFunc is [time.AfterFunc].
func (e Env) AfterFunc(d time.Duration, f func()) Timer {
	if e.world == nil {
		return time.AfterFunc(d, f)
	}
	return e.world.AfterFunc(d, f)
}

// NewTimer is [time.NewTimer], with its channel as a second result.
func (e Env) NewTimer(d time.Duration) (Timer, <-chan time.Time) {
	if e.world == nil {
		t := time.NewTimer(d)
		return t, t.C
	}
	t := &channelTimer{c: make(chan time.Time, 1)}
	t.Timer = e.world.AfterFunc(d, func() { t.send(e.world.Now()) })
	return t, t.c
}

// After is [time.After].
func (e Env) After(d time.Duration) <-chan time.Time {
	_, c := e.NewTimer(d)
	return c
}

// NewTicker is [time.NewTicker]: it returns a channel, and a function to stop it. d must be above 0.
func (e Env) NewTicker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	if e.world == nil {
		t := time.NewTicker(d)
		return t.C, t.Stop
	}
	return e.newTicker(d)
}

// Sleep is [time.Sleep].
func (e Env) Sleep(d time.Duration) {
	if e.world == nil {
		time.Sleep(d)
		return
	}
	<-e.After(d)
}

// WithTimeout is [context.WithTimeout].
func (e Env) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return e.WithTimeoutCause(parent, d, nil)
}

// WithTimeoutCause is [context.WithTimeoutCause].
func (e Env) WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if e.world == nil {
		return context.WithTimeoutCause(parent, d, cause)
	}
	return e.withTimeout(parent, d, cause)
}

// Uint64 is [rand.Uint64]. It makes an Env a [rand.Source].
func (e Env) Uint64() uint64 {
	if e.world == nil {
		return rand.Uint64()
	}
	return e.world.Uint64()
}

// Uint32 is [rand.Uint32].
func (e Env) Uint32() uint32 { return uint32(e.Uint64() >> 32) }

// IntN returns a random number from 0 to n-1.
func (e Env) IntN(n int) int { return int(e.Uint64() % uint64(n)) }

// Float64 returns a number in [0, 1).
func (e Env) Float64() float64 { return float64(e.Uint64()>>11) / (1 << 53) }
