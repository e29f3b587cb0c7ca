package node_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	otpservices "github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
)

// A peer that may have one function run names another process as the group leader of what runs, or as the one that asks for
// it: one of this node, or of a third. The answer, the link and the monitor are the peer's own, and nothing is sent to the
// process. The two protocols refuse a process that is not the peer's as the one that asks, so that this needs one that lets
// everything through.
func TestPeerNamesSpawner(t *testing.T) {
	for name, protocol := range map[string]dist.Protocol{
		"erlang": &erldist.Protocol{}, "native": &native.Protocol{}, "memory": clustertest.NewMemory(),
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := rights.New(rights.Config{Rules: []rights.Rule{
				{Peer: "b@127.0.0.1", May: []string{"connect", "spawn io:format/1"}}, {May: []string{"all"}}}})
			require.NoError(t, err)
			tr := clustertest.NewPipes(t)
			n, _ := exposed(t, tr, protocol, node.Distribution{Access: node.Access{Rights: policy}})
			require.NoError(t, otpservices.Serve(n, otpservices.Config{Output: io.Discard}))
			b, third := connectRaw(t, n, tr, protocol, "b@127.0.0.1"), connectRaw(t, n, tr, protocol, "c@127.0.0.1")
			victim := nodetest.NewProbe(t, n)
			victim.TrapExit(true)
			mine, near, far := b.id.PID(3), victim.Self(), third.id.PID(3)
			for i, c := range []struct{ from, leader wire.PID }{
				{mine, near}, {mine, far}, {near, near}, {far, far}, {near, far}, {far, near},
			} {
				ref := b.id.RefOf(uint64(i + 1))
				f := dist.Frame{Op: dist.OpSpawn, Ref: ref, From: c.from, Spawn: &dist.Spawn{Module: "io", Function: "format",
					Args: []any{wire.Charlist("x")}, Leader: c.leader, Link: true, Monitor: true}}
				if c.from != mine && name != "memory" {
					require.ErrorContains(t, b.say(f), "not of b@127.0.0.1")
					continue
				}
				require.NoError(t, b.say(f))
				_, err := b.Flush(false)
				require.NoError(t, err)
				require.Equal(t, ref, b.until(t, dist.OpSpawnReply).Ref)
				require.Equal(t, ref, b.until(t, dist.OpDown).Ref) // it has printed and has ended
				require.Empty(t, actortest.Rest(victim), "%d", i)
				last := wire.Atom(fmt.Sprint("last", i))
				require.NoError(t, n.Send(far, last))
				require.Equal(t, last, third.until(t, dist.OpSend).Payload)
			}
		})
	}
}
