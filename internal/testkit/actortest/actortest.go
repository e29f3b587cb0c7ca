// Package actortest runs a scenario in all the ways to write a process, to call it and to make it fail.
//
//   - A Style is a way to write a process. EachStyle, EachBlocking, EachPair and EachCaller run a scenario in all of them.
//   - FailedStarts, FailedFunctions and FailedEnds are the ways to fail.
//
// With this package, nodetest.Timeout is testkit.Limit.
package actortest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

func init() { nodetest.Timeout = testkit.Limit }

// CallWithin is a call with a timeout instead of a context. It returns node.ErrTimeout after d.
func CallWithin[R, Q any](d time.Duration, from node.Caller, to node.Dest, req Q) (R, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, node.ErrTimeout)
	defer cancel()
	return node.Call[R](ctx, from, to, req)
}

// InBubble runs f in a bubble of testing/synctest, with a node of two workers, a probe on it, and its log. The node is
// stopped when everything in the bubble is blocked.
func InBubble(t *testing.T, f func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text)) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		n := nodetest.Start(t, node.Config{Workers: 2, Log: log.Logger()})
		h := nodetest.NewProbe(t, n)
		t.Cleanup(synctest.Wait)
		f(t, n, h, log)
	})
}
