package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/supervisor/demo"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/tlsdist"
)

// environment is what a command has of the world.
type environment struct {
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
	home           func() (string, error)
}

// options are the flags of start.
type options struct {
	name, cookie, listen string
	tls                  tlsdist.Config
	noEPMD               bool
	peers                []string
	demo, pg             bool
	hidden, published    bool
	tick, stop           time.Duration
	level                slog.Level
}

const startHelp = `Starts a node and keeps it running until SIGINT or SIGTERM.

The name is NAME@HOST. If HOST has a dot or is an address the node has a long
name, as erl -name gives, else a short one, as erl -sname; both kinds do not mix
in a cluster. An IPv6 address stands there as it is: go@::1.

The cookie is taken from --cookie, else from ACTORNODE_COOKIE, else from the file
.erlang.cookie in the home directory, as erl takes it.

The node is found through EPMD (ERL_EPMD_PORT and ERL_EPMD_ADDRESS count). Where
none runs on this host, the node is one itself. With --no-epmd there is none: peers
are where --peer says, and all others at the port of --listen, each on the host of
its name, as with erl -start_epmd false -erl_epmd_port PORT. ERL_DIST_PORT=PORT is
as --no-epmd with --listen HOST:PORT.

With --tls-cert, --tls-key and --tls-ca (ACTORNODE_TLS_CERT, ACTORNODE_TLS_KEY and
ACTORNODE_TLS_CA) connections are encrypted, as with erl -proto_dist inet_tls; each
node shows a certificate for the host of its name, signed by an authority in the CA
file. The files may be replaced while the node runs.

Exit status: 0 after a signal to stop, 1 if the node could not start or not stop
in time, 2 for a wrong command line.`

func startCommand(env environment, status *int) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "start", Short: "Start a node", Long: startHelp,
		Example: "  actornode start --name go@127.0.0.1 --cookie secret --demo\n" +
			"  erl -name erl@127.0.0.1 -setcookie secret -eval \"io:format('~p~n', [gen_server:call({counter, 'go@127.0.0.1'}, {add, 5})])\"",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			*status = exitFailed
			return start(c.Context(), o, env)
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "name of the node, NAME@HOST (required)")
	f.StringVar(&o.cookie, "cookie", "", "cookie of the cluster; default: see above")
	f.StringVar(&o.listen, "listen", "", "where other nodes connect, HOST:PORT, :PORT for all addresses, - for nowhere; default: the name's host, any port")
	f.BoolVar(&o.noEPMD, "no-epmd", false, "do without EPMD")
	f.StringArrayVar(&o.peers, "peer", nil, "where a node is, NAME@HOST=HOST:PORT, NAME@HOST=:PORT or NAME@HOST=PROTOCOL://HOST:PORT; may be repeated")
	f.StringVar(&o.tls.Cert, "tls-cert", "", "PEM file with the certificate of this node and those above it: encrypts connections")
	f.StringVar(&o.tls.Key, "tls-key", "", "PEM file with its private key")
	f.StringVar(&o.tls.CA, "tls-ca", "", "PEM file with the authorities that sign the certificates of peers")
	f.BoolVar(&o.tls.AnyHost, "tls-any-host", false, "let nodes in whose certificate is not for the host of their name, as OTP does")
	f.BoolVar(&o.demo, "demo", false, "run the demo: processes named demo, counter and echo")
	f.BoolVar(&o.pg, "pg", true, "run the scope pg of process groups, which those of OTP are the other side of")
	f.BoolVar(&o.hidden, "hidden", true, "keep out of nodes() of other nodes")
	f.BoolVar(&o.published, "published", false, "be in nodes() of other nodes; not supported yet")
	f.DurationVar(&o.tick, "tick-time", time.Minute, "how long a node may be silent before it is gone; OTP's net_ticktime")
	f.DurationVar(&o.stop, "stop-timeout", 10*time.Second, "how long to wait for processes when stopping")
	f.TextVar(&o.level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	c.MarkFlagRequired("name")
	c.MarkFlagsMutuallyExclusive("hidden", "published")
	return c
}

// start runs a node until ctx ends.
func start(ctx context.Context, o options, env environment) (err error) {
	cookie, err := o.findCookie(env)
	if err != nil {
		return err
	}
	mapper, err := epmd.ConfigFromEnv(env.lookup)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: o.level}))
	mapper.Logger = log
	finder, listen, err := o.network(env, &node.EPMD{Config: mapper})
	if err != nil {
		return err
	}
	transport, err := o.transport(env, log)
	if err != nil {
		return err
	}
	n, err := node.Start(node.Config{
		Name: node.Atom(o.name), Log: log, StopTimeout: o.stop,
		Distribution: &node.Distribution{
			Cookie: cookie, Listen: listen, TickTime: o.tick, Published: o.published || !o.hidden,
			Finder: finder, Transport: transport,
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	if err := (otp.Config{Output: env.stdout}).Export(n); err != nil {
		return err
	}
	if o.pg {
		if _, err := pg.Start(ctx, n, pg.Config{}); err != nil {
			return err
		}
		if err := pg.Export(n); err != nil {
			return err
		}
	}
	apps, err := application.Start(ctx, n)
	if err != nil {
		return err
	}
	if o.demo {
		if err := startDemo(ctx, n, apps); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.stdout, "%s is up at %v\n", n.Name(), n.Addr())
	select {
	case <-ctx.Done():
		log.Info("stopping: told to")
	case <-apps.Done():
		log.Error("stopping: a permanent application has ended", "error", apps.Err())
		err = apps.Err()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.stop)
	defer cancel()
	return errors.Join(err, apps.StopAll(end))
}

func startDemo(ctx context.Context, n *node.Node, apps *application.Controller) error {
	if err := demo.Export(n); err != nil {
		return err
	}
	if err := apps.Load(demo.Application()); err != nil {
		return err
	}
	return apps.Start(ctx, demo.Module, application.Permanent)
}

// findCookie finds the cookie in the order that the help says.
func (o options) findCookie(env environment) (string, error) {
	if o.cookie != "" {
		return o.cookie, nil
	}
	if c, ok := env.lookup("ACTORNODE_COOKIE"); ok && c != "" {
		return c, nil
	}
	home, err := env.home()
	if err != nil {
		return "", fmt.Errorf("no cookie: neither --cookie nor ACTORNODE_COOKIE is set, and there is no home directory: %w", err)
	}
	file := filepath.Join(home, ".erlang.cookie")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no cookie: neither --cookie nor ACTORNODE_COOKIE is set, and there is no %s", file)
	}
	if err != nil {
		return "", fmt.Errorf("no cookie: %w", err)
	}
	c := strings.TrimRight(string(text), "\r\n")
	if c == "" {
		return "", fmt.Errorf("no cookie: %s is empty", file)
	}
	return c, nil
}
