package discovery_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

func TestStatic(t *testing.T) {
	next := &clustertest.Places{}
	next.Put("far@h", []discovery.Endpoint{{"memory", "1.2.3.4:5"}, {"", "1.2.3.4:6"}})
	nodes := map[wire.Atom][]discovery.Endpoint{"a@h.x": {{"", "1.1.1.1:1"}}, "b@h": {{"", ":2"}, {"native", "x:7"}}, "c@::1": {{"", ":3"}},
		"d@h": {{"", "[::2]:4"}}, "bad@h": {{"", "nowhere"}}}
	for _, c := range []struct {
		f    discovery.Static
		name wire.Atom
		want string
	}{
		{discovery.Static{Nodes: nodes}, "a@h.x", "[1.1.1.1:1]"},
		{discovery.Static{Nodes: nodes}, "b@h", "[h:2 native://x:7]"},
		{discovery.Static{Nodes: nodes}, "c@::1", "[[::1]:3]"},
		{discovery.Static{Nodes: nodes}, "d@h", "[[::2]:4]"},
		{discovery.Static{Nodes: nodes, Port: 9}, "e@h.x", "[h.x:9]"},
		{discovery.Static{Nodes: nodes, Port: 9}, "b@h", "[h:2 native://x:7]"},
		{discovery.Static{Port: 9}, "e@::1", "[[::1]:9]"},
		{discovery.Static{Nodes: nodes, Next: next}, "far@h", "[memory://1.2.3.4:5 1.2.3.4:6]"},
		{discovery.Static{Port: 9, Protocol: "native"}, "e@h", "[native://h:9]"},
	} {
		got, err := c.f.Find(t.Context(), c.name)
		require.NoError(t, err)
		assert.Equal(t, c.want, fmt.Sprint(got))
	}
	for _, c := range []struct {
		f    discovery.Static
		name wire.Atom
		says string
	}{
		{discovery.Static{Nodes: nodes}, "e@h", "address unknown: e@h"},
		{discovery.Static{}, "e@h", "address unknown: e@h"},
		{discovery.Static{Nodes: nodes}, "bad@h", "missing port"},
		{discovery.Static{Port: 9}, "e", "not a node name"},
		{discovery.Static{Port: 9}, "e@", "not a node name"},
		{discovery.Static{Next: next}, "e@h", "no node e@h"},
	} {
		_, err := c.f.Find(t.Context(), c.name)
		require.ErrorContains(t, err, c.says)
	}
	_, err := new(discovery.Static).Find(t.Context(), "e@h")
	require.ErrorIs(t, err, discovery.ErrUnknownNode)
	stop, err := new(discovery.Static).Announce(t.Context(), discovery.Announcement{Name: "e@h"})
	require.NoError(t, err)
	stop()
	stop, err = (&discovery.Static{Next: next}).Announce(t.Context(), discovery.Announcement{Name: "e@h", Endpoints: []discovery.Endpoint{{"native", "127.0.0.1:77"}}})
	require.NoError(t, err)
	at, err := next.Find(t.Context(), "e@h")
	require.NoError(t, err)
	assert.Equal(t, []discovery.Endpoint{{"native", "127.0.0.1:77"}}, at)
	stop()
	_, err = next.Find(t.Context(), "e@h")
	assert.Error(t, err)
}
