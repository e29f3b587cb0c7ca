package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/actornode/actornode/node/discovery"
)

// Config says which names to look up, and which nodes the answers mean. At least one of Host and Services must be set.
type Config struct {
	// Host is a name with A and AAAA records: each address belongs to a node BASE@ADDRESS, as with the pods of a
	// headless service.
	Host string
	// At is where the nodes of Host listen: endpoints without a host, :4370 or native://:4371. Host needs at least one.
	At []discovery.Endpoint
	// Network chooses among the addresses of Host: ip4, ip6 or ip (both: a host with
	// two addresses would be two nodes). Default: ip4.
	Network string
	// Services are names with SRV records: each target, with its port, belongs to a node BASE@TARGET.
	Services []Service
	// Base is the part of all these nodes' names before the @. Default: go.
	Base string
	// TTL is how long an answer is valid, and how long after a failure to try again; answers have times to live, but
	// the resolver does not return them. Default: 5 s, as in cluster DNS. At least 100 ms.
	TTL time.Duration
	// Timeout bounds one lookup of all names. Default: 3 s.
	Timeout time.Duration
	// Resolver looks names up. Default: net.DefaultResolver, the system's.
	Resolver Resolver
	// Log receives what an operator should see. Default: discarded.
	Log *slog.Logger
}

// Service is one name with SRV records.
type Service struct {
	Name     string // in full: _actornode._tcp.cluster.example
	Protocol string // the protocol at its ports, as in discovery.Endpoint; "": what all nodes speak
}

// Resolver is the part of [net.Resolver] that a Finder uses.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

const (
	defaultBase    = "go"
	defaultNetwork = "ip4"
	defaultTTL     = 5 * time.Second
	minTTL         = 100 * time.Millisecond
	defaultTimeout = 3 * time.Second
	// maxNodes bounds how many nodes an answer may name; the Finder ignores the rest and logs that.
	maxNodes = 10000
)

func (c *Config) validate() error {
	if c.Host == "" && len(c.Services) == 0 {
		return errors.New("dns: Config has neither Host nor Services: want at least one of them")
	}
	if c.Host != "" && len(c.At) == 0 {
		return fmt.Errorf("dns: Config.At is empty: want the ports that the nodes of %s listen on, such as :4370", c.Host)
	}
	for i, e := range c.At {
		if again, err := discovery.ParseEndpoint(e.String()); err != nil || again != e || !strings.HasPrefix(e.Addr, ":") {
			return fmt.Errorf("dns: Config.At[%d] %q: want :PORT or PROTOCOL://:PORT", i, e)
		}
	}
	for i, s := range c.Services {
		if strings.Trim(s.Name, ".") == "" {
			return fmt.Errorf("dns: Config.Services[%d] has no name", i)
		}
	}
	if c.Network == "" {
		c.Network = defaultNetwork
	}
	if c.Network != "ip" && c.Network != "ip4" && c.Network != "ip6" {
		return fmt.Errorf("dns: Config.Network %q: want ip4, ip6 or ip", c.Network)
	}
	if c.Base == "" {
		c.Base = defaultBase
	}
	if strings.ContainsAny(c.Base, "@ ") {
		return fmt.Errorf("dns: Config.Base %q: want what is before the @ of a node's name", c.Base)
	}
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.TTL < minTTL {
		return fmt.Errorf("dns: Config.TTL %v: want at least %v", c.TTL, minTTL)
	}
	if c.Timeout < 0 {
		return fmt.Errorf("dns: Config.Timeout %v must not be negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
