package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire/native"
)

// Protocols are chosen by name, in the order asked for.
func TestProtocolsByName(t *testing.T) {
	d := Distribution{Compress: 100}
	chosen, err := d.ProtocolsByName("erlang", "native")
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	assert.Equal(t, "erlang", chosen[0].Name())
	assert.Equal(t, "native", chosen[1].Name())
	assert.Equal(t, 100, chosen[1].(*native.Protocol).Compress)
	_, err = d.ProtocolsByName("quic")
	require.EqualError(t, err, `node: unknown protocol "quic": want native or erlang`)
}
