package global_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
)

// However a process of this node ends, its names and locks end with it: a process of each style, which ends by itself
// or is ended by others, with other nodes to tell or without.
func TestEnds(t *testing.T) {
	c := newCluster(t)
	n := c.start("n")
	h := nodetest.NewProbe(t, n)
	name := node.Atom("x")
	ends := map[string]func(pid node.PID){
		"by itself":         func(pid node.PID) { require.NoError(t, n.Send(pid, node.ErrStop)) },
		"with an error":     func(pid node.PID) { require.NoError(t, n.Send(pid, node.ExitWith(node.Shutdown))) },
		"by another":        func(pid node.PID) { n.Exit(pid, node.Atom("enough")) },
		"by kill":           func(pid node.PID) { n.Exit(pid, node.Kill) },
		"with a monitor":    func(pid node.PID) { h.Monitor(pid); n.Exit(pid, node.Kill) },
		"with a local name": func(pid node.PID) { require.NoError(t, n.Register("local", pid)); n.Exit(pid, node.Kill) },
	}
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		for how, end := range ends {
			t.Run(how, func(t *testing.T) {
				pid := s.Spawn(t, n, func(_ actortest.Self, msg any) error { return msg.(error) })
				require.NoError(t, global.Register(testkit.Context(t), n, name, pid, global.Options{}))
				has(t, n, name, pid)
				i, err := n.Info(pid)
				require.NoError(t, err)
				server, ok := n.Whereis("global_name_server")
				require.True(t, ok)
				require.Contains(t, i.Watchers, server)

				end(pid)
				// The name is free again: another process can have it.
				testkit.Until(t, func() string {
					other := sleeper(t, n)
					if err := global.Register(testkit.Context(t), n, name, other, global.Options{}); err != nil {
						n.Exit(other, node.Kill)
						return err.Error()
					}
					require.NoError(t, global.Unregister(testkit.Context(t), n, name))
					i, err := n.Info(other)
					require.NoError(t, err)
					require.Empty(t, i.Watchers, "nobody watches a process without a name")
					n.Exit(other, node.Kill)
					return ""
				})
			})
		}
	})
}

// A process that has ended gets no name, and one that had a name before the name server was restarted loses it when it
// ends, as any other does.
func TestEndedBefore(t *testing.T) {
	c := newCluster(t)
	n := c.start("n")
	pid := sleeper(t, n)
	n.Exit(pid, node.Kill)
	testkit.Until(t, func() string {
		if n.IsAlive(pid) {
			return "it is alive"
		}
		return ""
	})
	_ = global.Register(testkit.Context(t), n, "late", pid, global.Options{})
	testkit.Until(t, func() string {
		other := sleeper(t, n)
		if err := global.Register(testkit.Context(t), n, "late", other, global.Options{}); err != nil {
			return err.Error()
		}
		return ""
	})

	early := sleeper(t, n)
	require.NoError(t, global.Register(testkit.Context(t), n, "early", early, global.Options{}))
	server, ok := n.Whereis("global_name_server")
	require.True(t, ok)
	n.Exit(server, node.Kill)
	testkit.Until(t, func() string {
		if s, ok := n.Whereis("global_name_server"); !ok || s == server {
			return "there is no new name server"
		}
		return ""
	})
	has(t, n, "early", node.PID{})
	n.Exit(early, node.Kill)
	require.NoError(t, global.Register(testkit.Context(t), n, "early", sleeper(t, n), global.Options{}))
}
