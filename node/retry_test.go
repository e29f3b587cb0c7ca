package node_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// Retried calls never find the name unregistered during restarts, whoever calls and wherever the server is.
func TestRetryThroughRestarts(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		to := node.At{Name: "till", Node: f.there.Name()}
		_, err := supervisor.Start(f.ctx, f.there, supervisor.Spec{Intensity: 1 << 20, Period: time.Second,
			Children: []supervisor.Child{{ID: "till", Options: node.Options{Name: "till"},
				Start: func(...any) (node.Actor, error) { return &unknowing{cups: 1}, nil }}}}, node.Options{})
		require.NoError(t, err)
		var over atomic.Bool
		var answered, exited atomic.Int64
		var calls sync.WaitGroup
		calling := func(self node.Caller) {
			for !over.Load() {
				n, err := node.Retry(f.ctx, self, func() (int, error) { return node.Call[int](f.ctx, self, to, takeCup{}) })
				if err == nil && n > 0 {
					answered.Add(1)
					continue
				}
				var exit *node.ExitError
				if !assert.NotErrorIs(f, err, node.ErrNoName) || !assert.ErrorAs(f, err, &exit) {
					return
				}
				exited.Add(1)
			}
		}
		for _, s := range styles {
			calls.Add(1)
			pid := s.Spawn(t, f.here, func(self actortest.Self, _ any) error {
				defer calls.Done()
				calling(self)
				return nil
			})
			require.NoError(t, f.here.Send(pid, "go"))
		}
		calls.Go(func() { calling(f.here) })
		for range testkit.By(30, 100, 300) {
			before := answered.Load()
			f.there.Exit(node.Atom("till"), node.Kill)
			testkit.Until(f, func() string {
				if answered.Load() == before && !f.Failed() {
					return "no call is answered after a restart"
				}
				return ""
			})
		}
		over.Store(true)
		calls.Wait()
		f.Logf("%d answered, %d lost", answered.Load(), exited.Load())
	})
}

// Retry calls again only if nothing has been sent, and ends with its context, or its process.
func TestRetryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		asked := 0
		call := func() (int, error) { asked++; return node.Call[int](ctx, n, node.Atom("nobody"), 1) }
		began := time.Now()
		_, err := node.Retry(ctx, n, call)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, node.ErrNoName)
		require.Equal(t, time.Minute, time.Since(began))
		require.InDelta(t, 1200, asked, 10, "20 times a second")

		asked = 0
		own := errors.New("another error")
		_, err = node.Retry(context.Background(), n, func() (int, error) { asked++; return 0, own })
		require.Equal(t, own, err)
		require.Equal(t, 1, asked)

		for _, s := range styles {
			ended := make(chan error, 1)
			pid := s.Spawn(t, n, func(self actortest.Self, _ any) error {
				defer func() { ended <- nil }()
				_, err := node.Retry(context.Background(), self, func() (int, error) {
					return node.Call[int](context.Background(), self, node.Atom("nobody"), 1)
				})
				return err
			})
			require.NoError(t, n.Send(pid, "go"))
			synctest.Wait()
			n.Exit(pid, node.Kill)
			<-ended
		}
	})
}

// Repeat asks again until there is an answer: through crashes, a full mailbox and a name that is free. What a handler answers
// ends it, errors included, and so does the end of the context.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
		asked := 0
		_, err := supervisor.Start(t.Context(), n, supervisor.Spec{Intensity: 100, Children: []supervisor.Child{{
			ID: "shaky", Backoff: supervisor.Backoff{Initial: time.Second, Max: time.Second},
			Options: node.Options{Name: "shaky", Bounds: mailbox.Bounds{Messages: 1}},
			Start: func(...any) (node.Actor, error) {
				return node.ActorFunc(func(c *node.Context, msg any) error {
					r, ok := msg.(node.Request[string])
					if asked++; !ok {
						time.Sleep(time.Minute)
						return nil
					}
					if asked < 4 {
						return errors.New("crash")
					}
					if r.Body == "bad" {
						return r.Fail(errors.New("bad request"))
					}
					return r.Reply(asked)
				}), nil
			},
		}}}, node.Options{})
		require.NoError(t, err)
		ask := func(ctx context.Context, what string) (int, error) {
			return node.Repeat(ctx, n, func() (int, error) { return node.Call[int](ctx, n, node.Atom("shaky"), what) })
		}
		v, err := ask(t.Context(), "good")
		require.NoError(t, err)
		require.Equal(t, 4, v, "after three crashes")
		_, err = ask(t.Context(), "bad")
		require.ErrorContains(t, err, "bad request")
		require.Equal(t, 5, asked)

		require.NoError(t, n.Send(node.Atom("shaky"), "sleep")) // the mailbox is full for a minute
		began := time.Now()
		v, err = ask(t.Context(), "good")
		require.NoError(t, err)
		require.Equal(t, 7, v)
		require.Less(t, time.Since(began), time.Minute+2*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, n.Send(node.Atom("shaky"), "sleep"))
		_, err = ask(ctx, "good")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, node.ErrMailboxFull)
		time.Sleep(time.Minute) // of the handler
	})
}
