package limits

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrief(t *testing.T) {
	require.Equal(t, "x", Brief(errors.New("x")))
	long := Brief(errors.New(string(make([]byte, 1<<20))))
	require.Less(t, len(long), maxBrief+4)
}
