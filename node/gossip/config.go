package gossip

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

// defaultPort is the default port for gossip, over UDP and TCP.
const defaultPort = 7946

// Config configures a member. Only Cookie has no default that works.
type Config struct {
	// Cookie is the secret that all members share: the key is made from it. Use the cookie of the Distribution. It
	// should be long and random: an attacker who records a datagram can try cookies offline.
	Cookie string
	// OldCookies decrypt messages from members without the new Cookie. To change the cookie without a gap, add the new
	// one here on all members, then swap the two on all members, then remove the old one.
	OldCookies []string
	// Seeds are addresses of members, HOST:PORT or HOST (port 7946). One is enough to join. If a host name has many
	// addresses, all are tried. This node may be among the seeds. Without seeds, other members must join this one.
	Seeds []string
	// Bind is the address to listen on, over UDP and TCP: HOST:PORT, HOST or :PORT. With port 0 the system chooses the
	// port. Default: the host of the node's name, port 7946. With 0.0.0.0 or ::, set Advertise to the address that
	// others use.
	Bind string
	// Advertise is the address at which others reach this node: HOST:PORT, HOST or :PORT. Default: Bind.
	Advertise string
	// Pace sets how fast members notice failures and spread changes: local (one host), lan or wan. All members need the
	// same value. Default: lan.
	Pace string
	// Retry is the longest pause between attempts to join. The first pause is 500 ms, and each next one is twice as
	// long. A member that has joined also retries the seeds and lost members at this interval. Default: 30 s.
	Retry time.Duration
	// LeaveTimeout bounds how long this node may take to announce its stop. Default: 1 s.
	LeaveTimeout time.Duration
	// MaxStreams is how many TCP connections from others are served at a time. Four times as many wait, unread, and the
	// rest are closed. Input from hosts without the cookie takes at worst about three times MaxStreams times
	// MaxStreamBytes of memory: buffers grow by doubling. Default: 16.
	MaxStreams int
	// MaxStreamsPerSource is how many of them one source may have. A source is an IPv4 address or the first 64 bits of
	// an IPv6 address. Eight times as many wait. An attacker with MaxStreams/MaxStreamsPerSource sources can still keep
	// others from joining through this node while the attack lasts; members learn of each other by UDP meanwhile.
	// Default: 2, or MaxStreams if that is less.
	MaxStreamsPerSource int
	// MaxStreamBytes is how long a stream may be, including one from a seed. A longer one is cut off. A stream carries
	// all members, at 400 bytes each. All members should have the same value. Default: 4 MiB, enough for 10,000
	// members. At least 4 KiB.
	MaxStreamBytes int
	// StreamTimeout is how long a stream may last, including its wait to be served. Default: 5 s.
	StreamTimeout time.Duration
	// Resolver resolves the hosts of Seeds, Bind and Advertise. Default: net.DefaultResolver.
	Resolver *net.Resolver
	// Log receives what an operator should see. Default: discarded.
	Log *slog.Logger

	tune func(*memberlist.Config) // for tests
}

const (
	defaultRetry = 30 * time.Second
	defaultLeave = time.Second

	defaultStreams          = 16
	defaultStreamsPerSource = 2
	defaultStreamBytes      = 4 << 20
	minStreamBytes          = 4 << 10

	firstPause = 500 * time.Millisecond
	keySize    = 32 // AES-256
	keyInfo    = "actornode gossip 1"
)

var paces = map[string]func() *memberlist.Config{
	"local": memberlist.DefaultLocalConfig, "lan": memberlist.DefaultLANConfig, "wan": memberlist.DefaultWANConfig,
}

func (c *Config) validate() error {
	if c.Cookie == "" {
		return errors.New("gossip: Config.Cookie is empty: want the cookie that all members share")
	}
	for i, old := range c.OldCookies {
		if old == "" {
			return fmt.Errorf("gossip: Config.OldCookies[%d] is empty", i)
		}
	}
	if c.Pace == "" {
		c.Pace = "lan"
	}
	if paces[c.Pace] == nil {
		return fmt.Errorf("gossip: Config.Pace %q: want local, lan or wan", c.Pace)
	}
	if c.Retry < 0 || c.LeaveTimeout < 0 {
		return errors.New("gossip: Config: Retry and LeaveTimeout must not be negative")
	}
	if c.Retry == 0 {
		c.Retry = defaultRetry
	}
	if c.LeaveTimeout == 0 {
		c.LeaveTimeout = defaultLeave
	}
	if err := c.boundStreams(); err != nil {
		return err
	}
	for i, s := range c.Seeds {
		if host, port, err := hostPort(s, defaultPort); err != nil || host == "" || port == 0 {
			return fmt.Errorf("gossip: Config.Seeds[%d] %q: want HOST:PORT or HOST", i, s)
		}
	}
	bind, bindPort, err := hostPort(c.Bind, defaultPort)
	if err != nil {
		return fmt.Errorf("gossip: Config.Bind %q: want HOST:PORT, HOST or :PORT: %w", c.Bind, err)
	}
	told, port, err := hostPort(c.Advertise, defaultPort)
	if err != nil || port == 0 {
		return fmt.Errorf("gossip: Config.Advertise %q: want HOST:PORT, HOST or :PORT", c.Advertise)
	}
	if ip := net.ParseIP(bind); ip.IsUnspecified() && (told == "" || net.ParseIP(told).IsUnspecified()) {
		return fmt.Errorf("gossip: Config.Bind %q means all addresses: set Config.Advertise to the one that other members use", c.Bind)
	}
	if _, p, _ := hostPort(c.Advertise, 0); bindPort == 0 && p != 0 {
		return fmt.Errorf("gossip: Config.Advertise %q has a port, but Config.Bind leaves the choice of the port to the system",
			c.Advertise)
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// boundStreams checks the limits of streams, and fills in defaults.
func (c *Config) boundStreams() error {
	if c.MaxStreams < 0 || c.MaxStreamsPerSource < 0 || c.MaxStreamBytes < 0 || c.StreamTimeout < 0 {
		return errors.New("gossip: Config: MaxStreams, MaxStreamsPerSource, MaxStreamBytes and StreamTimeout must not be negative")
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = max(defaultStreams, c.MaxStreamsPerSource)
	}
	if c.MaxStreamsPerSource == 0 {
		c.MaxStreamsPerSource = min(defaultStreamsPerSource, c.MaxStreams)
	}
	if c.MaxStreamBytes == 0 {
		c.MaxStreamBytes = defaultStreamBytes
	}
	if c.StreamTimeout == 0 {
		c.StreamTimeout = streamTimeout
	}
	if c.MaxStreamsPerSource > c.MaxStreams {
		return fmt.Errorf("gossip: Config.MaxStreamsPerSource %d is more than MaxStreams %d", c.MaxStreamsPerSource, c.MaxStreams)
	}
	if c.MaxStreamBytes < minStreamBytes {
		return fmt.Errorf("gossip: Config.MaxStreamBytes %d: want at least %d", c.MaxStreamBytes, minStreamBytes)
	}
	return nil
}

// hostPort splits HOST:PORT, HOST, :PORT or an empty s; port is the default. The host may be an IPv6 address without
// brackets.
func hostPort(s string, port int) (string, int, error) {
	if s == "" || net.ParseIP(s) != nil {
		return s, port, nil
	}
	host, p, err := net.SplitHostPort(s)
	if addr, ok := errors.AsType[*net.AddrError](err); ok && addr.Err == "missing port in address" {
		return s, port, nil
	}
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not a port", p)
	}
	return host, int(n), nil
}

// keyOf makes a key from a cookie.
func keyOf(cookie string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(cookie), nil, keyInfo, keySize)
}

// keysOf makes keys from cookies. The first one encrypts what is sent.
func keysOf(cookie string, old []string) (keys [][]byte, err error) {
	for _, c := range slices.Concat([]string{cookie}, old) {
		k, err := keyOf(c)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}
