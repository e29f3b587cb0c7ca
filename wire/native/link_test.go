package native

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/links"
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

// A link without any optional interface is a whole link, and the kit notices that it has none.
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
)

// A value whose type differs on the peer can be sent; in its place arrives an error that names the field.
func TestOtherTypeOfPeer(t *testing.T) {
	here, there := new(pack.Types), new(pack.Types)
	require.NoError(t, pack.Register[version1](here, "x.Type"))
	require.NoError(t, pack.Register[version2](there, "x.Type"))
	conn := &stream{}
	l := (&Protocol{types: here}).over(conn, nodeA, nodeB, dist.LinkLimits{})
	for _, v := range []any{&links.Request{Ref: onA.Ref(1, 2, 3), Body: version1{7}}, version1{7}, 8} {
		_, err := l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: v})
		require.NoError(t, err)
	}
	_, err := l.Flush(false)
	require.NoError(t, err)
	peer := (&Protocol{types: there}).over(&stream{in: conn.out}, nodeB, nodeA, dist.LinkLimits{})
	for range 2 {
		var f dist.Frame
		require.NoError(t, peer.Read(&f))
		require.ErrorIs(t, links.UnreadableIn(f.Payload), pack.ErrShape)
		require.ErrorContains(t, links.UnreadableIn(f.Payload), "at x.Type.ID, which is of type string: here {ID string}, what came "+
			"is {ID int}")
	}
	var f dist.Frame
	require.NoError(t, peer.Read(&f))
	require.Equal(t, 8, f.Payload)
}

// A peer with the former version's bit, and without today's, is read and written as one without it: no types of values
// cross except registered ones, and nothing precedes the first signal.
func TestFormerTypes(t *testing.T) {
	const former = 1 << 5
	types := new(pack.Types)
	require.NoError(t, pack.Register[version1](types, "x.Type"))
	ours, old := info(dist.LinkLimits{}), info(dist.LinkLimits{})
	require.Zero(t, ours.flags&former)
	old.flags = old.flags&^flagTypes | former
	old.id = nodeB
	conn := &stream{}
	l := (&Protocol{types: types}).newLink(conn, &machine{h: dist.Handshake{Local: nodeA}, ours: ours, theirs: old, state: finished}, nil)
	require.Empty(t, l.out.buf)
	require.True(t, l.out.enc.Former)
	_, err := l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: []any{int64(7), version1{7}}})
	require.Error(t, err, "a slice has no term")
	_, err = l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: wire.Tuple{int64(7), version1{7}}})
	require.NoError(t, err)
	_, err = l.Flush(false)
	require.NoError(t, err)
	var f dist.Frame
	require.NoError(t, (&Protocol{types: types}).over(&stream{in: conn.out}, nodeB, nodeA, dist.LinkLimits{}).Read(&f))
	require.Equal(t, wire.Tuple{7, version1{7}}, f.Payload)

	// A message about its types would end the link. It sends none, because it misses the bit here.
	shape := &stream{in: framed([]byte{opPart, 255, 0xd4, 1, 'a', 1})}
	require.ErrorContains(t, new(Protocol).over(shape, nodeB, nodeA, dist.LinkLimits{}).Read(&f), "a part without a first part")
}
