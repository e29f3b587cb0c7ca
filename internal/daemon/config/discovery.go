package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/node/gossip"
)

// Discovery configures how a daemon finds nodes, and which of them it connects to.
type Discovery struct {
	EPMD      bool
	EPMDHosts []string                        // whose nodes are listed
	Peers     map[string][]discovery.Endpoint // by name
	Join      []string                        // nodes that are connected at the start
	Mesh      bool                            // connect to all that are listed
	DNS       DNS
	Gossip    Gossip
}

// DNS configures discovery by DNS; see dns.Config. It is off if Host and Services are empty.
type DNS struct {
	Host          string
	At            []string // endpoints without a host
	Network, Base string
	Services      []string // NAME or PROTOCOL://NAME
	TTL, Timeout  time.Duration
}

// Gossip configures discovery by gossip; see gossip.Config. It is off if Bind and Seeds are empty.
type Gossip struct {
	Bind, Advertise     string
	Seeds               []string
	Pace                string
	Retry, LeaveTimeout time.Duration
	OldCookies          []string

	MaxStreams, MaxStreamsPerSource, MaxStreamBytes int
	StreamTimeout                                   time.Duration
}

// Config returns the configuration for package dns, and whether discovery by DNS is on.
func (d *DNS) Config() (c dns.Config, on bool) {
	c = dns.Config{Host: d.Host, Network: d.Network, Base: d.Base, TTL: d.TTL, Timeout: d.Timeout}
	for _, s := range d.At {
		e, _ := discovery.ParseEndpoint(s) // checkPort has seen it
		c.At = append(c.At, e)
	}
	for _, s := range d.Services {
		c.Services = append(c.Services, service(s))
	}
	return c, d.Host != "" || len(d.Services) > 0
}

// Config returns the configuration for package gossip without the cookie, and whether gossip is on.
func (g *Gossip) Config() (c gossip.Config, on bool) {
	return gossip.Config{OldCookies: g.OldCookies, Seeds: g.Seeds, Bind: g.Bind, Advertise: g.Advertise,
		Pace: g.Pace, Retry: g.Retry, LeaveTimeout: g.LeaveTimeout,
		MaxStreams: g.MaxStreams, MaxStreamsPerSource: min(g.MaxStreamsPerSource, g.MaxStreams), MaxStreamBytes: g.MaxStreamBytes,
		StreamTimeout: g.StreamTimeout}, g.Bind != "" || len(g.Seeds) > 0
}

// service parses NAME or PROTOCOL://NAME.
func service(s string) dns.Service {
	if protocol, name, ok := strings.Cut(s, "://"); ok {
		return dns.Service{Name: name, Protocol: protocol}
	}
	return dns.Service{Name: s}
}

const (
	portForm    = ":PORT or PROTOCOL://:PORT"
	serviceForm = "NAME or PROTOCOL://NAME"
	memberForm  = "HOST:PORT, HOST or :PORT"
	seedForm    = "HOST:PORT or HOST"
)

// checkProtocol checks the part before ://.
func checkProtocol(s string) error {
	if s != "" && !slices.Contains(protocols, s) {
		return fmt.Errorf("%s is not a protocol; want %s", show(s), strings.Join(protocols, " or "))
	}
	return nil
}

// checkPort checks an item of discovery.dns.at.
func checkPort(s string) error {
	e, err := discovery.ParseEndpoint(s)
	if err != nil || !strings.HasPrefix(e.Addr, ":") {
		return want(s, portForm)
	}
	return checkProtocol(e.Protocol)
}

// checkService checks an item of discovery.dns.services.
func checkService(s string) error {
	x := service(s)
	if checkHost(x.Name) != nil || strings.HasPrefix(s, "://") {
		return want(s, serviceForm)
	}
	return checkProtocol(x.Protocol)
}

// checkHost checks the name or address of a host.
func checkHost(s string) error {
	if strings.Trim(s, ".") == "" || len(s) > 255 || strings.ContainsAny(s, " \t\r\n/@,=") {
		return want(s, "the name of a host")
	}
	return nil
}

// checkBase checks the part of a node name before the @.
func checkBase(s string) error {
	if checkName(s+"@h") != nil || strings.ContainsAny(s, " ,") {
		return want(s, "what is before the @ of a node's name")
	}
	return nil
}

// checkMember checks the address where this node gossips.
func checkMember(s string) error {
	host, err := member(s)
	if err != nil || s == "" || host != "" && checkHost(host) != nil {
		return want(s, memberForm)
	}
	return nil
}

// checkSeed checks the address of another gossip member.
func checkSeed(s string) error {
	if host, err := member(s); err != nil || checkHost(host) != nil || strings.HasSuffix(s, ":0") && net.ParseIP(s) == nil {
		return want(s, seedForm)
	}
	return nil
}

// member returns the host of HOST:PORT, HOST or :PORT. An IPv6 address needs no brackets.
func member(s string) (host string, err error) {
	if net.ParseIP(s) != nil || !strings.Contains(s, ":") {
		return s, nil
	}
	if err := checkAddress(s, memberForm, 0); err != nil {
		return "", err
	}
	host, _, err = net.SplitHostPort(s)
	return host, err
}

// found returns the settings of discovery.
func (c *Config) found() []Setting {
	d, g := &c.Discovery.DNS, &c.Discovery.Gossip
	return []Setting{
		{Key: "discovery.epmd", Not: "no-epmd", NotDoc: "do not use EPMD", Value: flag{&c.Discovery.EPMD},
			Doc: "use EPMD to be found and to find other nodes (see ERL_EPMD_PORT and ERL_EPMD_ADDRESS); where no EPMD runs, the node " +
				"acts as one"},
		{Key: "discovery.epmd_hosts", Flag: "epmd-host",
			Value: list{&c.Discovery.EPMDHosts, "HOST", "the name of a host", checkHost, false},
			Doc:   "hosts whose EPMD is asked for nodes, for discovery.mesh; may be repeated"},
		{Key: "discovery.peers", Flag: "peer", Value: peers{c.Discovery.Peers},
			Doc: "address of a node: NAME@HOST=HOST:PORT, or NAME@HOST=:PORT on the host of its name; PROTOCOL:// may precede it; may " +
				"be repeated"},
		{Key: "discovery.join", Flag: "join", Value: list{&c.Discovery.Join, "NAME@HOST", "the name of a node", checkName, false},
			Doc: "nodes to connect to at the start, separated by commas; the daemon is not ready before it has connected to one of them"},
		{Key: "discovery.mesh", Flag: "mesh", Value: flag{&c.Discovery.Mesh},
			Doc: "connect to all nodes that discovery.peers, epmd_hosts, dns and gossip list, now and later"},
		{Key: "discovery.dns.host", Flag: "dns-host", Value: text{&d.Host, "HOST", checkHost},
			Doc: "DNS name (such as a headless service); each of its addresses belongs to a node BASE@ADDRESS"},
		{Key: "discovery.dns.at", Value: list{&d.At, portForm, portForm, checkPort, false},
			Doc: "ports that the nodes of discovery.dns.host listen on"},
		{Key: "discovery.dns.network", Value: word{&d.Network, []string{"ip4", "ip6", "ip"}},
			Doc: "which addresses of discovery.dns.host to use: IPv4, IPv6 or (ip) both"},
		{Key: "discovery.dns.services", Flag: "dns-service", Value: list{&d.Services, serviceForm, serviceForm, checkService, false},
			Doc: "DNS names with SRV records; each target and port belongs to a node BASE@TARGET; may be repeated"},
		{Key: "discovery.dns.base", Value: text{&d.Base, "what is before the @ of a node's name", checkBase},
			Doc: "name, without the host, of all nodes found by DNS"},
		{Key: "discovery.dns.ttl", Value: duration{&d.TTL, minTTL}, Doc: "how long an answer of DNS stays valid"},
		{Key: "discovery.dns.timeout", Value: duration{&d.Timeout, minTick}, Doc: "how long to wait for an answer of DNS"},
		{Key: "discovery.gossip.bind", Flag: "gossip", Value: text{&g.Bind, memberForm, checkMember},
			Doc: "address for gossip, UDP and TCP; default: the host of the name, port 7946; this or seeds turns gossip on"},
		{Key: "discovery.gossip.advertise", Value: text{&g.Advertise, memberForm, checkMember},
			Doc: "gossip address that other nodes use; default: discovery.gossip.bind"},
		{Key: "discovery.gossip.seeds", Flag: "seed", Value: list{&g.Seeds, seedForm, seedForm, checkSeed, false},
			Doc: "gossip addresses of some nodes of the cluster; one of them must answer; this node may be one of them; may be repeated"},
		{Key: "discovery.gossip.pace", Value: word{&g.Pace, []string{"local", "lan", "wan"}},
			Doc: "timing of gossip: for one host, for a LAN or for a WAN; must be the same on all nodes"},
		{Key: "discovery.gossip.retry", Value: duration{&g.Retry, minTick}, Doc: "longest pause between attempts to reach a seed"},
		{Key: "discovery.gossip.leave_timeout", Value: duration{&g.LeaveTimeout, minTick},
			Doc: "how long this node may take to announce its stop to the other members"},
		{Key: "discovery.gossip.old_cookies", Secret: true, Value: list{&g.OldCookies, "cookie", "a cookie", CheckCookie, true},
			Doc: "former cookies that are still accepted for gossip, while the cookie of a cluster is being changed"},
		{Key: "discovery.gossip.max_streams", Value: count{&g.MaxStreams, 1, maxStreams},
			Doc: "maximum number of TCP connections from other gossip members at a time"},
		{Key: "discovery.gossip.max_streams_per_source", Value: count{&g.MaxStreamsPerSource, 1, maxStreams},
			Doc: "maximum number of them from one IPv4 address, or from one /64 of IPv6"},
		{Key: "discovery.gossip.max_stream_bytes", Value: size{&g.MaxStreamBytes, 4 << 10},
			Doc: "maximum number of bytes read from one of them; a member takes about 400 bytes; must be the same on all nodes"},
		{Key: "discovery.gossip.stream_timeout", Value: duration{&g.StreamTimeout, minTick}, Doc: "how long one of them may take"},
	}
}

const maxStreams = 1024

const minTTL = 100 * time.Millisecond

// needs lists sections that require at least one of some settings.
var needs = []struct {
	prefix string
	any    []string
}{
	{"discovery.dns.", []string{"discovery.dns.host", "discovery.dns.services"}},
	{"discovery.gossip.", []string{"discovery.gossip.bind", "discovery.gossip.seeds"}},
}

// checkDiscovery checks the settings of discovery together.
func (c *Config) checkDiscovery(fail func(format string, args ...any)) {
	for _, s := range c.Settings() {
		for _, n := range needs {
			if strings.HasPrefix(s.Key, n.prefix) && c.given(s.Key) && !slices.ContainsFunc(n.any, c.given) {
				fail("%s: needs %s", c.Origin(s.Key).Where, strings.Join(n.any, " or "))
			}
		}
	}
	d := &c.Discovery
	dnsConfig, byDNS := d.DNS.Config()
	gossipConfig, byGossip := d.Gossip.Config()
	switch {
	case d.DNS.Host != "" && len(d.DNS.At) == 0:
		fail("%s: the ports of the nodes of %s are missing; want discovery.dns.at, such as [\":4370\"]",
			c.Origin("discovery.dns.host").Where, d.DNS.Host)
	case byDNS:
		if _, err := dns.New(dnsConfig); err != nil {
			fail("discovery.dns: %w", plain(err))
		}
	}
	if byGossip {
		gossipConfig.Cookie = "any"
		if _, err := gossip.New(gossipConfig); err != nil {
			fail("%s: %w", c.Origin("discovery.gossip.bind").Where, plain(err))
		}
	}
	lists := byDNS || byGossip || len(d.Peers) > 0 || len(d.EPMDHosts) > 0
	if d.Mesh && !lists {
		fail("%s: needs a list of nodes; want one of discovery.peers, epmd_hosts, dns and gossip", c.Origin("discovery.mesh").Where)
	}
	if len(d.EPMDHosts) > 0 && !d.EPMD {
		fail("%s: needs EPMD (discovery.epmd)", c.Origin("discovery.epmd_hosts").Where)
	}
	if !d.EPMD && !c.distPort && c.Port() == 0 && len(d.Peers) == 0 && !byDNS && !byGossip {
		fail("%s: without EPMD the addresses of nodes must be given: --listen HOST:PORT (listen.erlang) with the port that all "+
			"nodes use, "+
			"--peer (discovery.peers) for each of them, discovery.dns or discovery.gossip", c.Origin("discovery.epmd").Where)
	}
}

// plain removes Go field names from an error of the discovery packages.
func plain(err error) error {
	_, text, _ := strings.Cut(err.Error(), ": ")
	for _, f := range []struct{ go_, file string }{{"Config.Bind", "bind"}, {"Config.Advertise", "advertise"}, {"Config.", ""}} {
		text = strings.ReplaceAll(text, f.go_, f.file)
	}
	return errors.New(text)
}

// checkProtocols checks the settings that depend on the protocols.
func (c *Config) checkProtocols(fail func(format string, args ...any)) {
	for _, p := range protocols {
		if key := "listen." + p; c.given(key) && !slices.Contains(c.Protocols, p) {
			fail("%s: needs %s in protocols", c.Origin(key).Where, p)
		}
	}
	native := slices.Contains(c.Protocols, "native")
	switch {
	case c.Grace > 0 && !native:
		fail("%s: needs native in protocols", c.Origin("grace").Where)
	case c.Grace > c.TickTime/2:
		fail("%s: %v: want at most half of tick_time, %v", c.Origin("grace").Where, c.Grace, c.TickTime)
	}
	if c.Compress > 0 && !native {
		fail("%s: needs native in protocols", c.Origin("compress").Where)
	}
}
