package discovery_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

var errOffline = errors.New("offline")

// offline is a finder in which only the list works, and that not fully.
type offline struct{ changed func() }

func (*offline) Find(context.Context, wire.Atom) ([]discovery.Endpoint, error) {
	return nil, errOffline
}
func (*offline) Announce(context.Context, discovery.Announcement) (func(), error) {
	return nil, errOffline
}
func (*offline) List(context.Context) ([]wire.Atom, error) {
	return []wire.Atom{"z@h", "b@h"}, errOffline
}
func (o *offline) Watch(changed func()) func() {
	o.changed = changed
	return func() { o.changed = nil }
}

// silent finds nothing, and cannot list.
type silent struct{ discovery.Finder }

func TestChain(t *testing.T) {
	ctx := t.Context()
	places, off := &clustertest.Places{}, &offline{}
	places.Put("b@h", []discovery.Endpoint{{Addr: "second:1"}})
	places.Put("c@h", []discovery.Endpoint{{Addr: "second:2"}})
	known := &discovery.Static{Nodes: map[wire.Atom][]discovery.Endpoint{"a@h": {{Addr: ":1"}}, "b@h": {{Addr: ":2"}}}}
	chain := discovery.Chain(known, off, places)
	for name, want := range map[wire.Atom]string{"a@h": "h:1", "b@h": "h:2", "c@h": "second:2"} {
		got, err := chain.Find(ctx, name)
		require.NoError(t, err)
		assert.Equal(t, []discovery.Endpoint{{Addr: want}}, got)
	}
	_, err := chain.Find(ctx, "d@h")
	require.ErrorIs(t, err, discovery.ErrUnknownNode)
	require.ErrorIs(t, err, errOffline)
	require.ErrorContains(t, err, "no node d@h")
	_, err = discovery.Chain().Find(ctx, "d@h")
	require.ErrorIs(t, err, discovery.ErrUnknownNode)

	all, err := chain.(discovery.Lister).List(ctx)
	require.ErrorIs(t, err, errOffline)
	assert.Equal(t, []wire.Atom{"a@h", "b@h", "c@h", "z@h"}, all)
	all, err = discovery.Chain(silent{off}, places).(discovery.Lister).List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []wire.Atom{"b@h", "c@h"}, all)
	all, err = (&discovery.Static{Nodes: known.Nodes, Next: places}).List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []wire.Atom{"a@h", "b@h", "c@h"}, all)

	calls := 0
	stop := discovery.Chain(known, &discovery.Static{Next: off}, silent{off}).(discovery.Watcher).Watch(func() { calls++ })
	off.changed()
	assert.Equal(t, 1, calls)
	stop()
	assert.Nil(t, off.changed)
}

// Either all finders announce a node, or none does.
func TestChainAnnounce(t *testing.T) {
	first, last := &clustertest.Places{}, &clustertest.Places{}
	me := discovery.Announcement{Name: "a@h", Endpoints: []discovery.Endpoint{{Addr: "h:1"}}}
	_, err := discovery.Chain(first, &offline{}, last).Announce(t.Context(), me)
	require.ErrorIs(t, err, errOffline)
	for _, p := range []*clustertest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.Error(t, err)
	}
	stop, err := discovery.Chain(first, last).Announce(t.Context(), me)
	require.NoError(t, err)
	for _, p := range []*clustertest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.NoError(t, err)
	}
	stop()
	for _, p := range []*clustertest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.Error(t, err)
	}
}
