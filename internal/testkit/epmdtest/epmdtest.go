// Package epmdtest gives a test its own port mapper.
package epmdtest

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// Serve serves EPMD on a free port of host until the test ends, and returns a Config that finds it: Port is set, Local is
// the address, and nothing is logged. If it cannot listen at the address, it skips the test, or fails it for 127.0.0.1.
func Serve(t testing.TB, host string) epmd.Config {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil && host != "127.0.0.1" {
		t.Skipf("nothing can listen at %s here: %v", host, err)
	}
	require.NoError(t, err)
	cfg := epmd.Config{Port: l.Addr().(*net.TCPAddr).Port, Logger: slog.New(slog.DiscardHandler), Local: []string{host}}
	s, err := epmdserver.New(epmdserver.Config{Logger: cfg.Logger})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { // ended by Stop, awaited by the cleanup
		defer close(done)
		_ = s.Serve(context.Background(), l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
	return cfg
}
