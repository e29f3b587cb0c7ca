package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/regular"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/tlsdist"
)

// environment holds everything that a command uses of its process: streams, variables, home directory.
type environment struct {
	stdout, stderr io.Writer // in a command each is a printable.Writer: see onTerminal
	terminal       io.Writer // the stream below stdout, only for finding out its kind
	lookup         func(string) (string, bool)
	home           func() (string, error)
	program        Program
	all            func() []string // the variables, like os.Environ; nil if unknown
}

// get returns a variable, or "" if it is not set.
func (e environment) get(name string) string {
	if v, ok := e.lookup(name); ok {
		return v
	}
	return ""
}

// withoutFile returns e without the variables that name files and without the program's sections.
func (e environment) withoutFile() environment {
	lookup := e.lookup
	e.lookup = func(name string) (string, bool) {
		if name == "ACTORNODE_CONFIG" || name == "ACTORNODE_TREE" {
			return "", false
		}
		return lookup(name)
	}
	e.program.Sections = nil
	return e
}

// options holds the name of a node, its cookie, its addresses, and how it finds others.
type options struct {
	name, cookie, listen string
	cookieIn             string // cookie file, if no flag gives the cookie
	tls                  tlsdist.Config
	noEPMD               bool
	peers                []string
	apart                bool               // in a daemon: knownPeers finds peers, before all other finders
	more                 []discovery.Finder // in a daemon: asked after knownPeers, before EPMD
	unnamed              string             // protocol of peers that do not name one; if "", the last one of the node
}

const startHelp = `Starts a node and keeps it running until SIGINT or SIGTERM.

Settings come from flags, environment variables and one file. A flag overrides a
variable (ACTORNODE_LOG_LEVEL for --log-level: ACTORNODE_ and the field of the file in
capitals), and a variable overrides the file of --config (ACTORNODE_CONFIG). The command
actornode check reports what is wrong with a file, and actornode check --print prints
the settings that result from all three.

The name is NAME@HOST. If HOST has a dot or is an address, the node has a long name, as
with erl -name, else a short one, as with erl -sname. A cluster cannot mix both kinds.
An IPv6 address is written as it is: go@::1. With --dns-host and without a name, the
node takes the one that the others look for: go@ADDRESS, with the address of this host.

The cookie comes from --cookie (visible to every user of the machine in the list of
processes), --cookie-file, ACTORNODE_COOKIE, or the configuration file; else from the
file .erlang.cookie in the home directory, as with erl. If that file does not exist, it
is created with a random cookie. Other users must not be able to read it.

Other nodes find this one through EPMD (see ERL_EPMD_PORT and ERL_EPMD_ADDRESS). Where
none runs on this host, the node acts as one itself. With --no-epmd there is no EPMD:
peers are where --peer says, and all other nodes listen on the port of --listen, each on
the host of its name, as with erl -start_epmd false -erl_epmd_port PORT. Setting
ERL_DIST_PORT=PORT has the same effect as --no-epmd with --listen HOST:PORT.

Actornodes talk to each other in the native protocol, and to OTP nodes in Erlang's; see
--protocols. --listen-native sets the port of the native protocol, which EPMD announces,
too. --dns-host, --dns-service, --gossip and --seed find nodes in other ways. With --mesh
the node connects to all nodes that it finds.

With --tls-cert, --tls-key and --tls-ca (ACTORNODE_TLS_CERT, ACTORNODE_TLS_KEY and
ACTORNODE_TLS_CA) connections are encrypted, as with erl -proto_dist inet_tls. Each node
presents a certificate for the host of its name, signed by an authority in the CA file.
The files may be replaced while the node runs.

With --http the daemon serves /livez, /readyz and /metrics at that address.

Memory: the limit is limits.memory of the file, else GOMEMLIMIT, else what the
cgroup allows less a tenth and 48 MiB (at most a quarter), else 85% of the machine's
memory. It is also the soft limit of Go's garbage collector. When 85% of it stays in
use, the daemon is not ready, refuses remote spawns and accepts one new connection a second, until the use is
below 75%.

The log has at most log.lines lines of one kind a second, each of at most log.bytes
bytes, and counts what was left out. Lines that cannot be written, because the disk is
full or the pipe is closed, are lost and counted; the daemon continues.

At a SIGHUP the log file is opened anew, and the configuration is read again: log.level,
allow (its list), operators, rights, tls, all cookies, drain_timeout, limits (but for processes
and mailbox) and discovery (peers, join, epmd_hosts, dns) change in the running node; the log
says which others differ and need a restart. A configuration with errors, or whose cookie or
TLS files cannot be used, changes nothing. For cookie_overlap the cookie before
is still accepted.

At the first signal the node is drained: it is no longer ready, leaves process groups,
refuses remote spawns, and stops its applications in reverse order of their start; then
it stops. At a second signal it exits at once.

Exit status: 0 after a signal to stop, when everything stopped in time; 1 if the node
could not start, if it could not stop in time, or if a permanent application has ended;
2 for a wrong command line; 130 after a second signal.`

func startCommand(env environment, status *exit) *cobra.Command {
	given := make(map[string][]string)
	var file string
	var untilEOF bool
	c := &cobra.Command{
		Use: "start", Short: "Start a node", Long: startHelp,
		Example: "  ACTORNODE_COOKIE=secret actornode start --name go@127.0.0.1 --demo\n" +
			"  actornode start --config deploy/samples/actornode.yaml\n" +
			"  erl -name erl@127.0.0.1 -setcookie secret -eval \"io:format('~p~n', [gen_server:call({counter, 'go@127.0.0.1'}, {add, " +
			"5})])\"",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			*status = exitFailed
			read := func(sections map[string]any) (*config.Config, error) { return loadNamed(file, given, env, sections) }
			hangups := catchHangups(env.program.Sections, read)
			cfg, err := read(env.program.Sections)
			if err != nil {
				if strings.Join(given["log-format"], "") == "json" || env.get("ACTORNODE_LOG_FORMAT") == "json" {
					c.SilenceErrors = true // readers expect only JSON
					slog.New(slog.NewJSONHandler(escapedLines{env.stderr}, nil)).Error("cannot start", "error", err)
				}
				return err
			}
			hangups.now = clones(env.program.Sections)
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			if untilEOF {
				go func() { // until the program ends
					io.Copy(io.Discard, os.Stdin)
					cancel()
				}()
			}
			err = start(ctx, cfg, env, hangups)
			c.SilenceErrors = err != nil && cfg.Log.Format == "json" && cfg.Log.File == "" // it is in the log
			return err
		},
	}
	c.Flags().StringVar(&file, "config", "", "file with the configuration, in YAML")
	c.Flags().BoolVar(&untilEOF, "until-eof", false,
		"also stop at the end of standard input, that is, together with the program that started this one")
	settingFlags(c.Flags(), given)
	c.MarkFlagsMutuallyExclusive("hidden", "published")
	return c
}

// settingFlags adds a flag for each setting that has one. It stores the values in given, by the flag's name.
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

// flagText stores the values of a flag.
type flagText struct {
	given map[string][]string
	name  string
	config.Setting
}

// Set refuses wrong syntax; config.Load checks the rest.
func (v *flagText) Set(text string) error {
	if v.Typed() || v.Value.Type() == "bool" && text != "true" && text != "false" {
		if err := v.Value.Set(text); err != nil {
			return err
		}
	}
	v.given[v.name] = append(v.given[v.name], text)
	return nil
}

// String returns the default for the help.
func (v *flagText) String() string {
	if v.name == v.Not || v.Secret {
		return ""
	}
	return v.Value.String()
}

// Type returns the type for the help.
func (v *flagText) Type() string {
	switch t := v.Value.Type(); t {
	case "bool", "duration":
		return t
	}
	return "string"
}

// load makes the configuration from a file (none if ""), the environment and flags, and reads the program's sections into
// the structs in sections.
func load(file string, flags map[string][]string, env environment, sections map[string]any) (*config.Config, error) {
	s := config.Source{Env: env.lookup, Flags: flags, Open: regular.File, Sections: sections}
	if file == "" {
		file = env.get("ACTORNODE_CONFIG")
	}
	if file != "" || env.get("ACTORNODE_TREE") != "" || len(flags["tree"]) > 0 {
		known, err := knownBehaviours(env.program)
		if err != nil {
			return nil, err
		}
		s.Known.Behaviours, s.Known.Own, s.Known.Applications = known, own, env.program.applications()
	}
	if file != "" {
		text, err := regular.File(file)
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

const wantName = "want --name NAME@HOST, ACTORNODE_NAME, or name in the file of --config"

// loadNamed is load followed by named.
func loadNamed(file string, flags map[string][]string, env environment, sections map[string]any) (*config.Config, error) {
	c, err := load(file, flags, env, sections)
	if err == nil {
		err = named(c)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// named sets the name of a configuration without one to the name by which DNS finds the node, if DNS is used.
func named(c *config.Config) (err error) {
	if c.Name != "" || c.Discovery.DNS.Host == "" {
		return nil
	}
	c.Name, err = nameByDNS(&c.Discovery.DNS, net.InterfaceAddrs)
	if err != nil {
		return fail(exitUsage, err, "the name of the node is missing, and cannot be made for discovery.dns.host; "+wantName)
	}
	return nil
}

// surviveClosedPipes keeps the daemon running when its standard error or standard output has no reader any more: such
// writes fail and are counted. By default SIGPIPE would end it, as is right for the other commands, whose output goes into
// pipes. The signal is caught, not ignored: programs started by the daemon would inherit an ignored signal.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// start runs a node until ctx ends.
func start(ctx context.Context, cfg *config.Config, env environment, hangups *reloading) error {
	if cfg.Name == "" {
		return fail(exitUsage, nil, "the name of the node is missing: "+wantName)
	}
	surviveClosedPipes()
	limit := growHeap(cfg, env.lookup)
	d, err := newDaemon(cfg, env)
	if err != nil {
		return err
	}
	d.heap.limit.Store(&limit)
	if err := d.run(ctx, hangups); err != nil {
		code := exitFailed // whatever the error
		if failed := new(process.ServiceError); errors.As(err, &failed) {
			code = exitService
		}
		return fail(code, err, "")
	}
	return nil
}
