package native

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/linktest"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"Plain":      {},
		"Compressed": {Compress: 100},
	} {
		t.Run(name, func(t *testing.T) { linktest.Test(t, p) })
	}
}

// A peer is told why the link ends, unless a frame has been cut short.
func TestExplain(t *testing.T) {
	for _, torn := range []bool{false, true} {
		conn := &stream{}
		l := new(Protocol).over(conn, nodeA, nodeB, wire.LinkLimits{})
		l.broken = torn
		l.Explain("it does not read")
		err := new(Protocol).over(&stream{in: conn.out}, nodeB, nodeA, wire.LinkLimits{}).Read(new(wire.Frame))
		if torn {
			require.ErrorIs(t, err, io.EOF)
		} else {
			require.ErrorContains(t, err, "the peer ended the link: it does not read")
		}
	}
}
