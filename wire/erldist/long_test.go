package erldist

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The first fragment of a message has the number of fragments, each next one has one less, and the last has 1, whatever
// the length of the message: also if it is a multiple of a fragment's.
func TestFragmentsAreNumbered(t *testing.T) {
	full := 0 // messages whose last fragment is full
	for size := fragmentSize - 100; size < 3*fragmentSize+2; size++ {
		if size%fragmentSize == 100 { // not near a multiple
			size += fragmentSize - 200
		}
		conn := &stream{}
		l := newLink(conn, linkkit.A, dist.Peer{ID: linkkit.B, Flags: uint64(erlflags.Announced)}, dist.LinkLimits{}, nil)
		_, err := l.Write(&dist.Frame{Op: dist.OpSend, Payload: make([]byte, size),
			From: wire.NewOrigin(linkkit.A).PID(1), To: wire.NewOrigin(linkkit.B).PID(2)})
		require.NoError(t, err)
		for left := 1; left > 0; {
			left, err = l.Flush(false)
			require.NoError(t, err)
		}
		frames := frameList(conn.out)
		for i, f := range frames {
			if len(frames) == 1 {
				require.EqualValues(t, distHeader, f[1])
				break
			}
			tag := byte(nextFragment)
			if i == 0 {
				tag = firstFragment
			}
			require.Equal(t, tag, f[1], "fragment %d of %d bytes", i, size)
			require.EqualValues(t, len(frames)-i, binary.BigEndian.Uint64(f[10:]), "fragment %d of %d bytes", i, size)
		}
		if last := frames[len(frames)-1]; len(last) == fragmentHead+fragmentSize {
			full++
		}
	}
	require.GreaterOrEqual(t, full, 2)
}
