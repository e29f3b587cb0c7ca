package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/wire"
)

// host is a node that runs one process at a time, without real processes.
type host struct {
	ends   chan any // the reasons with which the process ends
	failed chan *ServiceError

	mu      sync.Mutex // guards what follows
	made    wire.PID
	count   uint64
	name    wire.Atom
	broken  error // the error of a start
	stopped bool
}

var keepOrigin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})

func (h *host) start(context.Context) (wire.PID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != nil {
		return wire.PID{}, h.broken
	}
	h.count++
	h.made = keepOrigin.PID(h.count)
	return h.made, nil
}

func (h *host) AwaitExit(ctx context.Context, pid wire.PID) (any, error) {
	select {
	case reason := <-h.ends:
		h.set(func() { h.made = wire.PID{} })
		return reason, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// set changes what the host is.
func (h *host) set(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *host) Reason(err error) any     { return err.Error() }
func (h *host) Text(reason any) string   { return fmt.Sprint(reason) }
func (h *host) GiveUp(err *ServiceError) { h.failed <- err }

func (h *host) IsStopped() (is bool) {
	h.set(func() { is = h.stopped })
	return is
}

func (h *host) IsAlive(pid wire.PID) (is bool) {
	h.set(func() { is = pid == h.made })
	return is
}

func (h *host) Whereis(name wire.Atom) (pid wire.PID, ok bool) {
	h.set(func() { pid, ok = h.made, name == h.name })
	return pid, ok
}

// starts returns how many processes have been started.
func (h *host) starts() (n uint64) {
	h.set(func() { n = h.count })
	return n
}

// keeping runs f with a keeper that keeps up one service, w.
func keeping(t *testing.T, f func(t *testing.T, h *host, k *Keeper, log *logtest.Text)) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		h := &host{name: "w", ends: make(chan any), failed: make(chan *ServiceError, 1)}
		k := &Keeper{Host: h, Env: env.Env{}, Log: log.Logger()}
		defer k.Stop()
		pid, err := h.start(t.Context())
		require.NoError(t, err)
		require.True(t, k.Keep(Service{Title: "w", Name: "w", Start: h.start}, pid))
		synctest.Wait()
		f(t, h, k, log)
	})
}

// A service that has ended is started again; meanwhile the check reports that.
func TestStartsAgain(t *testing.T) {
	keeping(t, func(t *testing.T, h *host, k *Keeper, log *logtest.Text) {
		require.NoError(t, k.Check(t.Context()))
		h.set(func() { h.broken = errors.New("not now") })
		h.ends <- "ended"
		synctest.Wait()
		require.EqualError(t, k.Check(t.Context()), "node: the service w is being restarted, for the 2nd time")
		time.Sleep(10 * time.Millisecond) // of the bubble
		synctest.Wait()
		require.ErrorContains(t, k.Check(t.Context()), "is being restarted, for the ")
		h.set(func() { h.broken = nil })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.NoError(t, k.Check(t.Context()))
		require.Contains(t, log.String(), "reason=ended")
		require.Contains(t, log.String(), `reason="not now"`)
		require.Contains(t, log.String(), "a service was restarted")
		h.set(func() { h.name = "other" })
		require.ErrorContains(t, k.Check(t.Context()), "is not registered as w")
	})
}

// A service that ends too often is given up, with the last reason.
func TestGivesUp(t *testing.T) {
	keeping(t, func(t *testing.T, h *host, k *Keeper, log *logtest.Text) {
		for i := range mostEnds + 1 {
			h.ends <- i
		}
		err := <-h.failed
		require.Equal(t, "node: the service w keeps failing: it ended 11 times within 1m0s, the last time with 10", err.Error())
		require.Equal(t, uint64(mostEnds+1), h.starts())
	})
}

// A service that does not answer does not pass the check.
func TestAsks(t *testing.T) {
	keeping(t, func(t *testing.T, h *host, k *Keeper, log *logtest.Text) {
		silence := errors.New("silence")
		require.True(t, k.Keep(Service{Title: "two", Start: h.start,
			Ask: func(context.Context, wire.PID) error { return silence }}, h.made))
		err := k.Check(t.Context())
		require.EqualError(t, err, "node: the service two did not answer: silence")
		require.ErrorIs(t, err, silence)
	})
}

// A stopped keeper keeps nothing up, and nothing that it has started runs on.
func TestStop(t *testing.T) {
	keeping(t, func(t *testing.T, h *host, k *Keeper, log *logtest.Text) {
		h.ends <- "ended" // the first restart comes at once
		synctest.Wait()
		h.ends <- "ended"
		synctest.Wait()
		h.set(func() { h.stopped = true })
		k.Stop()
		require.Equal(t, uint64(2), h.starts())
		require.False(t, k.Keep(Service{Title: "late", Start: h.start}, keepOrigin.PID(9)))
	})
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd"} {
		require.Equal(t, want, ordinal(n))
	}
}
