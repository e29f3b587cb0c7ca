package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// What is no reply, and cannot be sent, is nothing to its receiver; a caller is told that its reply cannot be sent,
// also if the call has come as a message from a PID and a reference, as gen_server:call of OTP 23 makes it.
func TestUnfitReplyToPlainFrom(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			if err := c.SendOpt(node.SendOptions{NoWait: true}, r.From.Caller(), wire.Tuple{c.Node().MakeRef(), unknown{1}}); err == nil {
				return r.From.Fail(err)
			}
			return r.From.Reply(wire.Tuple{unknown{r.Body}})
		}))
		require.NoError(t, err)
		ref := a.MakeRef()
		require.NoError(t, self.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{self.Self(), ref}, 7}))
		reply := nodetest.Next[wire.Tuple](t, self)
		require.Equal(t, ref, reply[0])
		require.Contains(t, wire.Format(reply[1]), "type node_test.unknown is not registered")
		nodetest.Quiet(t, self)
	})
}
