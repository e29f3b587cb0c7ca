package peers

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

func TestOrderly(t *testing.T) {
	for _, err := range []error{io.EOF, fmt.Errorf("native: %w", io.EOF), errDisconnected, errReplaced, errStopping} {
		require.True(t, isOrderly(err), err)
	}
	for _, err := range []error{io.ErrUnexpectedEOF, errors.New("net_tick_timeout"), errors.New("read: connection reset by peer")} {
		require.False(t, isOrderly(err), err)
	}
}

// Only a bounded number of losses is remembered, the last ones, for a limited time, and each with a bounded text.
func TestLosses(t *testing.T) {
	var l losses
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Empty(t, l.all(now))
	l.forget("nobody@h")
	name := func(i int) wire.Atom { return wire.Atom(fmt.Sprintf("n%d@h", i)) }
	for i := range mostLosses + 50 {
		l.add(name(i), errors.New(strings.Repeat("é", 1000)), now.Add(time.Duration(i)*time.Second))
	}
	all := l.all(now)
	require.Len(t, all, mostLosses)
	require.NotContains(t, all, name(49))
	require.LessOrEqual(t, len(all[name(60)].why), 300)
	l.add(name(60), errors.New("again"), now.Add(time.Hour))
	require.Len(t, l.all(now), mostLosses, "it was there")
	l.forget(name(61))
	require.NotContains(t, l.all(now), name(61))
	all = l.all(now.Add(lossTime + 100*time.Second))
	require.NotContains(t, all, name(99))
	require.Contains(t, all, name(100))
	require.Equal(t, "again", all[name(60)].why)
	require.Empty(t, l.all(now.Add(3*lossTime)))
	require.Empty(t, l.m)
}
