package migrate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A process starts on the other node when all its messages have arrived, not before, and not with one too many.
func TestStartsWithAllMessages(t *testing.T) {
	a := &arrival{prepare: new(prepare)}
	for have := range 4 {
		for sent := range 4 {
			err := a.mayStart(nil, make([]any, have), sent)
			require.Equal(t, have == sent, err == nil, "%d of %d", have, sent)
		}
	}
}
