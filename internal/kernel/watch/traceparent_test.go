package watch_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/watch"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceparent(t *testing.T) {
	for _, label := range []any{parent, []byte(parent), "01" + parent[2:], "cc" + parent[2:] + "-what-later-versions-add"} {
		p, ok := watch.ReadTraceparent(label)
		require.True(t, ok, "%v", label)
		require.Equal(t, byte(1), p.Flags)
		require.Equal(t, parent, string(p.Label()))
		trace, span := p.IDs()
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", trace)
		require.Equal(t, "b7ad6b7169203331", span)
	}
	zeros := strings.Repeat("0", 32)
	for _, label := range []any{nil, 17, "", "00", parent[:54], parent + "-", parent + "0", "ff" + parent[2:],
		strings.ToUpper(parent),
		"00-" + zeros + parent[35:], parent[:36] + zeros[:16] + parent[52:], strings.Replace(parent, "c", "x", 1),
		strings.Replace(parent, "-", "_", 1), "cc" + parent[2:] + "x", "0x" + parent[2:], []byte(strings.Repeat("0", 1000))} {
		_, ok := watch.ReadTraceparent(label)
		require.False(t, ok, "%v", label)
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add([]byte(parent))
	f.Fuzz(func(t *testing.T, label []byte) {
		if p, ok := watch.ReadTraceparent(label); ok {
			again, ok := watch.ReadTraceparent(p.Label())
			require.True(t, ok)
			require.Equal(t, p, again)
		}
	})
}
