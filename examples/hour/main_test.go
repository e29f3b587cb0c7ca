package main

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/examples/hour/internal/suite"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// program is this one, for the tests that it has in common with the one in plain Go.
var program = suite.Program{
	Start: func(t *testing.T, c suite.Settings) http.Handler {
		s, err := Start(t.Context(), nodetest.Start(t, node.Config{}), Config(c))
		require.NoError(t, err)
		return s.Handler()
	},
	Run: func(ctx context.Context, l net.Listener, c suite.Settings) error { return run(ctx, l, Config(c)) },
}

func TestHour(t *testing.T) { suite.Run(t, program) }

// What crashes is started again, and requests wait for that.
func TestRestart(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	s, err := Start(t.Context(), n, Config{
		Rate: 1, Burst: 1, Idle: time.Minute, Jobs: 1,
		Work: func(_ context.Context, job string) (string, error) { return "done: " + job, nil },
	})
	require.NoError(t, err)
	_, err = s.Visit(t.Context(), "ann")
	require.NoError(t, err)
	for _, name := range []node.Atom{"sessions", "jobs", "limits"} {
		n.Exit(name, node.Kill)
	}
	visits, err := s.Visit(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, 1, visits, "what it had in memory is lost")
	ok, err := s.Allow(t.Context(), "client")
	require.NoError(t, err)
	require.True(t, ok)
	result, err := s.Run(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, "done: job", result)
}

// The program ends when its supervisor does: something else starts it again.
func TestSupervisorEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	kill := func(ctx context.Context, _ string) (string, error) {
		n, _, _ := node.Calling(ctx)
		n.Exit(node.Atom("hour"), node.Kill)
		return "", nil
	}
	ran := make(chan error)
	go func() {
		ran <- run(t.Context(), l, Config{Rate: 1, Burst: 1, Idle: time.Minute, Jobs: 1, Work: kill})
	}()
	go func() {
		r, err := http.Post("http://"+l.Addr().String()+"/jobs", "text/plain", nil)
		if err == nil {
			r.Body.Close()
		}
	}()
	require.ErrorContains(t, <-ran, "the supervision tree has ended")
}
