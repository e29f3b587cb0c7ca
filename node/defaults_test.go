package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/native"
)

// What a node has EPMD know of it, others read.
func TestRegistration(t *testing.T) {
	me := Announcement{Name: "go@h", Creation: 7}
	for _, c := range []struct {
		ends  []Endpoint
		port  uint16
		extra string
	}{
		{[]Endpoint{{"erlang", "h:1"}}, 1, ""},
		{[]Endpoint{{"native", "h:2"}, {"erlang", "h:1"}}, 1, "native=2"},
		{[]Endpoint{{"native", "h:2"}}, 2, "native=2,erlang=0"},
		{[]Endpoint{{"a", "h:3"}, {"native", "[::1]:2"}, {"erlang", "h:1"}}, 1, "a=3,native=2"},
	} {
		me.Endpoints = c.ends
		r := registration(me)
		assert.Equal(t, epmd.Registration{Name: "go", Port: c.port, Extra: []byte(c.extra), Highest: 6, Lowest: 6, Creation: 7}, r)
		want := make([]Endpoint, len(c.ends))
		for i, e := range c.ends {
			want[i], _ = Endpoint{e.Protocol, ":" + e.Addr[len(e.Addr)-1:]}.at("h")
		}
		assert.ElementsMatch(t, want, endpointsOf(r, "h"))
	}
	for _, odd := range []string{"x", "=", "a=", "a=0", "a=x,", ",,", "a=70000", "\x00\xff"} {
		assert.Equal(t, []Endpoint{{"erlang", "h:1"}}, endpointsOf(epmd.Registration{Port: 1, Extra: []byte(odd)}, "h"), odd)
	}
}

// Protocols are chosen by name, in the order asked for.
func TestProtocolsByName(t *testing.T) {
	d := Distribution{Compress: 100}
	chosen, err := d.ProtocolsByName("erlang", "native")
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	assert.Equal(t, "erlang", chosen[0].Name())
	assert.Equal(t, "native", chosen[1].Name())
	assert.Equal(t, 100, chosen[1].(*native.Protocol).Compress)
	_, err = d.ProtocolsByName("quic")
	require.EqualError(t, err, `node: unknown protocol "quic": want native or erlang`)
}
