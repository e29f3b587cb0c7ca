package command

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
)

func addresses(all ...string) func() ([]net.Addr, error) {
	return func() (found []net.Addr, err error) {
		for _, a := range all {
			ip, n, err := net.ParseCIDR(a)
			if err != nil {
				return nil, err
			}
			found = append(found, &net.IPNet{IP: ip, Mask: n.Mask})
		}
		return found, nil
	}
}

// A node without a name that DNS finds by its address takes the name by which others look for it.
func TestNameByDNS(t *testing.T) {
	host := []string{"127.0.0.1/8", "::1/128", "172.18.0.3/16", "fe80::1/64"}
	for _, c := range []struct {
		network    string
		addresses  []string
		want, fail string
	}{
		{"ip4", host, "go@172.18.0.3", ""},
		{"ip", host, "go@172.18.0.3", ""},
		{"ip6", append(host, "fd00::3/64"), "go@fd00::3", ""},
		{"ip6", host, "", "this host has no address that other hosts could use (ip6)"},
		{"ip", append(host, "fd00::3/64"), "", "this host has several addresses: 172.18.0.3, fd00::3"},
		{"ip4", append(host, "10.0.0.7/8"), "", "this host has several addresses: 172.18.0.3, 10.0.0.7"},
		{"ip4", host[:1], "", "this host has no address"},
	} {
		got, err := nameByDNS(&config.DNS{Network: c.network, Base: "go"}, addresses(c.addresses...))
		if c.fail == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, c.fail)
		}
		assert.Equal(t, c.want, got)
	}
	_, err := nameByDNS(&config.DNS{}, func() ([]net.Addr, error) { return nil, errors.New("no netlink") })
	assert.ErrorContains(t, err, "no netlink")
}

// A command reads the cookie of the file that the daemon's variable names: in a container both have the same variables.
func TestCookieOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cookie")
	_, err := makeCookie(file)
	require.NoError(t, err)
	want, err := environment{lookup: noVariables}.readCookie(file)
	require.NoError(t, err)
	env, _, _ := newEnvironment(t, map[string]string{"ACTORNODE_COOKIE_FILE": file})
	got, err := options{}.findCookie(env)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	env, _, _ = newEnvironment(t, map[string]string{"ACTORNODE_COOKIE_FILE": file + "x"})
	_, err = options{}.findCookie(env)
	assert.ErrorContains(t, err, "ACTORNODE_COOKIE_FILE: the file "+file+"x does not exist")
}

// A command in the container of a daemon talks to that daemon.
func TestNamedByVariables(t *testing.T) {
	here, err := nameByDNS(&config.DNS{Base: "go", Network: "ip4"}, net.InterfaceAddrs)
	for _, c := range []struct {
		vars map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"ACTORNODE_NAME": "a@b"}, "a@b"},
		{map[string]string{"ACTORNODE_NAME": "a@b", "ACTORNODE_DISCOVERY_DNS_HOST": "node"}, "a@b"},
		{map[string]string{"ACTORNODE_DISCOVERY_DNS_HOST": "node", "ACTORNODE_DISCOVERY_DNS_NETWORK": "ip4"}, here},
		{map[string]string{"ACTORNODE_DISCOVERY_DNS_HOST": "node", "ACTORNODE_DISCOVERY_DNS_NETWORK": "ip4",
			"ACTORNODE_DISCOVERY_DNS_BASE": "ex"}, strings.Replace(here, "go@", "ex@", 1)},
	} {
		env, _, _ := newEnvironment(t, c.vars)
		got, failed := namedByVariables(env)
		assert.Equal(t, c.want, got, "%v", c.vars)
		if c.want != "" || c.vars == nil {
			assert.NoError(t, failed)
		} else { // this host has no address, or several
			assert.ErrorContains(t, failed, err.Error())
		}
	}
}
