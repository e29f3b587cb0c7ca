package discovery

import (
	"testing"

	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/stretchr/testify/assert"
)

// Other nodes read what a node registers with EPMD.
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
		assert.Equal(t, epmdclient.Registration{Name: "go", Port: c.port, Extra: []byte(c.extra), Highest: 6, Lowest: 6, Creation: 7}, r)
		want := make([]Endpoint, len(c.ends))
		for i, e := range c.ends {
			want[i], _ = Endpoint{e.Protocol, ":" + e.Addr[len(e.Addr)-1:]}.at("h")
		}
		assert.ElementsMatch(t, want, endpointsOf(r, "h"))
	}
	for _, odd := range []string{"x", "=", "a=", "a=0", "a=x,", ",,", "a=70000", "\x00\xff"} {
		assert.Equal(t, []Endpoint{{"erlang", "h:1"}}, endpointsOf(epmdclient.Registration{Port: 1, Extra: []byte(odd)}, "h"), odd)
	}
}
