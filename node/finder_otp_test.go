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

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// Without EPMD: the same port on all hosts, as with -erl_epmd_port.
func TestOTPNoEPMD(t *testing.T) {
	needOTP(t, false)
	port := porttest.Reserve(t)
	n, _ := otpPeer(t, "go@127.0.0.1", node.Distribution{Listen: fmt.Sprint("127.0.0.1:", port), Finder: &discovery.Static{Port: port}})
	o := startOTP(t, 0, "-name", "e@127.0.0.2", "-erl_epmd_port", strconv.Itoa(port), "-kernel", "inet_dist_use_interface", "{127,0,0,2}")
	o.bothWays(n)
}

// An Erlang node that does not listen dials us, and one whose address is configured.
func TestOTPNoEPMDOneWay(t *testing.T) {
	needOTP(t, false)
	port := porttest.Reserve(t)
	other := porttest.Reserve(t)
	n, log := otpPeer(t, "go@127.0.0.1", node.Distribution{
		Listen: fmt.Sprint("127.0.0.1:", port), Finder: &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{"f@127.0.0.1": {{Addr: fmt.Sprint(":", other)}}}},
	})
	o := startOTP(t, 0, "-name", "e@127.0.0.1", "-erl_epmd_port", strconv.Itoa(port), "-dist_listen", "false")
	require.Equal(t, "true", o.Ask("net_kernel:connect_node('%s')", n.Name()))
	o.talk(n)
	require.Equal(t, "true", o.Ask("erlang:disconnect_node('%s')", n.Name()))
	o.alone(n)
	require.ErrorContains(t, n.Ping(testkit.Context(t), o.name), "address unknown: e@127.0.0.1")

	f := startOTP(t, 0, "-name", "f@127.0.0.1", "-erl_epmd_port", strconv.Itoa(other), "-kernel", "inet_dist_use_interface", "{127,0,0,1}")
	require.NoError(t, n.Ping(testkit.Context(t), f.name))
	f.talk(n)
	log.Await(t, "f@127.0.0.1")
}

// Short names, through an EPMD of ours: the host name has no dot.
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
	require.ErrorContains(t, long.Ping(testkit.Context(t), o.name), "has a long name")
}

// IPv6: a node that is named by an address, at an EPMD reached over IPv6.
func TestOTPIPv6(t *testing.T) {
	needOTP(t, false)
	port, finder := otpMapper(t, "::1")
	n, _ := otpPeer(t, "go@::1", node.Distribution{Finder: finder})
	assert.Equal(t, "::1", n.Addr().(*net.TCPAddr).IP.String())
	o := startOTP(t, port, "-name", "e@::1", "-proto_dist", "inet6_tcp", "-kernel", "inet_dist_use_interface", "{0,0,0,0,0,0,0,1}")
	o.bothWays(n)
}

// A node that listens at all addresses is reached over both families: by OTP over IPv4 and, as another node, over IPv6.
func TestOTPBothFamilies(t *testing.T) {
	needOTP(t, false)
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on this host")
	}
	l.Close()
	port := porttest.Reserve(t)
	n, log := otpPeer(t, "go@127.0.0.1", node.Distribution{Listen: fmt.Sprint(":", port), Finder: &discovery.Static{}})
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
