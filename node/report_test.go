package node_test

import (
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/logtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// TestCrashReport: who crashes by its own doing is reported, once; who is taken
// down by a link, or chooses to end, is not.
func TestCrashReport(t *testing.T) {
	for _, way := range crashers {
		for _, c := range []struct {
			what   string
			f      func() error
			reason any // nil: no report
		}{
			{"panic", func() error { panicsHere(); return nil }, "panic: bad cake"},
			{"goexit", func() error { goexitsHere(); return nil }, "panic: runtime.Goexit was called"},
			{"error", func() error { return errSpoiled }, "error: spoiled"},
			{"ExitWith", func() error { return node.ExitWith(wire.Atom("odd")) }, nil},
			{"Stop", func() error { return node.ErrStop }, nil},
		} {
			t.Run(way.name+"/"+c.what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := &logtest.Records{}
					n, err := node.Start(node.Config{Workers: 2, Log: slog.New(log)})
					require.NoError(t, err)
					pid, err := way.spawn(n, func() error { return c.f() })
					require.NoError(t, err)
					n.Send(pid, "go")
					synctest.Wait()
					assert.False(t, n.IsAlive(pid))
					got := log.With("crash report")
					if c.reason == nil {
						assert.Empty(t, got)
					} else if assert.Len(t, got, 1) {
						assert.Equal(t, pid.String(), got[0]["process"])
						assert.Equal(t, c.reason, got[0]["reason"])
						assert.NotEmpty(t, got[0]["behaviour"])
						assert.NotContains(t, got[0], "name")
						assert.NotContains(t, got[0], "label")
						assert.NotContains(t, got[0], "parent")
						if c.what == "panic" {
							assert.Contains(t, got[0]["stack"], "panicsHere", "the stack of the panic")
						}
					}
					require.NoError(t, n.Stop())
				})
			})
		}
	}
}

// What a report says of a process that has all there is, and of whom it does not
// speak.
func TestCrashReportSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Records{}
		n, err := node.Start(node.Config{Workers: 2, Log: slog.New(log)})
		require.NoError(t, err)
		h, err := n.Open()
		require.NoError(t, err)
		h.TrapExit(true)
		middle, err := h.SpawnLink(node.ActorFunc(func(c *node.Context, m any) error {
			_, err := c.SpawnOpt(node.Options{Link: true, Name: "baker", Label: "cakes"},
				begins(func(*node.Context) error { panicsHere(); return nil }))
			return err
		}))
		require.NoError(t, err)
		n.Send(middle, "go")
		e := nodetest.Next[node.Exited](t, h)
		assert.Equal(t, middle, e.From)
		synctest.Wait()
		got := log.With("crash report")
		require.Len(t, got, 1, "those that a link takes down are not reported")
		assert.Equal(t, "baker", got[0]["name"])
		assert.Equal(t, "cakes", got[0]["label"])
		assert.Equal(t, middle.String(), got[0]["parent"])
		assert.Equal(t, "node_test.starter", got[0]["behaviour"])
		assert.Equal(t, "panic: bad cake", got[0]["reason"])

		// A crash as the reason of a signal is not the target's own.
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		n.Exit(pid, e.Reason)
		h.Exit(middle, e.Reason)
		synctest.Wait()
		assert.Len(t, log.With("crash report"), 1)
		require.NoError(t, n.Stop())
	})
}

// A node without a log does not look for what it would say.
func TestCrashWithoutLog(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.Open(t, n)
	pid, ref, err := h.SpawnMonitor(node.ActorFunc(func(*node.Context, any) error { panic(1) }))
	require.NoError(t, err)
	n.Send(pid, 1)
	d := nodetest.Next[node.Down](t, h)
	assert.Equal(t, ref, d.Ref)
	assert.Equal(t, 1, d.Reason.(*node.Crash).Reason)
}

// A node without a logger of its own logs where the program does: a panic is not swallowed.
func TestDefaultLog(t *testing.T) {
	var log logtest.Text
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(log.Logger())
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	pid, err := n.Spawn(node.ProcessFunc(func(*node.Process) error { panic("a defect") }))
	require.NoError(t, err)
	_, err = node.AwaitExit(testkit.Context(t), n, pid)
	require.NoError(t, err)
	require.NoError(t, n.Stop())
	assert.Contains(t, log.String(), "crash report")
	assert.Contains(t, log.String(), "a defect")
}
