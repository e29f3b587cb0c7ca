package node_test

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/porttest"
	"github.com/actornode/actornode/node"
)

func TestStatic(t *testing.T) {
	next := &nodetest.Places{}
	next.Put("far@h", []node.Endpoint{{"memory", "1.2.3.4:5"}, {"", "1.2.3.4:6"}})
	nodes := map[node.Atom][]node.Endpoint{"a@h.x": {{"", "1.1.1.1:1"}}, "b@h": {{"", ":2"}, {"native", "x:7"}}, "c@::1": {{"", ":3"}},
		"d@h": {{"", "[::2]:4"}}, "bad@h": {{"", "nowhere"}}}
	for _, c := range []struct {
		f    node.Static
		name node.Atom
		want string
	}{
		{node.Static{Nodes: nodes}, "a@h.x", "[1.1.1.1:1]"},
		{node.Static{Nodes: nodes}, "b@h", "[h:2 native://x:7]"},
		{node.Static{Nodes: nodes}, "c@::1", "[[::1]:3]"},
		{node.Static{Nodes: nodes}, "d@h", "[[::2]:4]"},
		{node.Static{Nodes: nodes, Port: 9}, "e@h.x", "[h.x:9]"},
		{node.Static{Nodes: nodes, Port: 9}, "b@h", "[h:2 native://x:7]"},
		{node.Static{Port: 9}, "e@::1", "[[::1]:9]"},
		{node.Static{Nodes: nodes, Next: next}, "far@h", "[memory://1.2.3.4:5 1.2.3.4:6]"},
		{node.Static{Port: 9, Protocol: "native"}, "e@h", "[native://h:9]"},
	} {
		got, err := c.f.Find(t.Context(), c.name)
		require.NoError(t, err)
		assert.Equal(t, c.want, fmt.Sprint(got))
	}
	for _, c := range []struct {
		f    node.Static
		name node.Atom
		says string
	}{
		{node.Static{Nodes: nodes}, "e@h", "address unknown: e@h"},
		{node.Static{}, "e@h", "address unknown: e@h"},
		{node.Static{Nodes: nodes}, "bad@h", "missing port"},
		{node.Static{Port: 9}, "e", "not a node name"},
		{node.Static{Port: 9}, "e@", "not a node name"},
		{node.Static{Next: next}, "e@h", "no node e@h"},
	} {
		_, err := c.f.Find(t.Context(), c.name)
		require.ErrorContains(t, err, c.says)
	}
	_, err := new(node.Static).Find(t.Context(), "e@h")
	require.ErrorIs(t, err, node.ErrUnknownNode)
	stop, err := new(node.Static).Announce(t.Context(), node.Announcement{Name: "e@h"})
	require.NoError(t, err)
	stop()
	stop, err = (&node.Static{Next: next}).Announce(t.Context(), node.Announcement{Name: "e@h", Endpoints: []node.Endpoint{{"native", "127.0.0.1:77"}}})
	require.NoError(t, err)
	at, err := next.Find(t.Context(), "e@h")
	require.NoError(t, err)
	assert.Equal(t, []node.Endpoint{{"native", "127.0.0.1:77"}}, at)
	stop()
	_, err = next.Find(t.Context(), "e@h")
	assert.Error(t, err)
}

func TestParseEndpoint(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"h:1", ""}, {":1", ""}, {"[::1]:65535", ""}, {"native://h:1", ""}, {"native://:1", ""},
		{"h", "want HOST:PORT or PROTOCOL://HOST:PORT"}, {"", "missing port"}, {"h:0", `"0" is not a port`}, {"h:65536", "is not a port"},
		{"h:x", "is not a port"}, {"native://h", "missing port"}, {"://h:1", "is missing"},
	} {
		e, err := node.ParseEndpoint(c.text)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, c.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.text, e.String())
	}
}

// Without EPMD: the same port on all hosts, as -erl_epmd_port has it.
func TestOTPNoEPMD(t *testing.T) {
	needOTP(t, false)
	port := porttest.Reserve(t)
	n, _ := otpPeer(t, "go@127.0.0.1", node.Distribution{Listen: fmt.Sprint("127.0.0.1:", port), Finder: &node.Static{Port: port}})
	o := startOTP(t, 0, "-name", "e@127.0.0.2", "-erl_epmd_port", strconv.Itoa(port), "-kernel", "inet_dist_use_interface", "{127,0,0,2}")
	o.bothWays(n)
}

// An Erlang node that listens nowhere dials us, and one whose place is told.
func TestOTPNoEPMDOneWay(t *testing.T) {
	needOTP(t, false)
	port := porttest.Reserve(t)
	other := porttest.Reserve(t)
	n, log := otpPeer(t, "go@127.0.0.1", node.Distribution{
		Listen: fmt.Sprint("127.0.0.1:", port), Finder: &node.Static{Nodes: map[node.Atom][]node.Endpoint{"f@127.0.0.1": {{Addr: fmt.Sprint(":", other)}}}},
	})
	o := startOTP(t, 0, "-name", "e@127.0.0.1", "-erl_epmd_port", strconv.Itoa(port), "-dist_listen", "false")
	require.Equal(t, "true", o.Ask("net_kernel:connect_node('%s')", n.Name()))
	o.talk(n)
	require.Equal(t, "true", o.Ask("erlang:disconnect_node('%s')", n.Name()))
	o.alone(n)
	require.ErrorContains(t, n.Ping(soon(t), o.name), "address unknown: e@127.0.0.1")

	f := startOTP(t, 0, "-name", "f@127.0.0.1", "-erl_epmd_port", strconv.Itoa(other), "-kernel", "inet_dist_use_interface", "{127,0,0,1}")
	require.NoError(t, n.Ping(soon(t), f.name))
	f.talk(n)
	log.Await(t, "f@127.0.0.1")
}

// Short names, through an EPMD of ours: the host's name without a dot.
func TestOTPShortNames(t *testing.T) {
	needOTP(t, false)
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	if _, err := net.LookupHost(host); err != nil {
		t.Skipf("this host's name has no address: %v", err)
	}
	port, finder := otpMapper(t, "127.0.0.1")
	// The mapper of these nodes is at 127.0.0.1 only; the host must be that too.
	if c, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err != nil {
		t.Skipf("%s is not 127.0.0.1: %v", host, err)
	} else {
		c.Close()
	}
	n, _ := otpPeer(t, "go@"+host, node.Distribution{Finder: finder})
	o := startOTP(t, port, "-sname", "e")
	o.name = node.Atom("e@" + host)
	require.Equal(t, string(o.name), strings.Trim(o.Ask("node()"), "'"))
	o.bothWays(n)

	long, _ := otpPeer(t, "long@127.0.0.1", node.Distribution{Finder: finder})
	require.ErrorContains(t, long.Ping(soon(t), o.name), "has a long name")
}

// IPv6: a node named by an address, at an EPMD that is asked over IPv6.
func TestOTPIPv6(t *testing.T) {
	needOTP(t, false)
	port, finder := otpMapper(t, "::1")
	n, _ := otpPeer(t, "go@::1", node.Distribution{Finder: finder})
	assert.Equal(t, "::1", n.Addr().(*net.TCPAddr).IP.String())
	o := startOTP(t, port, "-name", "e@::1", "-proto_dist", "inet6_tcp", "-kernel", "inet_dist_use_interface", "{0,0,0,0,0,0,0,1}")
	o.bothWays(n)
}

// A node that listens at all addresses is reached over both families: by OTP over
// IPv4 and, as another node, over IPv6.
func TestOTPBothFamilies(t *testing.T) {
	needOTP(t, false)
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on this host")
	}
	l.Close()
	port := porttest.Reserve(t)
	n, log := otpPeer(t, "go@127.0.0.1", node.Distribution{Listen: fmt.Sprint(":", port), Finder: &node.Static{}})
	for _, c := range []struct{ proto, erl, from string }{{"inet_tcp", "e@127.0.0.1", "addr=127.0.0.1:"}, {"inet6_tcp", "f@127.0.0.1", "addr=[::1]:"}} {
		args := []string{"-erl_epmd_port", strconv.Itoa(port), "-dist_listen", "false", "-proto_dist", c.proto}
		if c.proto == "inet6_tcp" { // what the name's host is for IPv6
			file := t.TempDir() + "/inetrc"
			require.NoError(t, os.WriteFile(file, []byte(`{host, {0,0,0,0,0,0,0,1}, ["127.0.0.1"]}. {lookup, [file]}.`), 0o600))
			args = append(args, "-kernel", "inetrc", strconv.Quote(file))
		}
		o := startOTP(t, 0, "-name", c.erl, args...)
		require.Equal(t, "true", o.Ask("net_kernel:connect_node('%s')", n.Name()), c.proto)
		o.talk(n)
		log.Await(t, c.from)
		log.Take()
	}
}
