package limits_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/wire"
)

func TestDefaults(t *testing.T) {
	c, err := limits.Cluster{}.WithDefaults(15 * time.Second)
	require.NoError(t, err)
	require.Equal(t, 8192, c.Connections)
	require.Equal(t, 4096, c.ConnectionsPerSource)
	require.Equal(t, 128, c.PendingPerSource)
	require.Equal(t, 15*time.Second, c.Stall)
	again, err := c.WithDefaults(time.Hour)
	require.NoError(t, err)
	require.Equal(t, c, again)

	c, err = limits.Cluster{Connections: 1, Pending: 3}.WithDefaults(0)
	require.NoError(t, err)
	require.Equal(t, 1, c.ConnectionsPerSource)
	require.Equal(t, 8, c.PendingPerSource)
}

// Each limit has a default, keeps the value it is set to, and must not be negative.
func TestEach(t *testing.T) {
	given, err := limits.Cluster{}.WithDefaults(time.Second)
	require.NoError(t, err)
	for i := range reflect.TypeFor[limits.Cluster]().NumField() {
		name := reflect.TypeFor[limits.Cluster]().Field(i).Name
		require.Positive(t, reflect.ValueOf(given).Field(i).Int(), name)
		var c limits.Cluster
		reflect.ValueOf(&c).Elem().Field(i).SetInt(7)
		full, err := c.WithDefaults(time.Second)
		require.NoError(t, err)
		require.EqualValues(t, 7, reflect.ValueOf(full).Field(i).Int(), name)
		reflect.ValueOf(&c).Elem().Field(i).SetInt(-1)
		_, err = c.WithDefaults(time.Second)
		require.ErrorIs(t, err, limits.ErrNegative, name)
	}
}

func TestSetting(t *testing.T) {
	set := func(v, by, most int) (int, error) {
		err := limits.Setting("Stages", &v, by, most)
		return v, err
	}
	for _, c := range []struct{ is, by, most, want int }{{0, 5, 9, 5}, {7, 5, 9, 7}, {9, 5, 9, 9}, {70, 5, 0, 70}, {0, 0, 0, 0}} {
		v, err := set(c.is, c.by, c.most)
		require.NoError(t, err)
		require.Equal(t, c.want, v)
	}
	_, err := set(-1, 5, 9)
	require.EqualError(t, err, "node: Config.Stages -1: want 0 for the default, or more")
	_, err = set(10, 5, 9)
	require.EqualError(t, err, "node: Config.Stages 10: want at most 9")

	for _, name := range []wire.Atom{"a@h", "a.b@h.c", wire.Atom(strings.Repeat("ä", 253)) + "@h"} {
		require.NoError(t, limits.NodeName(name))
	}
	for _, name := range []wire.Atom{"", "a", "@h", "a@", "a@b@c", wire.Atom(strings.Repeat("ä", 254)) + "@h"} {
		require.ErrorContains(t, limits.NodeName(name), "node: Config.Name: ", name)
	}
}

func TestConnection(t *testing.T) {
	c, err := limits.Connection{}.WithDefaults()
	require.NoError(t, err)
	require.Equal(t, limits.Connection{TickTime: time.Minute, ConnectTimeout: 7 * time.Second, Queue: 1 << 20}, c)
	given := limits.Connection{TickTime: time.Second, ConnectTimeout: 2, Grace: time.Second / 2, Queue: 3, Compress: 4}
	c, err = given.WithDefaults()
	require.NoError(t, err)
	require.Equal(t, given, c)
	for _, c := range []struct {
		is   limits.Connection
		says string
	}{
		{limits.Connection{TickTime: -1}, "must not be negative"},
		{limits.Connection{ConnectTimeout: -1}, "must not be negative"},
		{limits.Connection{Queue: -1}, "must not be negative"},
		{limits.Connection{Compress: -1}, "Compress -1 must not be negative"},
		{limits.Connection{Grace: -1}, "Grace -1ns must not be negative"},
		{limits.Connection{TickTime: time.Millisecond}, "TickTime 1ms: want at least 4ms"},
		{limits.Connection{Grace: 31 * time.Second}, "Grace 31s: want at most half of TickTime, 1m0s"},
	} {
		_, err := c.is.WithDefaults()
		require.ErrorContains(t, err, c.says)
	}
}
