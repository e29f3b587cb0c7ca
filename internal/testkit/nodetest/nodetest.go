// Package nodetest starts nodes for tests, and waits for what they do.
//
//   - Start starts a node, and a Cluster several that find each other within the program.
//   - A Style is a way to write a process. EachStyle, EachBlocking, EachPair and EachCaller run a
//     scenario, which is written once, in all of them.
package nodetest

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
)

// Checked says that each node that Start starts compares its messages, see package isolation, unless it copies them: the
// environment says ACTORNODE_CHECK=1. Tests of what that changes, such as allocations, ask for it.
var Checked = os.Getenv("ACTORNODE_CHECK") == "1"

// Start starts a node that is stopped at the end of the test, which must work. Without a
// logger it logs nothing. Outside of a bubble no timeout by default is shorter than
// testkit.Limit. If it is Checked, a message that was changed after it was sent fails the test.
func Start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if Checked && !cfg.Isolation.Check && !cfg.Isolation.Copy {
		cfg.Isolation.Check = true
		cfg.Isolation.Report = func(c isolation.Change) { assert.Fail(t, c.String()) }
	}
	n, err := node.Start(patient(cfg))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, n.Stop()) })
	return n
}

// patient sets what bounds a wait of a node in cfg, unless it is set: a machine that is busy for
// seconds fails no test. In a bubble of testing/synctest time passes only where all wait, so
// there the defaults stay.
func patient(cfg node.Config) node.Config {
	const limit = testkit.Limit
	if bubbles := time.Date(2000, time.December, 31, 0, 0, 0, 0, time.UTC); time.Now().Before(bubbles) {
		return cfg
	}
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, limit)
	if cfg.Distribution != nil {
		d := *cfg.Distribution
		d.ConnectTimeout, d.TickTime = cmp.Or(d.ConnectTimeout, limit), cmp.Or(d.TickTime, 2*limit)
		cfg.Distribution = &d
	}
	return cfg
}

// CallWithin is a call with a timeout in place of a context: node.ErrTimeout after d.
func CallWithin[R, Q any](d time.Duration, from node.Caller, to node.Dest, req Q) (R, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, node.ErrTimeout)
	defer cancel()
	return node.Call[R](ctx, from, to, req)
}

// Open opens a handle that is closed at the end of the test.
func Open(t testing.TB, n *node.Node) *node.Process {
	t.Helper()
	h, err := n.Open()
	require.NoError(t, err)
	t.Cleanup(func() { h.Close(nil) })
	return h
}

// InBubble runs f in a bubble of testing/synctest, with a node of two workers that
// is stopped when all that is in the bubble waits, a handle on it, and what it logs.
func InBubble(t *testing.T, f func(t *testing.T, n *node.Node, h *node.Process, log *logtest.Text)) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		n := Start(t, node.Config{Workers: 2, Log: log.Logger()})
		t.Cleanup(synctest.Wait)
		h, err := n.Open()
		require.NoError(t, err)
		f(t, n, h, log)
	})
}

// Next takes the oldest message of a handle, which must be a T and must come.
func Next[T any](t testing.TB, h *node.Process) T {
	t.Helper()
	m, err := h.ReceiveWithin(testkit.Limit, nil)
	require.NoError(t, err)
	v, ok := m.(T)
	require.Truef(t, ok, "got %T %v, want %T", m, m, v)
	return v
}

// Quiet checks that a handle has no message.
func Quiet(t testing.TB, h *node.Process) {
	t.Helper()
	m, err := h.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "unexpected message %v", m)
}

// Down waits for the Down of a monitor and leaves other messages in the mailbox.
func Down(t testing.TB, h *node.Process, ref node.Ref) node.Down {
	t.Helper()
	m, err := h.ReceiveWithin(testkit.Limit, func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref })
	require.NoError(t, err)
	return m.(node.Down)
}
