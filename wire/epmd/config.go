// Package epmd configures how a node uses the Erlang Port Mapper Daemon, and how it acts as one if its host has none. Nodes
// register their name and port with the port mapper of their host, and other nodes query it for the port.
//
// The finder discovery.EPMD takes a [Config]; [ConfigFromEnv] makes one from the environment variables of OTP's programs:
//
//	cfg, err := epmd.ConfigFromEnv(os.LookupEnv) // ERL_EPMD_PORT and so on
//	finder := &discovery.EPMD{Config: cfg}
//
// There is no authentication: a port mapper trusts every process on its host, and its clients must trust the network.
// docs/protocols.md describes the protocol and the differences from OTP's port mapper.
//
// The package starts no goroutine.
package epmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Errors wrapped by the errors of finding and announcing nodes.
var (
	// ErrRefused means that the port mapper answered a registration with a result other than 0. It gives no reason: the
	// name is taken or not allowed.
	ErrRefused = errors.New("epmd: registration refused: the name is already registered or not allowed")
	// ErrNotFound means that the port mapper knows no live node with this name.
	ErrNotFound = errors.New("epmd: no such node")
	// ErrUnreachable means that no port mapper answers at its address.
	ErrUnreachable = errors.New("epmd: cannot reach the port mapper")
)

// Config has the addresses and limits of port mappers and their clients. The zero value works; the comment of each field
// gives its default.
type Config struct {
	Port   int          // TCP port of every port mapper, this node's and others': 4369
	Logger *slog.Logger // slog.Default(); state changes at Info, errors of peers at Debug, failures of this host at Warn

	// For the client.

	// Dial opens connections, "tcp" to "host:port". Default: that of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Local are the addresses at which the port mapper of this host is tried, in this order. Default: 127.0.0.1, then ::1.
	Local    []string
	Timeout  time.Duration // for a request, from dialing to its answer, or for an attempt at one host: 10 s
	Retry    time.Duration // delay after a lost registration, and between attempts: 2 s
	MaxNames int           // maximum bytes of an answer to Names: 1 MiB
	// OnStatus, if set, is called for each change of state of each registration: first by the goroutine that announces the
	// node, then by the goroutine of that registration, which waits for it to return. It must not end the registration.
	OnStatus func(name string, s Status)

	// For the port mapper that a node runs if its host has none.

	// Listen opens listeners, "tcp" at "host:port". Default: that of a net.ListenConfig.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Addresses are the addresses that it listens on besides 127.0.0.1 and ::1. Default: all addresses of this host,
	// because other hosts must be able to look nodes up.
	Addresses   []netip.Addr
	MaxConns    int           // maximum open connections, including one for each live node: 1024; more are closed at once
	MaxRemote   int           // maximum of these from other hosts: half of MaxConns
	IdleTimeout time.Duration // time from accept to the last byte of the answer: 60 s
	Relaxed     bool          // allow KILL_REQ while names are live, and STOP_REQ
}

// ConfigFromEnv returns a Config from the environment, like OTP's programs. Pass os.LookupEnv. It reads
//
//	ERL_EPMD_PORT                   Port
//	ERL_EPMD_ADDRESS                Addresses, separated by commas or spaces
//	ERL_EPMD_RELAXED_COMMAND_CHECK  Relaxed, if it is set, even to the empty string
//
// and returns an error if one of the first two is invalid.
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

// Status is the state of a registration and its cause.
//
//	announced   ──▶ Registered ──connection ends──▶ lost ──every Retry──▶ Registered
//	                                                │ ▲                      ▲
//	                                         refused▼ │not even refused      │ok
//	                                               refused ──every Retry─────┘
//	The end of the node: from each of them to stopped
type Status struct {
	// Registered reports whether the port mapper holds the node's name. If not, a new attempt is made every Config.Retry
	// until the node stops.
	Registered bool
	// Creation of this incarnation of the node, the same in all states.
	Creation uint32
	// Err is the reason why the name is not registered: ErrRefused if the port mapper refused it, otherwise the
	// registration was lost. It is nil after the node has stopped.
	Err error
}
