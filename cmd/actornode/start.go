package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/tlsdist"
)

// environment is what a command has of the world.
type environment struct {
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
	home           func() (string, error)
}

// get returns a variable; "": it is not set.
func (e environment) get(name string) string {
	if v, ok := e.lookup(name); ok {
		return v
	}
	return ""
}

// options say who a node is, and how it finds others.
type options struct {
	name, cookie, listen string
	tls                  tlsdist.Config
	noEPMD               bool
	peers                []string
	more                 []node.Finder // of a daemon: asked after peers, before EPMD
	unnamed              string        // what peers without a protocol speak; "": the last of those of the node
}

const startHelp = `Starts a node and keeps it running until SIGINT or SIGTERM.

What it runs by comes from flags, variables and one file, in this order: a flag
counts before a variable (ACTORNODE_LOG_LEVEL for --log-level; ACTORNODE_ and the
field of the file in capitals), a variable before the file of --config
(ACTORNODE_CONFIG). actornode check says what is wrong with a file, and
actornode check --print what all three come to.

The name is NAME@HOST. If HOST has a dot or is an address the node has a long
name, as erl -name gives, else a short one, as erl -sname; both kinds do not mix
in a cluster. An IPv6 address stands there as it is: go@::1.

The cookie is that of --cookie (which every user of the machine can see in the list
of processes), --cookie-file, ACTORNODE_COOKIE, or the file; else of the file
.erlang.cookie in the home directory, as erl takes it. If that is not there it is
made, with a cookie that nobody can guess. Others must not be able to read it.

The node is found through EPMD (ERL_EPMD_PORT and ERL_EPMD_ADDRESS count). Where
none runs on this host, the node is one itself. With --no-epmd there is none: peers
are where --peer says, and all others at the port of --listen, each on the host of
its name, as with erl -start_epmd false -erl_epmd_port PORT. ERL_DIST_PORT=PORT is
as --no-epmd with --listen HOST:PORT.

Actornodes talk in the native protocol and OTP nodes in Erlang's: --protocols, and
--listen-native for the port of the former, which EPMD tells, too. --dns-host,
--dns-service, --gossip and --seed find nodes in other ways; with --mesh the node
connects to all that it finds.

With --tls-cert, --tls-key and --tls-ca (ACTORNODE_TLS_CERT, ACTORNODE_TLS_KEY and
ACTORNODE_TLS_CA) connections are encrypted, as with erl -proto_dist inet_tls; each
node shows a certificate for the host of its name, signed by an authority in the CA
file. The files may be replaced while the node runs.

With --http the daemon serves /livez, /readyz and /metrics there.

Memory: Go's collector is told of a soft limit, limits.memory of the file, else
GOMEMLIMIT, else 90% of what the cgroup allows (32 MiB less at least), else 85% of what
the machine has. When 85% of that limit is in use for good, the daemon is not ready,
refuses what other nodes want to start here, and lets in one connection a second,
until it is below 75%.

The log has at most log.lines lines of one kind a second, each of at most log.bytes
bytes, and says what was left out. Lines that cannot be written, on a full disk or
when nobody reads, are lost and counted; the daemon goes on.

At the first signal the node is drained: it is not ready any more, leaves process
groups, refuses what other nodes want to start here, and stops its applications,
those started last first; then it stops. At a second signal it ends at once.

Exit status: 0 after a signal to stop, when all has been stopped in time; 1 if the
node could not start, if it could not stop in time, or if a permanent application
has ended; 2 for a wrong command line; 130 after a second signal.`

func startCommand(env environment, status *exit) *cobra.Command {
	given := make(map[string][]string)
	var file string
	var untilEOF bool
	c := &cobra.Command{
		Use: "start", Short: "Start a node", Long: startHelp,
		Example: "  ACTORNODE_COOKIE=secret actornode start --name go@127.0.0.1 --demo\n" +
			"  actornode start --config deploy/samples/actornode.yaml\n" +
			"  erl -name erl@127.0.0.1 -setcookie secret -eval \"io:format('~p~n', [gen_server:call({counter, 'go@127.0.0.1'}, {add, 5})])\"",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			*status = exitFailed
			cfg, err := load(file, given, env)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			if untilEOF {
				go func() { // until the program ends
					io.Copy(io.Discard, os.Stdin)
					cancel()
				}()
			}
			return start(ctx, cfg, env)
		},
	}
	c.Flags().StringVar(&file, "config", "", "file with the configuration, in YAML")
	c.Flags().BoolVar(&untilEOF, "until-eof", false, "stop at the end of standard input, too: with the program that started this one")
	settingFlags(c.Flags(), given)
	c.MarkFlagsMutuallyExclusive("hidden", "published")
	return c
}

// settingFlags makes a flag for each setting that has one; what is given goes
// into given, by the flag's name.
func settingFlags(f *pflag.FlagSet, given map[string][]string) {
	for _, s := range config.Default().Settings() {
		if s.Flag != "" {
			v := f.VarPF(&flagText{given, s.Flag, s}, s.Flag, "", s.Doc)
			if s.Value.Type() == "bool" {
				v.NoOptDefVal = "true"
			}
		}
		if s.Not != "" {
			f.VarPF(&flagText{given, s.Not, s}, s.Not, "", s.NotDoc).NoOptDefVal = "true"
		}
	}
}

// flagText keeps what a flag is given.
type flagText struct {
	given map[string][]string
	name  string
	config.Setting
}

// Set refuses what is of the wrong form; the rest is for config.Load to judge.
func (v *flagText) Set(text string) error {
	if v.Typed() || v.Value.Type() == "bool" && text != "true" && text != "false" {
		if err := v.Value.Set(text); err != nil {
			return err
		}
	}
	v.given[v.name] = append(v.given[v.name], text)
	return nil
}

// String is the default, as the help shows it.
func (v *flagText) String() string {
	if v.name == v.Not || v.Secret {
		return ""
	}
	return v.Value.String()
}

// Type is for the help, too.
func (v *flagText) Type() string {
	switch t := v.Value.Type(); t {
	case "bool", "duration":
		return t
	}
	return "string"
}

// load makes the configuration from a file, "": none, the environment, and flags.
func load(file string, flags map[string][]string, env environment) (*config.Config, error) {
	s := config.Source{Env: env.lookup, Flags: flags, Open: os.ReadFile}
	if file == "" {
		file = env.get("ACTORNODE_CONFIG")
	}
	if file != "" || env.get("ACTORNODE_TREE") != "" || len(flags["tree"]) > 0 {
		known, err := knownBehaviours()
		if err != nil {
			return nil, err
		}
		s.Known.Behaviours, s.Known.Own = known, own
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fail(exitFailed, err, "cannot read the configuration")
		}
		s.File, s.Text = file, text
	}
	c, err := config.Load(s)
	if err != nil {
		return nil, fail(exitFailed, err, "")
	}
	return c, nil
}

// outliveReaders has the daemon go on when nobody reads its standard error or standard
// output any more: such writes fail, and are counted. By default SIGPIPE would end it,
// as is right for the other commands, whose output goes into pipes. The signal is
// caught, not ignored: programs that the daemon starts would inherit that.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// start runs a node until ctx ends.
func start(ctx context.Context, cfg *config.Config, env environment) error {
	outliveReaders()
	limit := growHeap(cfg, env.lookup)
	if cfg.Name == "" {
		return fail(exitUsage, nil, "there is no name: want --name NAME@HOST, ACTORNODE_NAME, or name in the file of --config")
	}
	d, err := newDaemon(cfg, env)
	if err != nil {
		return err
	}
	d.heap.limit = limit
	if err := d.run(ctx); err != nil {
		code := exitFailed // whatever it was
		if failed := new(node.ServiceError); errors.As(err, &failed) {
			code = exitService
		}
		return fail(code, err, "")
	}
	return nil
}
