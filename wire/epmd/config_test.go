package epmd_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/actornode/actornode/wire/epmd"
	"github.com/stretchr/testify/require"
)

func TestConfigFromEnv(t *testing.T) {
	read := func(kv ...string) (epmd.Config, error) {
		return epmd.ConfigFromEnv(func(key string) (string, bool) {
			for _, s := range kv {
				if k, v, _ := strings.Cut(s, "="); k == key {
					return v, true
				}
			}
			return "", false
		})
	}
	c, err := read()
	require.NoError(t, err)
	require.Equal(t, epmd.Config{}, c)
	c, err = read("ERL_EPMD_PORT=5000", "ERL_EPMD_ADDRESS=192.0.2.2, fd00::2,", "ERL_EPMD_RELAXED_COMMAND_CHECK=")
	require.NoError(t, err)
	require.Equal(t, epmd.Config{Port: 5000, Relaxed: true,
		Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("fd00::2")}}, c)
	for _, s := range []string{"ERL_EPMD_PORT=x", "ERL_EPMD_PORT=0", "ERL_EPMD_PORT=65536", "ERL_EPMD_ADDRESS=localhost"} {
		_, err = read(s)
		require.Error(t, err, s)
	}
}
