// Package epmd says how a node asks the Erlang Port Mapper Daemon, and how it acts as one where
// its host has none. Nodes register their name and port at the port mapper of their host, and
// other nodes ask it for the port.
//
// The finder discovery.EPMD takes a [Config]; [ConfigFromEnv] makes one of the variables that
// OTP's own programs follow:
//
//	cfg, err := epmd.ConfigFromEnv(os.LookupEnv) // ERL_EPMD_PORT and so on
//	finder := &discovery.EPMD{Config: cfg}
//
// A port mapper believes any process of its host, and its clients must trust the network:
// there is no authentication. docs/protocols.md says what is spoken, and where it differs from
// OTP's port mapper.
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

// Errors that finding and announcing nodes wrap.
var (
	// ErrRefused: the port mapper answered a registration with a result other than
	// 0. It does not say why: the name is taken, or it does not like it.
	ErrRefused = errors.New("epmd: registration refused: the name is already registered or not allowed")
	// ErrNotFound: the port mapper knows no live node of this name.
	ErrNotFound = errors.New("epmd: no such node")
	// ErrUnreachable: nobody answers where a port mapper should be.
	ErrUnreachable = errors.New("epmd: cannot reach the port mapper")
)

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
	// OnStatus, if set, is called for each change of state of each registration: the
	// first by the goroutine that announces the node, the others by the goroutine of
	// that registration, which waits for it to return. It must not end the registration.
	OnStatus func(name string, s Status)

	// Of the port mapper that a node runs where its host has none.

	// Listen opens listeners, "tcp" at "host:port": that of a net.ListenConfig.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Addresses are where it listens, besides 127.0.0.1 and ::1: on
	// every address of this host if there are none, as other hosts must be able to
	// look nodes up.
	Addresses   []netip.Addr
	MaxConns    int           // open connections, of which each live node holds one: 1024; more are closed at once
	MaxRemote   int           // of these, those from other hosts: half of MaxConns
	IdleTimeout time.Duration // from accept to the last byte of the answer: 60 s
	Relaxed     bool          // allow KILL_REQ while names are live, and STOP_REQ
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

// Status is the state of a registration and what led to it.
//
//	announced   ──▶ Registered ──connection ends──▶ lost ──every Retry──▶ Registered
//	                                                │ ▲                      ▲
//	                                         refused▼ │not even refused      │ok
//	                                               refused ──every Retry─────┘
//	The end of the node: from each of them to stopped
type Status struct {
	// Registered: the port mapper holds our name. If it does not, a new attempt is made
	// every Config.Retry, until the node stops.
	Registered bool
	// Creation of this life of the node, the same in all states.
	Creation uint32
	// Err says why the name is not registered: ErrRefused if the port mapper is there and
	// does not take it, else the registration is lost. It is nil after the node has stopped.
	Err error
}
