package pg_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/pg"
)

// A process that does not read its subscription loses it, and holds up no other process.
func TestFullSubscriber(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	subscribed, release := make(chan error, 1), make(chan struct{})
	defer close(release)
	full := node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: mailbox.Block}}
	_, err := p.SpawnOpt(full, node.ProcessFunc(func(s *node.Process) error {
		_, _, err := p.scope.Monitor(s.Context(), s, "g")
		subscribed <- err
		<-release
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, testkit.Receive(t, subscribed))
	for _, pid := range p.spawn(10) {
		p.join("g", pid)
	}
	assert.Len(t, p.scope.Members("g"), 10)
	assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 8}, p.Stats().DeadLetters)
}
