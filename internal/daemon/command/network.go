package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// optionsOf returns the options for a configuration.
func optionsOf(c *config.Config) options {
	o := options{name: c.Name, cookie: c.Cookie, listen: c.Listen.Erlang, noEPMD: !c.Discovery.EPMD,
		tls: tlsdist.Config{Cert: c.TLS.Cert, Key: c.TLS.Key, CA: c.TLS.CA, AnyHost: c.TLS.AnyHost}}
	if c.TLS.MinVersion == "1.3" {
		o.tls.MinVersion = tls.VersionTLS13
	}
	for name, all := range c.Discovery.Peers {
		for _, e := range all {
			o.peers = append(o.peers, name+"="+e.String())
		}
	}
	slices.Sort(o.peers)
	if i := slices.Index(c.Protocols, "erlang"); i >= 0 && i < len(c.Protocols)-1 {
		o.unnamed = "erlang" // whatever the node's preference
	}
	return o
}

// network returns the finder for other nodes and the listen address of this one.
func (o options) network(env environment, mapper discovery.Finder) (f discovery.Finder, listen string, err error) {
	listen = o.listen
	_, host, _ := strings.Cut(o.name, "@")
	if port, ok := env.lookup("ERL_DIST_PORT"); ok && port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, "", fmt.Errorf("ERL_DIST_PORT=%q is not a port", port)
		}
		o.noEPMD = true
		if listen == "" {
			listen = net.JoinHostPort(host, port)
		}
	}
	port := 0
	if listen != "" && listen != "-" {
		_, p, err := net.SplitHostPort(listen)
		if err != nil {
			return nil, "", fmt.Errorf("--listen %s: want HOST:PORT, :PORT or -: %w", listen, err)
		}
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return nil, "", fmt.Errorf("--listen %s: %q is not a port", listen, p)
		}
		port = int(n)
	}
	s := new(discovery.Static)
	if !o.apart {
		if s.Nodes, err = o.known(); err != nil {
			return nil, "", err
		}
	}
	switch {
	case !o.noEPMD && len(s.Nodes)+len(o.more) == 0:
		return mapper, listen, nil
	case !o.noEPMD:
		s.Next = mapper
	case port == 0 && len(o.peers)+len(o.more) == 0:
		return nil, "", errors.New("--no-epmd needs the addresses of nodes: --listen HOST:PORT with the port that all nodes use, " +
			"or --peer for each of them")
	}
	if o.noEPMD {
		s.Port, s.Protocol = port, o.unnamed
	}
	if len(o.more) == 0 {
		return s, listen, nil
	}
	chain := append([]discovery.Finder{&discovery.Static{Nodes: s.Nodes}}, o.more...)
	switch {
	case s.Next != nil:
		chain = append(chain, s.Next)
	case port != 0:
		chain = append(chain, &discovery.Static{Port: port, Protocol: o.unnamed}) // last, since it matches all nodes
	}
	return discovery.Chain(chain...), listen, nil
}

// known returns the nodes with configured addresses.
func (o options) known() (map[node.Atom][]discovery.Endpoint, error) {
	all := make(map[node.Atom][]discovery.Endpoint)
	for _, p := range o.peers {
		peer, end, err := parsePeer(p)
		if err != nil {
			return nil, err
		}
		if end.Protocol == "" {
			end.Protocol = o.unnamed
		}
		all[peer] = append(all[peer], end)
	}
	return all, nil
}

// parsePeer parses NAME@HOST=ENDPOINT.
func parsePeer(s string) (name node.Atom, end discovery.Endpoint, err error) {
	n, at, ok := strings.Cut(s, "=")
	before, host, named := strings.Cut(n, "@")
	if !ok || !named || before == "" || host == "" {
		return "", end, fmt.Errorf("--peer %s: want NAME@HOST=HOST:PORT or NAME@HOST=PROTOCOL://HOST:PORT", s)
	}
	if end, err = discovery.ParseEndpoint(at); err != nil {
		return "", end, fmt.Errorf("--peer %s: %w", s, err)
	}
	return node.Atom(n), end, nil
}

// transport returns TLS if its files are configured, else TCP.
func (o options) transport(env environment, log *slog.Logger) (dist.Transport, error) {
	cfg := o.tls
	var given, missing []string
	for _, f := range []struct {
		file      *string
		flag, env string
	}{
		{&cfg.Cert, "--tls-cert", "ACTORNODE_TLS_CERT"},
		{&cfg.Key, "--tls-key", "ACTORNODE_TLS_KEY"},
		{&cfg.CA, "--tls-ca", "ACTORNODE_TLS_CA"},
	} {
		name := f.flag
		if v, ok := env.lookup(f.env); *f.file == "" && ok {
			*f.file, name = v, f.env
		}
		if *f.file == "" {
			missing = append(missing, f.flag+" ("+f.env+")")
		} else {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0 && cfg.AnyHost:
		return nil, errors.New("--tls-any-host needs --tls-cert, --tls-key and --tls-ca")
	case len(given) == 0:
		return dist.TCP{}, nil
	case len(missing) > 0:
		return nil, fmt.Errorf("%s: TLS needs %s too", strings.Join(given, ", "), strings.Join(missing, ", "))
	}
	cfg.Log = log
	return tlsdist.New(cfg)
}
