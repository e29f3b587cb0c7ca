package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// coresOf returns two cores that the test may run on.
func coresOf(t *testing.T) (cores []int) {
	t.Helper()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	for i := 0; len(cores) < 2 && i < 1024; i++ {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	if len(cores) < 2 {
		t.Skip("one core only")
	}
	return cores
}

// stayOn keeps the calling thread on a core.
func stayOn(t *testing.T, core int) {
	t.Helper()
	var set unix.CPUSet
	set.Set(core)
	require.NoError(t, unix.SchedSetaffinity(0, &set))
}
