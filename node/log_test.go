package node_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// logging is an Actor, and its instances log what they get at the level that it says.
type logging struct{}

func (*logging) Receive(c *node.Context, msg any) error {
	c.Log().Log(c.Context(), msg.(slog.Level), "got it")
	return nil
}

// levels returns the levels of the lines with a message.
func levels(log *nodetest.Log) (all []slog.Level) {
	for _, r := range log.Records() {
		if r.Message == "got it" {
			all = append(all, r.Level)
		}
	}
	return all
}

// A line has the process, its name and its behaviour, whatever runs it, and what the program adds.
func TestLogOfProcess(t *testing.T) {
	log := new(nodetest.Log)
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	p := nodetest.NewProbe(t, n)
	pid, err := n.SpawnOpt(node.Options{Name: "till"}, &logging{})
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, slog.LevelWarn))
	nodetest.Settle(t, n)
	got := log.About(pid)
	require.Len(t, got, 1)
	require.Equal(t, map[string]any{"process": pid.String(), "name": "till", "behaviour": "*node_test.logging"}, got[0].Attrs)

	p.Log().With("a", 1).WithGroup("g").Info("from the handle", "b", 2)
	got = log.About(p.Self())
	require.Equal(t, map[string]any{"process": p.Self().String(), "behaviour": "node.Process", "a": int64(1), "g.b": int64(2)},
		got[len(got)-1].Attrs)
}

// The level of a process is that of its name, or of its behaviour, or of the node; it changes while loggers are in use.
func TestLogLevel(t *testing.T) {
	var text strings.Builder
	var mu sync.Mutex
	n := nodetest.Start(t, node.Config{Log: slog.New(slog.NewTextHandler(locked{&mu, &text}, nil))}) // from info on
	till, err := n.SpawnOpt(node.Options{Name: "till"}, &logging{})
	require.NoError(t, err)
	other, err := n.Spawn(&logging{})
	require.NoError(t, err)
	logged := func(pid node.PID, level slog.Level) bool {
		mu.Lock()
		text.Reset()
		mu.Unlock()
		require.NoError(t, n.Send(pid, level))
		nodetest.Settle(t, n)
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(text.String(), pid.String())
	}
	const behaviour = "*node_test.logging"
	for _, c := range []struct {
		set         []node.LogLevel
		till, other slog.Level // the lowest that is logged
	}{
		{nil, slog.LevelInfo, slog.LevelInfo},
		{[]node.LogLevel{{Name: "till", Level: slog.LevelDebug}}, slog.LevelDebug, slog.LevelInfo},
		{[]node.LogLevel{{Behaviour: behaviour, Level: slog.LevelError}}, slog.LevelError, slog.LevelError},
		{[]node.LogLevel{{Behaviour: behaviour, Level: slog.LevelError}, {Name: "till", Level: slog.LevelDebug}},
			slog.LevelDebug, slog.LevelError},
		{[]node.LogLevel{{Name: "till", Level: slog.LevelDebug}, {Name: "till", Behaviour: behaviour, Level: slog.LevelWarn}},
			slog.LevelWarn, slog.LevelInfo},
		{[]node.LogLevel{{Name: "till", Behaviour: "another", Level: slog.LevelDebug}}, slog.LevelInfo, slog.LevelInfo},
		{[]node.LogLevel{{Name: "till", Level: slog.LevelDebug}, {Name: "till", Level: slog.LevelError}},
			slog.LevelError, slog.LevelInfo},
	} {
		for _, l := range c.set {
			require.NoError(t, n.SetLogLevel(l))
		}
		for pid, lowest := range map[node.PID]slog.Level{till: c.till, other: c.other} {
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
				assert.Equal(t, level >= lowest, logged(pid, level), "%v: %v of %v", c.set, level, pid)
			}
		}
		for _, l := range n.LogLevels() {
			require.True(t, n.ResetLogLevel(l.Name, l.Behaviour))
			require.False(t, n.ResetLogLevel(l.Name, l.Behaviour))
		}
	}
	require.ErrorIs(t, n.SetLogLevel(node.LogLevel{}), node.ErrArgument)
	for i := range 256 {
		require.NoError(t, n.SetLogLevel(node.LogLevel{Name: node.Atom(fmt.Sprint(i))}))
	}
	require.ErrorIs(t, n.SetLogLevel(node.LogLevel{Name: "one more"}), node.ErrTooMany)
	require.NoError(t, n.SetLogLevel(node.LogLevel{Name: "7", Level: slog.LevelWarn}), "it replaces one")
	require.Len(t, n.LogLevels(), 256)
}

// locked is a writer with a lock.
type locked struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w locked) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// Loggers of processes, levels, behaviours and names may change at the same time.
func TestLogRace(t *testing.T) {
	log := new(nodetest.Log)
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	pid, err := n.Spawn(&logging{})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 200 {
				_ = n.Send(pid, slog.LevelInfo)
				_ = n.SetLogLevel(node.LogLevel{Name: node.Atom(fmt.Sprint(i))})
				_ = n.Register(node.Atom(fmt.Sprint("name", i)), pid)
				n.Unregister(node.Atom(fmt.Sprint("name", i)))
				n.ResetLogLevel(node.Atom(fmt.Sprint(i)), "")
			}
		})
	}
	wg.Wait()
	nodetest.Settle(t, n)
	require.Len(t, levels(log), 800)
	require.Empty(t, n.LogLevels())
}

// The handler keeps the rules of package slog.
func TestLogHandler(t *testing.T) {
	log := new(nodetest.Log)
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	p := nodetest.NewProbe(t, n)
	slogtest.Run(t, func(*testing.T) slog.Handler { return p.Log().Handler() }, func(t *testing.T) map[string]any {
		all := log.Records()
		r := all[len(all)-1]
		m := map[string]any{slog.LevelKey: r.Level, slog.MessageKey: r.Message}
		if !r.Time.IsZero() {
			m[slog.TimeKey] = r.Time
		}
		for k, v := range r.Attrs {
			path := strings.Split(k, ".")
			in := m
			for _, g := range path[:len(path)-1] {
				if in[g] == nil {
					in[g] = map[string]any{}
				}
				in = in[g].(map[string]any)
			}
			in[path[len(path)-1]] = v
		}
		return m
	})
}
