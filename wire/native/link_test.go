package native

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/linkkit"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/linktest"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"Plain":      {},
		"Compressed": {Compress: 100},
	} {
		t.Run(name, func(t *testing.T) { linkkit.Test(t, p, linkkit.Everything) })
	}
}

// plain is a protocol whose links have no optional interface.
type plain struct{ *Protocol }

func (p plain) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return only(p.Protocol.Dial(ctx, conn, h))
}

func (p plain) Accept(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return only(p.Protocol.Accept(ctx, conn, h))
}

func only(l dist.Link, err error) (dist.Link, error) {
	if err != nil {
		return nil, err
	}
	return struct{ dist.Link }{l}, nil
}

// A link without any optional interface is a whole link, and the kit sees that it has none.
func TestPlain(t *testing.T) {
	linktest.Test(t, plain{new(Protocol)}, linktest.Options{})
	l := new(Protocol).over(&stream{}, nodeA, nodeB, dist.LinkLimits{})
	require.Equal(t, linkkit.Everything, linkkit.Of(l))
	require.Zero(t, linkkit.Of(struct{ dist.Link }{l}))
	require.Equal(t, "linkopt.LookAhead linkopt.Progress", (linkkit.LookAhead | linkkit.Progress).String())
	require.Equal(t, "none", linkkit.Optional(0).String())
}

// A peer is told why the link ends, unless a frame has been cut short.
func TestExplain(t *testing.T) {
	for _, torn := range []bool{false, true} {
		conn := &stream{}
		l := new(Protocol).over(conn, nodeA, nodeB, dist.LinkLimits{})
		l.broken = torn
		l.Explain("it does not read")
		err := new(Protocol).over(&stream{in: conn.out}, nodeB, nodeA, dist.LinkLimits{}).Read(new(dist.Frame))
		if torn {
			require.ErrorIs(t, err, io.EOF)
		} else {
			require.ErrorContains(t, err, "the peer ended the link: it does not read")
		}
	}
}
