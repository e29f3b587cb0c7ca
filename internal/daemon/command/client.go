package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/epmd"
)

// client holds what the commands that connect to a node share. While such a command runs, it is a hidden node that neither
// listens nor announces itself.
type client struct {
	options // of start: cookie, TLS, where nodes are
	target  string
	config  string // file of a daemon
	as      string
	timeout time.Duration
	json    bool

	protocols []string // that the command speaks; if empty, those of ACTORNODE_PROTOCOLS, or all
}

const targetHelp = `
The node is that of --node, or of ACTORNODE_NODE: NAME@HOST, or NAME for one on this
host. In a container it is the one that the daemon's variables name: ACTORNODE_NAME, or
ACTORNODE_DISCOVERY_DNS_HOST. Else the default is the only node that the port mapper
(EPMD) of this host knows; if it knows several, the only actornode; if it knows none,
go@127.0.0.1. The cookie and TLS are found as start finds them.`

// targetFlags adds the flags of every command that connects to a node.
func (c *client) targetFlags(f *pflag.FlagSet) {
	f.StringVarP(&c.target, "node", "n", "", "node to talk to: NAME@HOST, or NAME for one on this host; default: see actornode help")
	f.DurationVar(&c.timeout, "timeout", 5*time.Second, "how long to wait for a connection, and for an answer")
	f.BoolVar(&c.json, "json", false, "print JSON, for programs")
	f.StringVar(&c.config, "config", "",
		"configuration of the daemon to talk to: its name, cookie, TLS and addresses, where no flag says another")
	f.StringSliceVar(&c.protocols, "protocols", nil, "protocols to speak: native, erlang; with native alone no digest of the "+
		"cookie goes to whoever answers for the node; default: ACTORNODE_PROTOCOLS, or both")
	f.StringVar(&c.as, "as", "", "name that this command uses as a node; default: a unique name")
	c.clusterFlags(f)
}

// clusterFlags adds the flags that start has as well.
func (o *options) clusterFlags(f *pflag.FlagSet) {
	f.StringVar(&o.cookie, "cookie", "",
		"cookie of the cluster; default: ACTORNODE_COOKIE, the file of ACTORNODE_COOKIE_FILE, or ~/.erlang.cookie")
	f.BoolVar(&o.noEPMD, "no-epmd", false, "do not use EPMD")
	f.StringArrayVar(&o.peers, "peer", nil, "address of a node: NAME@HOST=HOST:PORT, NAME@HOST=:PORT or "+
		"NAME@HOST=PROTOCOL://HOST:PORT; may be repeated")
	f.StringVar(&o.tls.Cert, "tls-cert", "", "PEM file with the certificate of this node and its intermediate certificates; "+
		"turns on TLS")
	f.StringVar(&o.tls.Key, "tls-key", "", "PEM file with the private key of the certificate")
	f.StringVar(&o.tls.CA, "tls-ca", "", "PEM file with the authorities (CA) that sign the certificates of peers")
	f.BoolVar(&o.tls.AnyHost, "tls-any-host", false, "accept a peer whose certificate is not for the host in its name, as OTP does")
}

// session is a connection to a node, for one command.
type session struct {
	*client
	env environment
	n   *node.Node
	at  node.Atom // the target node
}

// act is the action of a command on a node.
type act func(ctx context.Context, s *session, args []string) error

// command makes cmd, which has its own flags, a command that connects to a node.
func (c *client) command(env environment, status *exit, cmd *cobra.Command, do act) *cobra.Command {
	c.targetFlags(cmd.Flags())
	cmd.Flags().SortFlags = false
	cmd.RegisterFlagCompletionFunc("node", c.completeNodes(env))
	if want := cmd.Args; want != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := want(cmd, args); err != nil {
				return fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.timeout <= 0 {
			return fmt.Errorf("--timeout %v: want a time above 0", c.timeout)
		}
		*status = exitFailed
		s, err := c.open(cmd.Context(), env)
		if err != nil {
			return err
		}
		defer s.n.Stop() // its error no longer matters
		return do(cmd.Context(), s, args)
	}
	return cmd
}

// within returns a context with the command's timeout.
func (s *session) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// ask makes one request within the timeout.
func ask[T any](ctx context.Context, s *session, f func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	v, err := f(ctx)
	if !s.json {
		v = shownValue(v)
	}
	return v, s.explain(err)
}

// explain rewords an error for an operator.
func (s *session) explain(err error) error {
	var exited *node.ExitError
	var f *failure
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, node.ErrTimeout):
		return fail(exitTimeout, nil, "no answer from %s within %v", s.at, s.timeout)
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, nil, "interrupted")
	case errors.As(err, &exited) && exited.Reason == node.NoConnection:
		return fail(exitUnreachable, nil, "the connection to %s was lost", s.at)
	}
	return err
}

// readConfig takes settings without a flag from the file of a daemon.
func (c *client) readConfig(env environment) error {
	if c.config == "" {
		return nil
	}
	cfg, err := load(c.config, nil, env, env.program.Sections)
	if err != nil {
		return err
	}
	if err := named(cfg); err != nil {
		return err
	}
	o := optionsOf(cfg)
	if c.target == "" {
		c.target = cfg.Name
	}
	if c.cookie == "" {
		if c.cookie, _, err = cookieOf(cfg, env); err != nil {
			return fail(exitCookie, err, "")
		}
		c.cookieIn = c.config
	}
	if c.tls.Cert == "" && c.tls.Key == "" && c.tls.CA == "" {
		c.tls = o.tls
	}
	c.noEPMD, c.unnamed = c.noEPMD || o.noEPMD, o.unnamed
	_, host, _ := cutName(node.Atom(cfg.Name))
	for _, protocol := range cfg.Protocols {
		addr := map[string]string{"erlang": cfg.Listen.Erlang, "native": cfg.Listen.Native}[protocol]
		if _, port, err := net.SplitHostPort(addr); c.target == cfg.Name && err == nil && port != "0" {
			c.peers = append(c.peers, cfg.Name+"="+protocol+"://"+net.JoinHostPort(host, port))
		}
	}
	c.peers = append(c.peers, o.peers...)
	return nil
}

// open connects to the target.
func (c *client) open(ctx context.Context, env environment) (*session, error) {
	if err := c.readConfig(env); err != nil {
		return nil, err
	}
	cookie, err := c.findCookie(env)
	if err != nil {
		return nil, fail(exitCookie, err, "")
	}
	mapper, err := epmd.ConfigFromEnv(env.lookup)
	if err != nil {
		return nil, err
	}
	mapper.Logger = quiet
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	name := c.target
	if name == "" {
		name, _ = env.lookup("ACTORNODE_NODE")
	}
	if name == "" {
		name, err = namedByVariables(env)
		if name == "" && err == nil {
			name, err = c.soleNode(ctx, env, mapper)
		}
		if err != nil {
			return nil, err
		}
	}
	var first error
	for _, at := range hostsFor(name) {
		s, err := c.connect(ctx, env, cookie, mapper, at)
		if err == nil {
			return s, nil
		}
		if codeOf(err) != exitUnreachable {
			return nil, err
		}
		if first == nil || errors.Is(first, dist.ErrPeerName) {
			first = err
		}
	}
	return nil, first
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// connect starts the command's node and connects it to the node at.
func (c *client) connect(ctx context.Context, env environment, cookie string, mapper epmd.Config,
	at node.Atom) (*session, error) {
	o := c.options
	if o.name = c.as; o.name == "" {
		o.name = fmt.Sprintf("cli-%d-%04x@%s", os.Getpid(), rand.N(0x10000), ownHost(at))
	}
	if port, _ := env.lookup("ERL_DIST_PORT"); o.noEPMD && len(o.peers) == 0 && port == "" {
		return nil, fail(exitUsage, nil, "--no-epmd: the address of %s is missing: give it with --peer %s=HOST:PORT, or set "+
			"ERL_DIST_PORT", at, at)
	}
	finder, _, err := o.network(env, &discovery.EPMD{Config: mapper})
	if err != nil {
		return nil, err
	}
	transport, err := o.transport(env, quiet)
	if err != nil {
		return nil, err
	}
	network := &node.Distribution{
		Cookie: cookie, Client: true, Listen: "-", Finder: finder, Transport: transport,
		Timing: node.Timing{ConnectTimeout: c.timeout},
	}
	if names := c.spoken(env); len(names) > 0 {
		if network.Protocols, err = network.ProtocolsByName(names...); err != nil {
			return nil, fail(exitUsage, err, "--protocols")
		}
	}
	n, err := node.Start(node.Config{
		Name: node.Atom(o.name), Log: quiet, Workers: 1, StopTimeout: time.Second, Distribution: network,
	})
	if err != nil {
		return nil, err
	}
	err = n.Connect(ctx, at)
	for errors.Is(err, dist.ErrFull) && ctx.Err() == nil { // a slot may become free
		pause(ctx, fullPause)
		if ctx.Err() == nil {
			err = n.Connect(ctx, at)
		}
	}
	if err != nil {
		n.Stop()
		return nil, c.unreachable(env, at, err)
	}
	return &session{c, env, n, at}, nil
}

// fullPause is the delay before another attempt to connect to a node whose connections are used up.
const fullPause = 200 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// spoken returns the names of the protocols that the command speaks; empty means all.
func (c *client) spoken(env environment) []string {
	if len(c.protocols) > 0 {
		return c.protocols
	}
	return strings.FieldsFunc(env.get("ACTORNODE_PROTOCOLS"), func(r rune) bool { return r == ',' || r == ' ' })
}

// unreachable explains why there is no connection.
func (c *client) unreachable(env environment, at node.Atom, err error) error {
	for cause := err; cause != nil && isSaidHere(err.Error()); cause = errors.Unwrap(cause) {
		err = cause
	}
	switch {
	case errors.Is(err, dist.ErrCookie):
		return fail(exitCookie, nil, "%s does not accept the cookie from %s: the nodes have different cookies", at, c.cookieSource(env))
	case errors.Is(err, dist.ErrFull):
		return fail(exitRefused, err, "%s takes no more connections now: it is short of memory, or has as many as it may", at)
	case errors.Is(err, dist.ErrNotAllowed):
		return fail(exitRefused, err, "%s refused the connection", at)
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, err, "interrupted")
	case errors.Is(err, epmd.ErrUnreachable):
		return fail(exitUnreachable, err, "cannot reach %s: no port mapper (EPMD) answers on its host; no node runs there, or it "+
			"runs without EPMD (see --peer)", at)
	case errors.Is(err, epmd.ErrNotFound):
		return fail(exitUnreachable, nil, "cannot reach %s: no node of that name runs there", at)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(exitUnreachable, err, "cannot reach %s within %v", at, c.timeout)
	}
	return fail(exitUnreachable, err, "cannot reach %s", at)
}

// isSaidHere reports whether the messages of unreachable already include the beginning of an error's text.
func isSaidHere(text string) bool {
	return strings.HasPrefix(text, "node: cannot ") || strings.HasPrefix(text, "discovery: cannot find ")
}

// cookieSource names the source of the cookie.
func (c *client) cookieSource(env environment) string {
	if c.cookieIn != "" {
		return c.cookieIn
	}
	if c.cookie != "" {
		return "--cookie"
	}
	if v, ok := env.lookup("ACTORNODE_COOKIE"); ok && v != "" {
		return "ACTORNODE_COOKIE"
	}
	if env.get("ACTORNODE_COOKIE_FILE") != "" {
		return "ACTORNODE_COOKIE_FILE"
	}
	return "~/.erlang.cookie"
}

// isLong reports whether a node with this host has a long name, by the rule of start.
func isLong(host string) bool { return strings.ContainsAny(host, ".:") }
