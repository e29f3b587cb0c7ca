package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
	"golang.org/x/sync/errgroup"
)

// erlang is the protocol of OTP nodes, at the port that they register with EPMD.
const erlang = "erlang"

// EPMD finds nodes as Erlang does: through the port mappers of their hosts. The extra bytes of a node's registration
// give the ports of protocols other than Erlang's: native=9101. The zero value works.
type EPMD struct {
	// Config configures the port mapper's client. Default: the environment, as for OTP programs (ERL_EPMD_PORT,
	// ERL_EPMD_ADDRESS): see [epmd.ConfigFromEnv]; if it sets nothing, port 4369 on each node's host.
	Config epmd.Config
	// Hosts are the hosts whose nodes List returns, as in Erlang's .hosts.erlang: hosts as in node names. Default:
	// none. Find asks any host.
	Hosts []string
}

func (e *EPMD) client() (*epmdclient.Client, error) {
	cfg := e.Config
	if reflect.ValueOf(cfg).IsZero() {
		var err error
		if cfg, err = epmd.ConfigFromEnv(os.LookupEnv); err != nil {
			return nil, err
		}
	}
	return epmdclient.NewClient(cfg)
}

// Find is part of Finder.
func (e *EPMD) Find(ctx context.Context, name wire.Atom) ([]Endpoint, error) {
	c, err := e.client()
	if err != nil {
		return nil, err
	}
	alive, host, _ := strings.Cut(string(name), "@")
	r, err := c.Lookup(ctx, host, alive)
	if err != nil {
		return nil, fmt.Errorf("discovery: cannot find %s: %w", name, err)
	}
	return endpointsOf(r, host), nil
}

// List is part of Lister: the nodes on Hosts. The error has the hosts whose port mapper does not answer.
func (e *EPMD) List(ctx context.Context) (all []wire.Atom, err error) {
	c, err := e.client()
	if err != nil {
		return nil, err
	}
	names, errs := make([][]epmdclient.Entry, len(e.Hosts)), make([]error, len(e.Hosts))
	var g errgroup.Group
	g.SetLimit(maxAsked)
	for i, host := range e.Hosts {
		g.Go(func() error {
			if names[i], errs[i] = c.Names(ctx, host); errs[i] != nil {
				errs[i] = fmt.Errorf("discovery: cannot list the nodes on %s: %w", host, errs[i])
			}
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	for i, host := range e.Hosts {
		for _, n := range names[i] {
			all = append(all, wire.Atom(n.Name+"@"+host))
		}
	}
	return all, errors.Join(errs...)
}

// maxAsked is how many port mappers List asks at a time.
const maxAsked = 32

// endpointsOf reads a registration. It ignores extra bytes in other formats.
func endpointsOf(r epmdclient.Registration, host string) []Endpoint {
	all := []Endpoint{{erlang, net.JoinHostPort(host, strconv.Itoa(int(r.Port)))}}
	for field := range strings.SplitSeq(string(r.Extra), ",") {
		protocol, port, ok := strings.Cut(field, "=")
		n, err := strconv.ParseUint(port, 10, 16)
		switch {
		case !ok || err != nil || protocol == "":
		case n > 0:
			all = append(all, Endpoint{protocol, net.JoinHostPort(host, port)})
		case protocol == erlang:
			all = all[1:]
		}
	}
	return all
}

// registration is the reverse. A node that does not speak Erlang's protocol says so with erlang=0, because it must
// register some port.
func registration(me Announcement) epmdclient.Registration {
	alive, _, _ := strings.Cut(string(me.Name), "@")
	r := epmdclient.Registration{Name: alive, Highest: 6, Lowest: 6, Creation: me.Creation}
	var extra []string
	for _, e := range me.Endpoints {
		if e.Protocol == erlang || e.Protocol == "" {
			r.Port = e.port()
		} else {
			extra = append(extra, fmt.Sprint(e.Protocol, "=", e.port()))
		}
	}
	if r.Port == 0 && len(me.Endpoints) > 0 {
		r.Port = me.Endpoints[0].port()
		extra = append(extra, erlang+"=0")
	}
	r.Extra = []byte(strings.Join(extra, ","))
	return r
}

// Announce is part of Finder. If no port mapper answers on this host, this node becomes one. Like erl, it announces
// hidden nodes as any other: the handshake says which nodes are hidden.
func (e *EPMD) Announce(ctx context.Context, me Announcement) (stop func(), err error) {
	c, err := e.client()
	if err != nil {
		return nil, err
	}
	k, err := c.Keep(ctx, registration(me))
	if err != nil {
		return nil, err
	}
	return k.Stop, nil
}
