package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// All limits are set below what is in use while the node runs: nothing ends, and nothing is added until the use of that
// limit is below it. Then the limits are raised.
func TestSetLimits(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{
			Limits: node.Limits{Cluster: node.ClusterLimits{Connections: 3, ConnectionsPerSource: 3,
				Monitors: 3, Links: 3, Spawned: 3}}})
		require.NoError(t, rpc.ExportBehaviour(n, mfa("quota", "echo", 0), func([]any) (node.Actor, error) {
			return node.ActorFunc(echo), nil
		}))
		pid, err := n.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		r := connectRaw(t, n, tr, p(), "a@127.0.0.1")
		connectRaw(t, n, tr, p(), "b@127.0.0.1")
		say := func(f dist.Frame) {
			t.Helper()
			f.From = r.id.PID(5)
			require.NoError(t, r.say(f))
			_, err := r.Flush(false)
			require.NoError(t, err)
		}
		ref := uint64(0)
		monitor := func() { ref++; say(dist.Frame{Op: dist.OpMonitor, To: pid, Ref: r.id.RefOf(ref)}) }
		link := func(to wire.PID) { say(dist.Frame{Op: dist.OpLink, To: to}) }
		spawn := func() dist.Frame {
			ref++
			say(dist.Frame{Op: dist.OpSpawn, Ref: r.id.RefOf(ref), Spawn: &dist.Spawn{Module: "quota", Function: "echo"}})
			return r.until(t, dist.OpSpawnReply)
		}
		var started []wire.PID
		for range 3 {
			started = append(started, spawn().From)
			link(started[len(started)-1])
			monitor()
		}
		used := func(what string, max, used int64) {
			t.Helper()
			testkit.Until(t, func() string {
				if l := limitOf(t, n, what); l.Max != max || l.Used != used {
					return what
				}
				return ""
			})
		}
		used("monitors", 3, 3)

		require.ErrorContains(t, n.SetLimits(node.Limits{Cluster: node.ClusterLimits{Links: -1}}), "must not be negative")
		require.ErrorContains(t, n.SetLimits(node.Limits{Queue: -1}), "must not be negative")
		used("links", 3, 3)
		require.NoError(t, n.SetLimits(node.Limits{
			Cluster: node.ClusterLimits{Connections: 1, Monitors: 2, Links: 2, Spawned: 2}}))
		used("connections", 1, 2)
		monitor()
		assert.Equal(t, node.Atom("system_limit"), r.until(t, dist.OpDown).Payload)
		link(pid)
		assert.Equal(t, node.Atom("system_limit"), r.until(t, dist.OpExit).Payload)
		assert.Equal(t, node.Atom("system_limit"), spawn().Payload)
		conn, err := tr.Dial(testkit.Context(t), n.Addr().String(), n.Name())
		require.NoError(t, err)
		_, err = p().Dial(testkit.Context(t), conn, dist.Handshake{Local: wire.NodeID{Name: "c@127.0.0.1", Creation: 7}, Hidden: true,
			Peer:    n.Name(),
			Cookies: func(node.Atom) (string, string) { return "secret", "secret" }})
		require.Error(t, err)
		assert.NotContains(t, log.String(), "node down")
		for what, is := range map[string]int64{"monitors": 3, "links": 3, "spawned": 3} {
			used(what, 2, is)
		}

		n.Exit(started[0], node.Kill) // and its link
		used("spawned", 2, 2)
		assert.Equal(t, node.Atom("system_limit"), spawn().Payload)
		n.Exit(started[1], node.Kill)
		used("links", 2, 1)
		assert.False(t, spawn().From.IsZero())
		link(pid)
		used("links", 2, 2)

		require.NoError(t, n.SetLimits(node.Limits{Cluster: node.ClusterLimits{Connections: 3, ConnectionsPerSource: 3}}))
		connectRaw(t, n, tr, p(), "c@127.0.0.1")
		monitor()
		used("monitors", 1<<18, 4)
		assert.NotContains(t, log.String(), "node down")
	})
}

// The limits of one connection apply to connections made from then on; a node without Distribution has none.
func TestSetLimitsOfOneConnection(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{})
		pid, err := n.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		a := connectRaw(t, n, tr, p(), "a@127.0.0.1")
		require.NoError(t, n.SetLimits(node.Limits{Link: dist.LinkLimits{Message: 64 << 10}}))
		b := connectRaw(t, n, tr, p(), "b@127.0.0.1")
		long := func(r *raw) error {
			err := r.say(dist.Frame{Op: dist.OpSend, From: r.id.PID(5), To: pid, Payload: make([]byte, 512<<10)})
			if err == nil {
				_, _ = r.Flush(false) // its connection may have ended by now
			}
			return err
		}
		require.NoError(t, long(a))
		if long(b) == nil { // native nodes tell each other the limit
			ended(t, n, "b@127.0.0.1", log)
		}
		_, up := node.FarProtocol(n, "a@127.0.0.1")
		require.True(t, up)
	})
	require.ErrorContains(t, nodetest.Start(t, node.Config{}).SetLimits(node.Limits{}), "no Distribution")
}
