package node_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// A process that answers the processes named in a message is not held up by their mailboxes.
func TestRexIsNotHeldUp(t *testing.T) {
	n := clustertest.NewMemoryCluster(t).Start("a")
	release := make(chan struct{})
	defer close(release)
	full, err := n.SpawnOpt(node.Options{Name: "full", Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ActorFunc(func(*node.Context, any) error { <-release; return nil }))
	require.NoError(t, err)
	require.NoError(t, n.Send(full, "first"))
	h := nodetest.NewProbe(t, n)
	asks := func(pid node.PID) wire.Tuple { return wire.Tuple{pid, node.Atom("features_request")} }
	require.NoError(t, h.Send(node.Atom("rex"), wire.Tuple{h.Self(), wire.Tuple{node.Atom("sbcast"), node.Atom("full"), "second"}}))
	require.NoError(t, h.Send(node.Atom("rex"), wire.Tuple{h.Self(), wire.Tuple{node.Atom("send"), node.Atom("full"), "third"}}))
	require.NoError(t, h.Send(node.Atom("rex"), asks(full)))
	require.NoError(t, h.Send(node.Atom("net_kernel"), wire.Tuple{node.Atom("io_request"), full, "ref", "what"}))
	require.NoError(t, h.Send(node.Atom("rex"), asks(h.Self())))
	for _, want := range []string{"{rex,'a@127.0.0.1','a@127.0.0.1'}", "{features_reply,'a@127.0.0.1',[erpc]}"} {
		m, err := h.ReceiveWithin(testkit.Limit, nil)
		require.NoError(t, err, want)
		assert.Equal(t, want, wire.Format(m))
	}
	testkit.UntilTrue(t, func() bool { return n.Stats().DeadLetters[deadletter.MailboxFull] == 4 }, "all four are dead letters")
}

// A reply to a call from Erlang, or to one like it, does not hold up the server.
func TestReplyIsNotHeldUp(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, full, release := fullMailbox(t, s)
			alias := make(chan node.Ref, 1)
			owner, err := n.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
				node.ActorFunc(func(c *node.Context, _ any) error { alias <- c.Alias(); <-release; return nil }))
			require.NoError(t, err)
			require.NoError(t, n.Send(owner, "first"))
			answered := make(chan error, 2)
			server := s.Spawn(t, n, func(in actortest.Self, m any) error {
				r, ok := n.AsRequest(m)
				if !ok {
					return nil
				}
				answered <- r.Reply("answer")
				return nil
			})
			byAlias := improper(<-alias, node.Atom("alias"))
			require.NoError(t, n.Send(server, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{full, n.MakeRef()}, "question"}))
			require.NoError(t, n.Send(server, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{owner, byAlias}, "question"}))
			for range 2 { // perhaps not before the others' stage has been taken away
				require.NoError(t, <-answered)
			}
			assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 2}, n.Stats().DeadLetters)

			assert.ErrorIs(t, n.SendOpt(node.SendOptions{NoWait: true}, full, "x"), node.ErrMailboxFull)
			assert.ErrorIs(t, n.SendOpt(node.SendOptions{NoWait: true}, node.At{Name: "nobody", Node: n.Name()}, "x"), node.ErrNoName)
			assert.ErrorIs(t, n.SendOpt(node.SendOptions{NoWait: true}, node.At{Name: "x", Node: "other@host"}, "x"), node.ErrNotHere)
			assert.EqualValues(t, 3, n.Stats().DeadLetters[deadletter.MailboxFull])
			close(release)
			synctest.Wait()
			assert.NoError(t, n.SendOpt(node.SendOptions{NoWait: true}, full, "x"))
			require.NoError(t, n.Stop())
		})
	})
}
