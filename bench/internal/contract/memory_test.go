package contract

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStatusBytes(t *testing.T) {
	const status = "Name:\tbench\nVmPeak:\t  99 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t7\nOdd:\tx kB\n"
	for field, want := range map[string]int{
		"VmHWM": 2 << 20, "VmRSS": 1 << 20, "VmH": 0, "Threads": 0, "Odd": 0, "": 0,
	} {
		assert.Equal(t, want, statusBytes(status, field), field)
	}
}

func TestRSS(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		assert.Zero(t, RSS())
		return
	}
	now := RSS()
	assert.Greater(t, now, 1<<20)
	assert.GreaterOrEqual(t, PeakRSS(), now)
}
