package limits_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/internal/limits"
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

// Each limit has a default, keeps what it is set to, and must not be negative.
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
