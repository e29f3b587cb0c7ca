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

// defaultPort is where members gossip, over UDP and TCP, if nothing else is said.
const defaultPort = 7946

// Config is what a member needs. Of its fields only Cookie has no default that
// works.
type Config struct {
	// Cookie is what all members must know: the key is made from it. Use that of the
	// Distribution. It should be long and random: an attacker that records a datagram can
	// try cookies offline.
	Cookie string
	// OldCookies decrypt what members without the new Cookie send. To change the cookie
	// without a gap, add the new one here on all members, then swap the two on all members,
	// then remove the old one.
	OldCookies []string
	// Seeds are members, HOST:PORT or HOST (port 7946), of which one is enough to
	// join; a host's name may have many addresses: all are tried. This node may be
	// among them. Without seeds other members must join this one.
	Seeds []string
	// Bind is HOST:PORT, HOST or :PORT to gossip at, over UDP and TCP; port 0 is one
	// that the system chooses. Default: the host of the node's name, port 7946.
	// With 0.0.0.0 or ::, Advertise must be set to the address that others use.
	Bind string
	// Advertise is HOST:PORT, HOST or :PORT that others reach this node at. Default:
	// Bind.
	Advertise string
	// Pace is how fast failures are noticed and changes spread: local (one host), lan or
	// wan. All members need the same. Default: lan.
	Pace string
	// Retry is the longest pause between attempts to join; the first is 500 ms, each
	// next one twice as long. A member that has joined tries the seeds and lost members
	// that often, too. Default: 30 s.
	Retry time.Duration
	// LeaveTimeout bounds how long the announcement of this node's stop may take. Default: 1 s.
	LeaveTimeout time.Duration
	// MaxStreams is how many TCP connections of others are served at a time; four times as
	// many wait, unread, and the rest are closed. Memory for input from hosts without the
	// cookie is about three times MaxStreams times MaxStreamBytes at worst: buffers grow
	// by doubling. Default: 16.
	MaxStreams int
	// MaxStreamsPerSource is how many of them may be from one source, which is an IPv4
	// address or the first 64 bits of an IPv6 address; eight times as many wait. An attacker
	// with MaxStreams/MaxStreamsPerSource sources can still keep others from joining by this
	// node while the attack lasts; members learn of each other by UDP meanwhile.
	// Default: 2, or MaxStreams if that is less.
	MaxStreamsPerSource int
	// MaxStreamBytes is how long a stream may be, that of a seed too; one that is longer
	// is cut. A stream has all members, with 400 bytes each. All members want the same.
	// Default: 4 MiB, enough for 10,000 members. At least 4 KiB.
	MaxStreamBytes int
	// StreamTimeout is how long a stream may last from its beginning to its end, and wait
	// to be served. Default: 5 s.
	StreamTimeout time.Duration
	// Resolver finds the hosts of Seeds, Bind and Advertise. Default:
	// net.DefaultResolver.
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

// boundStreams checks the bounds of streams, and fills them in.
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

// hostPort takes HOST:PORT, HOST, :PORT or nothing apart; the host may be an IPv6
// address without brackets.
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

// keysOf makes keys from cookies: the first is the one that messages are sent with.
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
