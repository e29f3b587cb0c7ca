package otp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// A process that does not read holds up neither user nor what other nodes send.
func TestFullMailboxes(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	require.NoError(t, otp.Serve(n, otp.Config{Output: &logtest.Text{}}))
	release := make(chan struct{})
	defer close(release)
	full, err := n.SpawnOpt(node.Options{Name: "full", Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ProcessFunc(func(s *node.Process) error { <-release; return nil }))
	require.NoError(t, err)
	require.NoError(t, n.Send(full, "first"))

	sent := make(chan error, 1)
	for _, to := range []any{full, wire.Atom("full"), wire.Tuple{wire.Atom("full"), n.Name()}} {
		go func() {
			_, err := rpc.Apply(t.Context(), n, "erlang", "send", []any{to, "x"})
			sent <- err
		}()
		require.NoError(t, testkit.Receive(t, sent), "%v", to)
	}
	h := nodetest.NewProbe(t, n)
	for _, from := range []node.PID{full, h.Self()} {
		require.NoError(t, n.Send(node.Atom("user"), wire.Tuple{wire.Atom("io_request"), from, "ref", wire.Atom("getopts")}))
	}
	assert.Equal(t, wire.Atom("io_reply"), nodetest.Expect[wire.Tuple](h)[0])
	assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 4}, n.Stats().DeadLetters)
}
