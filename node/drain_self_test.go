package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// An operator gets in: one connection a second.
func TestShedLetsOneInEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Node
		require.NoError(t, n.lacksRoom())
		n.Shed(true)
		for range 3 {
			require.NoError(t, n.lacksRoom())
			for range 10 {
				require.ErrorIs(t, n.lacksRoom(), errShedding)
			}
			time.Sleep(time.Second)
		}
		_, refused := n.Shedding()
		require.EqualValues(t, 30, refused)
	})
}
