package epmd

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
	"strings"
	"syscall"
	"time"

	"github.com/actornode/actornode/internal/epmdserver"
)

// defaultPort is where a port mapper listens by default.
const defaultPort = 4369

// Config says where port mappers are and how much of anything is too much. The
// zero value works: it means what the comment beside each field says.
type Config struct {
	Port   int          // TCP port of every port mapper, ours and others': 4369
	Logger *slog.Logger // slog.Default(); states at Info, what peers do wrong at Debug, what this host denies at Warn

	// Of the client.

	// Dial opens connections, "tcp" to "host:port": that of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Local are the hosts at which the port mapper of this host is looked for, in
	// this order: 127.0.0.1, then ::1.
	Local    []string
	Timeout  time.Duration // of a request, from dialling to its answer, or of an attempt at one host: 10 s
	Retry    time.Duration // from a lost registration to the next attempt, and between attempts: 2 s
	MaxNames int           // bytes of an answer to Names: 1 MiB
	// OnStatus, if set, is called for each change of state of each registration: for the
	// first by the caller of Register or Keep, for the others by the goroutine of that
	// registration, which waits for it to return. It must not call Stop.
	OnStatus func(name string, s Status)

	// Of the port mapper that a Keeper runs.

	// Listen opens listeners, "tcp" at "host:port", for a Keeper: that of a
	// net.ListenConfig.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Addresses are where a Keeper's server listens, besides 127.0.0.1 and ::1: on
	// every address of this host if there are none, as other hosts must be able to
	// look nodes up.
	Addresses   []netip.Addr
	MaxConns    int           // open connections, of which each live node holds one: 1024; more are closed at once
	MaxRemote   int           // of these, those from other hosts: half of MaxConns
	IdleTimeout time.Duration // from accept to the last byte of the answer: 60 s
	Relaxed     bool          // allow KILL_REQ while names are live, and STOP_REQ
}

// withDefaults returns c with its zero fields filled in, or the first error in it.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Port < 0 || c.Port > 1<<16-1:
		return c, fmt.Errorf("epmd: Config.Port %d: want 0 to 65535", c.Port)
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

// server is what the port mapper of a Keeper needs.
func (c Config) server() epmdserver.Config {
	return epmdserver.Config{
		Logger: c.Logger, MaxConns: c.MaxConns, MaxRemote: c.MaxRemote, IdleTimeout: c.IdleTimeout, Relaxed: c.Relaxed,
	}
}

// ConfigFromEnv returns a Config that follows the environment as OTP's own
// programs do. Pass os.LookupEnv. It reads
//
//	ERL_EPMD_PORT                   Port
//	ERL_EPMD_ADDRESS                Addresses, separated by commas or spaces
//	ERL_EPMD_RELAXED_COMMAND_CHECK  Relaxed, if it is set to anything, even to nothing
//
// and returns an error if one of the first two is set to what makes no sense.
func ConfigFromEnv(lookup func(key string) (value string, ok bool)) (Config, error) {
	var c Config
	if v, _ := lookup("ERL_EPMD_PORT"); v != "" {
		port, err := strconv.ParseUint(v, 10, 16)
		if err != nil || port == 0 {
			return c, fmt.Errorf("epmd: ERL_EPMD_PORT=%q is not a port", v)
		}
		c.Port = int(port)
	}
	v, _ := lookup("ERL_EPMD_ADDRESS")
	for _, a := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		addr, err := netip.ParseAddr(a)
		if err != nil {
			return c, fmt.Errorf("epmd: ERL_EPMD_ADDRESS: %w", err)
		}
		c.Addresses = append(c.Addresses, addr)
	}
	_, c.Relaxed = lookup("ERL_EPMD_RELAXED_COMMAND_CHECK")
	return c, nil
}

// listenAll opens a listener on each address that c names, or none and an
// error. That a host lacks IPv6 is no error unless an address asks for it.
func (c Config) listenAll(ctx context.Context) ([]net.Listener, error) {
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
func (c Config) at(host string) string { return net.JoinHostPort(host, strconv.Itoa(c.Port)) }
