package global_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// steps returns how many random steps TestModel takes: STEPS if it is set, otherwise enough for half a second.
func steps(t *testing.T) int {
	text := os.Getenv("STEPS")
	if text == "" {
		return 50_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "STEPS")
	return n
}
