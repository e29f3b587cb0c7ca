package epmdtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/wire/epmd"
)

func TestServe(t *testing.T) {
	var c *epmdclient.Client
	t.Run("while the test goes", func(t *testing.T) {
		cfg := epmdtest.Serve(t, "127.0.0.1")
		assert.NotEqual(t, cfg.Port, epmdtest.Serve(t, "127.0.0.1").Port, "each has its own")
		var err error
		c, err = epmdclient.NewClient(cfg)
		require.NoError(t, err)
		names, err := c.Names(t.Context(), "")
		require.NoError(t, err)
		assert.Empty(t, names)
	})
	_, err := c.Names(t.Context(), "")
	require.ErrorIs(t, err, epmd.ErrUnreachable)
}
