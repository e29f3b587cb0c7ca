package admin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// idler is a process that does nothing.
type idler struct{}

func (idler) Receive(*node.Context, any) error { return nil }

// Processes are added up by what they have in common; what is beyond the limit is added up, too.
func TestGroups(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	breeder := spawn(t, far, "breeder", node.ActorFunc(func(c *node.Context, _ any) error {
		_, err := c.Spawn(idler{})
		return err
	}))
	for range 3 {
		require.NoError(t, far.Send(breeder, 1))
	}
	watched := spawn(t, far, "", idler{})
	inside, over := make(chan struct{}, 5), make(chan struct{})
	defer close(over)
	busy := spawn(t, far, "", hangs{inside, over})
	for range 5 {
		require.NoError(t, far.Send(busy, 1))
	}
	<-inside
	watcher, err := far.Open()
	require.NoError(t, err)
	defer watcher.Close(node.Normal)
	for range 7 {
		watcher.Monitor(watched)
	}
	settles(t, func() bool { i, err := far.Info(breeder); return err == nil && i.Handled == 3 })

	ask := func(q admin.Query) admin.Listing {
		t.Helper()
		l, err := admin.Processes(ctx, near, far.Name(), q)
		require.NoError(t, err)
		assert.Equal(t, q.By, l.By)
		assert.Empty(t, l.Processes)
		return l
	}
	find := func(l admin.Listing, key string) admin.Group {
		t.Helper()
		for _, g := range l.Groups {
			if g.Key == key {
				return g
			}
		}
		require.Fail(t, "no group", "%s in %+v", key, l)
		panic("unreachable")
	}
	l := ask(admin.Query{By: "behaviour"})
	g := find(l, "admin_test.idler")
	assert.Equal(t, []int{4, 7}, []int{g.Count, g.Monitors})
	g = find(l, "admin_test.hangs")
	assert.Equal(t, []int{1, 5, 5}, []int{g.Count, g.Mailbox, g.Longest})
	sum := 0
	for k, g := range l.Groups {
		sum += g.Count
		assert.LessOrEqual(t, g.Count, l.Groups[max(k-1, 0)].Count)
	}
	assert.Equal(t, l.Matched, sum)

	g = find(ask(admin.Query{By: "parent"}), "breeder")
	assert.Equal(t, 3, g.Count)
	assert.Equal(t, breeder, g.Parent)
	code := "github.com/actornode/actornode/internal/daemon/admin_test"
	assert.Equal(t, 5, find(ask(admin.Query{By: "code", Text: "admin_test"}), code).Count)

	first := ask(admin.Query{By: "behaviour", Sort: "monitors", Limit: 1})
	assert.Len(t, first.Groups, 1)
	assert.Equal(t, first.Matched, first.Groups[0].Count+first.Others.Count)
	assert.Equal(t, len(l.Groups)-1, first.Others.Groups)

	for _, q := range []admin.Query{{By: "size"}, {By: "code", Sort: "age"}, {By: "parent", Window: time.Hour}} {
		_, err := admin.Processes(ctx, near, far.Name(), q)
		require.ErrorIs(t, err, admin.ErrBadRequest)
	}
}

// What has started during the window is counted, and whose parent.
func TestGrowth(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	breeder := spawn(t, far, "breeder", node.ActorFunc(func(c *node.Context, _ any) error {
		if _, err := c.Spawn(idler{}); err != nil {
			return err
		}
		c.SendAfter(time.Millisecond, c.Self(), 1)
		return nil
	}))
	require.NoError(t, far.Send(breeder, 1))
	for _, by := range []node.Atom{"behaviour", "parent"} {
		settles(t, func() bool {
			l, err := admin.Processes(ctx, near, far.Name(), admin.Query{By: by, Sort: "growth", Window: 100 * time.Millisecond})
			require.NoError(t, err)
			g := l.Groups[0]
			return g.Growth > 0 && g.Started >= g.Growth && g.Key == map[node.Atom]string{
				"behaviour": "admin_test.idler", "parent": "breeder"}[by]
		})
	}
}

// A listing of a node with more groups than it tells apart has them all among the others.
func TestManyGroups(t *testing.T) {
	far, near := two(t, admin.Config{Limit: 5})
	for k := range 20 {
		parent := spawn(t, far, node.Atom(fmt.Sprint("p", k)), node.ActorFunc(func(c *node.Context, _ any) error {
			_, err := c.Spawn(idler{})
			return err
		}))
		require.NoError(t, far.Send(parent, wire.Atom("go")))
	}
	settles(t, func() bool {
		l, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{By: "parent", Text: "idler"})
		require.NoError(t, err)
		return len(l.Groups) == 5 && l.Others.Groups == 15 && l.Others.Count == 15
	})
}
