package command

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/actornode/actornode/internal/daemon/config"
)

// nameByDNS returns the name by which the other nodes of discovery.dns.host find this one: BASE@ADDRESS, with the only
// address of this host that is neither loopback nor link-local. An error lists the addresses.
func nameByDNS(d *config.DNS, addresses func() ([]net.Addr, error)) (string, error) {
	all, err := addresses()
	if err != nil {
		return "", fmt.Errorf("the addresses of this host are not known: %w", err)
	}
	var own []string
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		ip := p.Addr().Unmap()
		if ip.IsGlobalUnicast() && (d.Network == "ip" || ip.Is4() == (d.Network == "ip4")) {
			own = append(own, ip.String())
		}
	}
	switch len(own) {
	case 0:
		return "", errors.New("this host has no address that other hosts could use (" + d.Network + ")")
	case 1:
		return d.Base + "@" + own[0], nil
	}
	return "", errors.New("this host has several addresses: " + strings.Join(own, ", "))
}

// namedByVariables returns the node named by the environment variables of a daemon, or "". A command in the daemon's
// container has the same variables.
func namedByVariables(env environment) (string, error) {
	if name := env.get("ACTORNODE_NAME"); name != "" || env.get("ACTORNODE_DISCOVERY_DNS_HOST") == "" {
		return name, nil
	}
	d := config.Default().Discovery.DNS
	if base := env.get("ACTORNODE_DISCOVERY_DNS_BASE"); base != "" {
		d.Base = base
	}
	if network := env.get("ACTORNODE_DISCOVERY_DNS_NETWORK"); network != "" {
		d.Network = network
	}
	name, err := nameByDNS(&d, net.InterfaceAddrs)
	if err != nil {
		return "", fail(exitUsage, err, "which node is meant is not known from ACTORNODE_DISCOVERY_DNS_HOST; use --node NAME")
	}
	return name, nil
}
