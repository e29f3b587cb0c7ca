package inbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFree(t *testing.T) {
	var f Free
	a := f.Get("a")
	assert.Equal(t, "a", a.Msg)
	assert.Zero(t, f.Len())
	b := f.Get("b")
	b.next = a
	f.Put(b)
	f.Put(a)
	require.Equal(t, 2, f.Len())
	assert.Nil(t, a.Msg, "a free node keeps no message alive")

	n := f.Get("c")
	assert.Same(t, a, n, "the last one in is the warmest")
	assert.Nil(t, n.next)
	assert.Equal(t, "c", n.Msg)
	assert.Same(t, b, f.Get("d"))
	assert.Zero(t, f.Len())
}

func TestFreeSplit(t *testing.T) {
	for _, more := range []int{0, 1, Batch} {
		var f Free
		all := make(map[*Node]bool)
		for range Batch + more {
			n := new(Node)
			all[n] = true
			f.Put(n)
		}
		part := f.Split()
		require.Equal(t, Batch, part.Len())
		require.Equal(t, more, f.Len())
		for _, l := range []*Free{&part, &f} {
			for l.Len() > 0 {
				n := l.Get(0)
				require.True(t, all[n], "a node in both, or from nowhere")
				delete(all, n)
			}
			fresh := l.Get(0)
			require.NotNil(t, fresh)
		}
		require.Empty(t, all)
	}
}
