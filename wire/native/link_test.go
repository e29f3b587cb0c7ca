package native

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
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
	require.Equal(t, "links.LookAhead links.Progress", (linkkit.LookAhead | linkkit.Progress).String())
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
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		} else {
			require.ErrorContains(t, err, "the peer ended the link: it does not read")
		}
	}
}

type (
	version1 struct{ ID int }
	version2 struct{ ID string }
	version3 struct{ ID, Added int }
	late     struct{ ID int }
)

// A peer is told the shapes of the types here, also of those that are registered later, and does not
// send it what is another type here.
func TestShapesOfPeer(t *testing.T) {
	here := new(pack.Types)
	require.NoError(t, pack.Register[version1](here, "x.Type"))
	conn := &stream{}
	l := (&Protocol{types: here}).over(conn, nodeA, nodeB, dist.LinkLimits{})
	_, err := l.Flush(false)
	require.NoError(t, err)
	require.NoError(t, pack.Register[late](here, "x.Late"))
	_, err = l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: version1{7}})
	require.NoError(t, err)
	_, err = l.Flush(false)
	require.NoError(t, err)

	there := new(pack.Types)
	require.NoError(t, pack.Register[version2](there, "x.Type"))
	require.NoError(t, pack.Register[version3](there, "x.Late"))
	peer := (&Protocol{types: there}).over(&stream{in: conn.out}, nodeB, nodeA, dist.LinkLimits{})
	send := func(v any) error {
		_, err := peer.Write(&dist.Frame{Op: dist.OpSend, From: onB.PID(1), To: onA.PID(1), Payload: v})
		return err
	}
	require.NoError(t, send(version2{"a"}), "it has been told nothing yet")
	var f dist.Frame
	require.NoError(t, peer.Read(&f))
	err = send([]version2{{"a"}})
	require.ErrorAs(t, err, new(*wire.EncodeError))
	require.ErrorContains(t, err, "x.Type.ID differs: here {ID string}, there {ID int}")
	require.NoError(t, send(version3{1, 2}), "fields may be added and missing")

	former := &stream{in: framed([]byte{opPart, shapeStream, 0xd4, 1, 'a', 1})}
	old := new(Protocol).over(former, nodeB, nodeA, dist.LinkLimits{})
	require.ErrorIs(t, old.Read(&f), io.ErrUnexpectedEOF, "a shape is no signal")
	bad := new(Protocol).over(&stream{in: framed([]byte{opPart, shapeStream, 0xc1})}, nodeB, nodeA, dist.LinkLimits{})
	require.ErrorContains(t, bad.Read(&f), "the shape of a type")
}
