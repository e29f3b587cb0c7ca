package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/discovery"
)

func TestParseEndpoint(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"h:1", ""}, {":1", ""}, {"[::1]:65535", ""}, {"native://h:1", ""}, {"native://:1", ""},
		{"h", "want HOST:PORT or PROTOCOL://HOST:PORT"}, {"", "missing port"}, {"h:0", `"0" is not a port`}, {"h:65536", "is not a port"},
		{"h:x", "is not a port"}, {"native://h", "missing port"}, {"://h:1", "is missing"},
	} {
		e, err := discovery.ParseEndpoint(c.text)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, c.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.text, e.String())
	}
}
