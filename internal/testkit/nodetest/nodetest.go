// Package nodetest starts nodes for tests, and waits for their effects.
//
// Start starts a node, and a Cluster several nodes that find each other within the program.
package nodetest

import (
	"cmp"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
)

// Checked is set by ACTORNODE_CHECK=1 in the environment. Nodes started by Start then check their messages for changes, see
// package isolation, unless they copy them. Tests that this affects, such as those of allocations, read it.
var Checked = os.Getenv("ACTORNODE_CHECK") == "1"

// Start starts a node and stops it at the end of the test, which must succeed. Without a logger it logs nothing. Outside of
// a bubble no default timeout is shorter than testkit.Limit. If Checked, a message changed after it was sent fails the
// test.
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

// patient sets the timeouts of cfg that are not set, so that a busy machine does not fail a test. In a bubble of
// testing/synctest time passes only while all goroutines are blocked, so there the defaults stay.
func patient(cfg node.Config) node.Config {
	const limit = testkit.Limit
	if bubbles := time.Date(2000, time.December, 31, 0, 0, 0, 0, time.UTC); time.Now().Before(bubbles) {
		return cfg
	}
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, limit)
	if cfg.Distribution != nil {
		d := *cfg.Distribution
		d.Timing.ConnectTimeout, d.Timing.TickTime = cmp.Or(d.Timing.ConnectTimeout, limit), cmp.Or(d.Timing.TickTime, 2*limit)
		cfg.Distribution = &d
	}
	return cfg
}

// Open opens a handle that is closed at the end of the test.
func Open(t testing.TB, n *node.Node) *node.Process {
	t.Helper()
	h, err := n.Open()
	require.NoError(t, err)
	t.Cleanup(func() { h.Close(nil) })
	return h
}

// Next receives the oldest message of a handle, and fails the test unless it is a T.
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
