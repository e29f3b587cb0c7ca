package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/epmdtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/epmd"
)

var errOffline = errors.New("offline")

// offline is a finder of which nothing works but the list, and that not quite.
type offline struct{ changed func() }

func (*offline) Find(context.Context, node.Atom) ([]node.Endpoint, error) { return nil, errOffline }
func (*offline) Announce(context.Context, node.Announcement) (func(), error) {
	return nil, errOffline
}
func (*offline) List(context.Context) ([]node.Atom, error) {
	return []node.Atom{"z@h", "b@h"}, errOffline
}
func (o *offline) Watch(changed func()) func() {
	o.changed = changed
	return func() { o.changed = nil }
}

// silent finds nothing, and cannot list.
type silent struct{ node.Finder }

func TestChain(t *testing.T) {
	ctx := t.Context()
	places, off := &nodetest.Places{}, &offline{}
	places.Put("b@h", []node.Endpoint{{Addr: "second:1"}})
	places.Put("c@h", []node.Endpoint{{Addr: "second:2"}})
	known := &node.Static{Nodes: map[node.Atom][]node.Endpoint{"a@h": {{Addr: ":1"}}, "b@h": {{Addr: ":2"}}}}
	chain := node.Chain{known, off, places}
	for name, want := range map[node.Atom]string{"a@h": "h:1", "b@h": "h:2", "c@h": "second:2"} {
		got, err := chain.Find(ctx, name)
		require.NoError(t, err)
		assert.Equal(t, []node.Endpoint{{Addr: want}}, got)
	}
	_, err := chain.Find(ctx, "d@h")
	require.ErrorIs(t, err, node.ErrUnknownNode)
	require.ErrorIs(t, err, errOffline)
	require.ErrorContains(t, err, "no node d@h")
	_, err = node.Chain{}.Find(ctx, "d@h")
	require.ErrorIs(t, err, node.ErrUnknownNode)

	all, err := chain.List(ctx)
	require.ErrorIs(t, err, errOffline)
	assert.Equal(t, []node.Atom{"a@h", "b@h", "c@h", "z@h"}, all)
	all, err = node.Chain{silent{off}, places}.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []node.Atom{"b@h", "c@h"}, all)
	all, err = (&node.Static{Nodes: known.Nodes, Next: places}).List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []node.Atom{"a@h", "b@h", "c@h"}, all)

	calls := 0
	stop := node.Chain{known, &node.Static{Next: off}, silent{off}}.Watch(func() { calls++ })
	off.changed()
	assert.Equal(t, 1, calls)
	stop()
	assert.Nil(t, off.changed)
}

// A node is announced by all finders or by none.
func TestChainAnnounce(t *testing.T) {
	first, last := &nodetest.Places{}, &nodetest.Places{}
	me := node.Announcement{Name: "a@h", Endpoints: []node.Endpoint{{Addr: "h:1"}}}
	_, err := node.Chain{first, &offline{}, last}.Announce(t.Context(), me)
	require.ErrorIs(t, err, errOffline)
	for _, p := range []*nodetest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.Error(t, err)
	}
	stop, err := node.Chain{first, last}.Announce(t.Context(), me)
	require.NoError(t, err)
	for _, p := range []*nodetest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.NoError(t, err)
	}
	stop()
	for _, p := range []*nodetest.Places{first, last} {
		_, err = p.Find(t.Context(), "a@h")
		require.Error(t, err)
	}
}

func TestEPMDLists(t *testing.T) {
	mapper := epmdtest.Serve(t, "127.0.0.1")
	f := &node.EPMD{Config: mapper}
	all, err := f.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	f.Hosts = []string{"127.0.0.1"}
	for _, name := range []node.Atom{"a@127.0.0.1", "b@127.0.0.1"} {
		nodetest.Start(t, node.Config{Name: name, Distribution: &node.Distribution{Cookie: "secret", Finder: f}})
	}
	all, err = f.List(t.Context())
	require.NoError(t, err)
	assert.ElementsMatch(t, []node.Atom{"a@127.0.0.1", "b@127.0.0.1"}, all)
	f = &node.EPMD{Config: mapper, Hosts: []string{"127.0.0.1", "127.0.0.77"}} // nobody listens at the second
	all, err = f.List(t.Context())
	require.ErrorIs(t, err, epmd.ErrUnreachable)
	require.ErrorContains(t, err, "cannot list the nodes on 127.0.0.77")
	assert.ElementsMatch(t, []node.Atom{"a@127.0.0.1", "b@127.0.0.1"}, all)
}
