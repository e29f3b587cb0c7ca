package command

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// A command says why something has failed, for the same kinds of errors as in package node: the error's text is there,
// in words, for people and for programs, and so is the thing that failed.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	noCups := func() error { return fmt.Errorf("no cups: %w", errors.New("sold out")) }
	n := s.hosted(t, daemonName, admin.Config{Drain: func(context.Context) error { return noCups() }})
	fails := func(way, line, what string, before func()) {
		t.Helper()
		for _, line := range []string{line, line + " --json"} {
			before()
			code, said := s.run(t, line)
			assert.Equal(t, exitFailed, code, "%s: %s", way, line)
			assert.Contains(t, said, what, "%s: %s", way, line)
			assert.Contains(t, said, "no cups: sold out", "%s: %s", way, line)
			assert.NotRegexp(t, "<<|#Ref|0x", said, "%s: %s", way, line)
		}
	}
	for way, end := range actortest.FailedEnds(noCups) {
		fails(way, "call cups hello", "cups exited before it replied: ", func() {
			_, err := n.SpawnOpt(node.Options{Name: "cups"}, node.ActorFunc(func(c *node.Context, _ any) error { return end(c) }))
			require.NoError(t, err)
		})
	}
	_, err := n.SpawnOpt(node.Options{Name: "refuses"}, node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			return r.Fail(noCups())
		}
		return nil
	}))
	require.NoError(t, err)
	nothing := func() {}
	fails("an answer", "call refuses hello", "", nothing)

	ways := actortest.FailedFunctions(noCups)
	ways["raise"] = func() error { return rpc.Raise(noCups()) }
	ways["throw"] = func() error { return rpc.Throw(noCups()) }
	ways["a call"] = func() error {
		_, err := node.Call[int](t.Context(), n, node.Atom("refuses"), 1)
		return err
	}
	number := 0
	for way, fn := range ways {
		number++
		name := wire.Export{Module: "cups", Function: node.Atom(fmt.Sprint("f", number))}
		require.NoError(t, rpc.Export(n, name, func(context.Context, []any) (any, error) { return nil, fn() }))
		fails(way, "rpc cups "+string(name.Function), "the function raised ", nothing)
	}
	fails("a function of the daemon", "drain", "", nothing)
}
