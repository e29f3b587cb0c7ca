package epmdclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// defaultPort is the default port of a port mapper.
const defaultPort = 4369

// settings is a Config with its defaults.
type settings epmd.Config

// withDefaults returns c with its zero fields filled in, or the first error in it.
func (c settings) withDefaults() (settings, error) {
	switch {
	case c.Port < 0 || c.Port > 1<<16-1:
		return c, fmt.Errorf("epmd: epmd.Config.Port %d: want 0 to 65535", c.Port)
	case c.MaxNames < 0:
		return c, errors.New("epmd: Config: a limit must not be negative")
	case min(c.Timeout, c.Retry) < 0:
		return c, errors.New("epmd: Config: a time must not be negative")
	}
	if _, err := epmdserver.New(c.server()); err != nil {
		return c, err
	}
	c.Port = cmp.Or(c.Port, defaultPort)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Retry = cmp.Or(c.Retry, 2*time.Second)
	c.MaxNames = cmp.Or(c.MaxNames, 1<<20)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Listen == nil {
		c.Listen = (&net.ListenConfig{}).Listen
	}
	if len(c.Local) == 0 {
		c.Local = []string{"127.0.0.1", "::1"}
	}
	c.Local, c.Addresses = slices.Clone(c.Local), slices.Clone(c.Addresses)
	return c, nil
}

// server returns the Config of a Keeper's port mapper.
func (c settings) server() epmdserver.Config {
	return epmdserver.Config{
		Logger: c.Logger, MaxConns: c.MaxConns, MaxRemote: c.MaxRemote, IdleTimeout: c.IdleTimeout, Relaxed: c.Relaxed,
	}
}

// listenAll opens a listener on each address that c names, or none and an
// error. A host without IPv6 is not an error unless an address requires it.
func (c settings) listenAll(ctx context.Context) ([]net.Listener, error) {
	hosts := []string{""}
	optional := ""
	if len(c.Addresses) > 0 && !slices.ContainsFunc(c.Addresses, netip.Addr.IsUnspecified) {
		hosts = nil
		v6 := netip.IPv6Loopback()
		if !slices.Contains(c.Addresses, v6) {
			optional = v6.String()
		}
		for _, a := range slices.Concat(c.Addresses, []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), v6}) {
			if !slices.Contains(hosts, a.String()) {
				hosts = append(hosts, a.String())
			}
		}
	}
	var all []net.Listener
	for _, h := range hosts {
		l, err := c.Listen(ctx, "tcp", c.at(h))
		if err != nil && h == optional && h != "" && !errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("epmd: listen: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

// at returns the address of the port mapper at host.
func (c settings) at(host string) string { return net.JoinHostPort(host, strconv.Itoa(c.Port)) }
