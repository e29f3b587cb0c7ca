package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/wire/dist"
)

func TestBatches(t *testing.T) { linkkit.Batches(t, &Protocol{}) }

// together reads b with and without Batch.
func together(b []byte) error {
	limits := dist.LinkLimits{Message: 1 << 16, Fragments: 3}
	return linkkit.Together(reading(b, limits), reading(b, limits))
}

// binaries returns signals on the wire, most of which Batch takes together.
func binaries(t testing.TB) []byte {
	all := linkkit.Binaries()
	for i := range all { // addressed as on the links of these tests
		all[i].From, all[i].To = onA.PID(all[i].From.Number()), onB.PID(all[i].To.Number())
	}
	return recorded(t, all...)
}

// Batch takes damaged signals together no more than Read reads them.
func TestBatchCutAndFlipped(t *testing.T) {
	b := binaries(t)
	require.NoError(t, together(b))
	for i := range b {
		require.NoError(t, together(b[:i]), "cut at %d", i)
		flipped := append([]byte(nil), b...)
		for _, bit := range []byte{1, 0x80, 0xff} {
			flipped[i] = b[i] ^ bit
			require.NoError(t, together(flipped), "byte %d", i)
		}
	}
}

func FuzzBatch(f *testing.F) {
	f.Add(stock(f))
	f.Add(binaries(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := together(b); err != nil {
			t.Error(err)
		}
	})
}
