package isolation_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/isolation"
)

type order struct {
	Items []string
	Note  map[string]string
}

// Each Editor changes only its own copy; the shared value stays as it was.
func TestSharedCopiesOnWrite(t *testing.T) {
	s := isolation.Share(order{Items: []string{"a"}, Note: map[string]string{"k": "v"}})
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			e := s.Edit()
			for range 100 {
				require.NoError(t, e.Edit(func(o *order) { o.Items[0] += "x"; o.Note["k"] = string(rune('a' + k)) }))
			}
			require.Len(t, e.Get().Items[0], 101)
			require.Equal(t, "a", s.Get().Items[0])
		})
	}
	all.Wait()
	require.Equal(t, "v", s.Get().Note["k"])
}

// Only the first change after a value was shared copies it.
func TestSharedCopiesOnce(t *testing.T) {
	e := isolation.Share([]int{1}).Edit()
	first := e.Get()
	require.NoError(t, e.Edit(func(v *[]int) { (*v)[0] = 2 }))
	second := e.Get()
	require.NotSame(t, &first[0], &second[0])
	require.NoError(t, e.Edit(func(v *[]int) { (*v)[0] = 3 }))
	require.Same(t, &second[0], &e.Get()[0])
	out := e.Share()
	require.Same(t, &second[0], &out.Get()[0])
	require.NoError(t, e.Edit(func(v *[]int) { (*v)[0] = 4 }))
	require.Equal(t, []int{3}, out.Get())

	var none isolation.Shared[*order]
	require.Nil(t, none.Get())
	require.NoError(t, none.Edit().Edit(func(o **order) { *o = &order{} }))
	refused := isolation.Share(func() {}).Edit()
	err := refused.Edit(func(*func()) { require.Fail(t, "called") })
	require.ErrorContains(t, err, "isolation: cannot copy: it is a func()")
}
