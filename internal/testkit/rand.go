package testkit

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0 picks one")

// SeedChosen reports whether -seed is set.
func SeedChosen() bool { return *seed != 0 }

// Seed returns -seed, or a random number, which is in the log if the test fails.
func Seed(t testing.TB) uint64 {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with -seed=%d", s)
		}
	})
	return s
}

// Rand returns a source with a Seed.
func Rand(t testing.TB) *rand.Rand { return rand.New(rand.NewPCG(Seed(t), 1)) }
