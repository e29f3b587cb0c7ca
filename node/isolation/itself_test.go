package isolation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/trace"
)

// What a process sends to itself, also by a timer, is not copied: no other process has it.
func TestToItself(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true, Check: true}})
	p, other := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	type page struct{ lines []string }
	sent := &page{[]string{"a"}}
	require.NoError(t, p.Send(p.Self(), sent))
	require.Same(t, sent, p.Receive())
	tr, err := trace.Open(n, trace.Config{}, p.Self())
	require.NoError(t, err)
	_, err = p.SendAfter(time.Millisecond, p.Self(), sent)
	require.NoError(t, err)
	require.Same(t, sent, p.Receive())
	require.Equal(t, trace.Receive, testkit.Receive(t, tr.C).Kind, "a timer's message is sent by nobody, copied or not")
	tr.Close()
	timer, err := p.SendInterval(time.Millisecond, p.Self(), sent)
	require.NoError(t, err)
	require.Same(t, sent, p.Receive())
	require.Same(t, sent, p.Receive())
	timer.Cancel()
	require.NoError(t, p.Send(other.Self(), sent))
	got := other.Receive()
	require.NotSame(t, sent, got)
	require.Equal(t, sent, got)
}
