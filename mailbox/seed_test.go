package mailbox

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0 picks one")

// newRand returns a source whose seed is printed if the test fails.
func newRand(t testing.TB) *rand.Rand {
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with -seed=%d", s)
		}
	})
	return rand.New(rand.NewPCG(s, 1))
}
