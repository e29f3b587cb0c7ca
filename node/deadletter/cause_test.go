package deadletter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/deadletter"
)

// Each cause has a name of its own: metrics and the operator's service tell them apart by it.
func TestCauses(t *testing.T) {
	seen := map[string]bool{"invalid": true}
	all := deadletter.Causes()
	for i, c := range all {
		require.Equal(t, deadletter.Cause(i), c)
		require.False(t, seen[c.String()], c.String())
		seen[c.String()] = true
	}
	require.Equal(t, deadletter.WrongType, all[len(all)-1])
	require.Equal(t, "invalid", deadletter.Cause(len(all)).String())
}

func TestStream(t *testing.T) {
	c, closed := make(chan deadletter.Letter, 1), false
	s := deadletter.NewStream(c, func() uint64 { return 7 }, func() { closed = true; close(c) })
	c <- deadletter.Letter{Message: "m"}
	require.EqualValues(t, 7, s.Missed())
	s.Close()
	require.True(t, closed)
	l, ok := <-s.C
	require.True(t, ok)
	require.Equal(t, "m", l.Message)
	_, ok = <-s.C
	require.False(t, ok)
}
