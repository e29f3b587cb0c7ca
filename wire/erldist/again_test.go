package erldist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestBatches(t *testing.T) { linkkit.Batches(t, &Protocol{}) }

// over returns an end of a link on a stream.
func over(conn *stream, local, peer wire.NodeID) *link {
	return newLink(conn, local, dist.Peer{ID: peer, Flags: uint64(erlflags.Announced)}, dist.LinkLimits{Message: 1 << 16}, nil)
}

// twice reads b with and without Batch.
func twice(b []byte) error {
	return linkkit.Together(over(&stream{in: b}, linkkit.B, linkkit.A), over(&stream{in: b}, linkkit.B, linkkit.A))
}

// binaries returns signals on the wire, most of which Batch takes together; Send writes the ones it can, and others put
// atoms into the cache.
func binaries(t testing.TB) []byte {
	conn := &stream{}
	l := over(conn, linkkit.A, linkkit.B)
	for _, f := range linkkit.Binaries() {
		_, err := l.Send(f.From, f.To, f.Payload)
		require.NoError(t, err)
	}
	_, err := l.Flush(false)
	require.NoError(t, err)
	return conn.out
}

// Frames read by the pattern are those that were sent, also if nobody learns the pattern.
func TestAgain(t *testing.T) {
	conn := &stream{in: binaries(t)}
	l := over(conn, linkkit.B, linkkit.A)
	for _, want := range linkkit.Binaries() {
		var f dist.Frame
		require.NoError(t, l.Read(&f))
		require.NoError(t, linkkit.Same(want, f))
	}
	require.Error(t, l.Read(new(dist.Frame)))
}

// Batch takes damaged signals together no more than Read reads them.
func TestAgainCutAndFlipped(t *testing.T) {
	b := binaries(t)
	require.NoError(t, twice(b))
	for i := range b {
		require.NoError(t, twice(b[:i]), "cut at %d", i)
		flipped := append([]byte(nil), b...)
		for k, bit := range []byte{1, 8, 0x80, 0xff} {
			if testkit.At() == testkit.Test && (i+k)%4 != 0 {
				continue // the rest is for make merge
			}
			flipped[i] = b[i] ^ bit
			require.NoError(t, twice(flipped), "byte %d", i)
		}
	}
}

func FuzzAgain(f *testing.F) {
	f.Add(binaries(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := twice(b); err != nil {
			t.Error(err)
		}
	})
}
