package watch_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/watch"
)

func all[E any](c <-chan E) (all []E) {
	for e := range c {
		all = append(all, e)
	}
	return all
}

func TestFeed(t *testing.T) {
	f := watch.NewFeed(2, func(e int) int { return 10 * e })
	require.False(t, f.Full())
	for i := range 5 {
		f.Send(i)
	}
	require.True(t, f.Full())
	f.Miss()
	require.EqualValues(t, 4, f.Missed())
	f.Close()
	f.Close()
	f.Send(7)
	require.Equal(t, []int{0, 10}, all(f.C()))
	require.EqualValues(t, 4, f.Missed())
}

// Many may send at the same time while another closes.
func TestFeedTogether(t *testing.T) {
	f := watch.NewFeed[int](200, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				f.Send(1)
			}
		})
	}
	read := 0
	for range f.C() {
		if read++; read == 100 {
			f.Close()
		}
	}
	wg.Wait()
	require.GreaterOrEqual(t, read, 100)
	require.LessOrEqual(t, uint64(read)+f.Missed(), uint64(4000))
}

func TestHub(t *testing.T) {
	var h watch.Hub[string]
	h.Send("nobody reads it")
	a, b, c := h.Open(2), h.Open(1), h.Open(3)
	h.Send("x")
	h.Drop(c)
	h.Drop(c)
	h.Send("y")
	h.Close()
	h.Close()
	h.Send("z")
	require.Equal(t, []string{"x", "y"}, all(a.C()))
	require.Equal(t, []string{"x"}, all(b.C()))
	require.Equal(t, []string{"x"}, all(c.C()))
	require.EqualValues(t, 1, b.Missed())
	require.Empty(t, all(h.Open(1).C()), "it is closed")
}
