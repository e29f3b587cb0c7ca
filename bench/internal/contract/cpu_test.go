package contract

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCPU(t *testing.T) {
	before := CPU()
	if before == 0 {
		t.Skip("no processor time to ask for on " + runtime.GOOS)
	}
	for n := 0; CPU() == before; n++ { // it grows as work is done; else go test's own time limit ends this
		runtime.Gosched()
	}
	require.Greater(t, CPU(), before)
}
