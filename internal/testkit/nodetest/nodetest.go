// Package nodetest starts nodes for tests, and waits for their effects.
package nodetest

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	public "github.com/actornode/actornode/node/nodetest"
)

// Start starts a node and stops it at the end of the test, which must succeed. Without a logger it logs nothing.
func Start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return public.Start(t, cfg)
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
