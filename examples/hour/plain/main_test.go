package main

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/actornode/actornode/examples/hour/internal/suite"
)

func TestPlain(t *testing.T) {
	suite.Run(t, suite.Program{
		Start: func(_ *testing.T, c suite.Settings) http.Handler { return New(Config(c)).Handler() },
		Run:   func(ctx context.Context, l net.Listener, c suite.Settings) error { return run(ctx, l, Config(c)) },
	})
}
