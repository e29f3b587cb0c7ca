package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/epmd"
)

const clusterHelp = `Starts several daemons on this host that form a cluster. Each runs in a process of its
own, connected to the others, with the demo tree and process groups. Prints what to try
next, shows their logs, and runs until SIGINT or SIGTERM, which stops them all. A daemon
that ends earlier, for example because it was killed, is restarted.

The daemons find each other through EPMD; where none runs, the first daemon acts as one.
The cookie is random unless --cookie sets it.

Exit status: 0 after a signal, when all daemons have ended; 1 if one of them did not
start, or ended too often; 2 for a wrong command line; 130 after a second signal.`

// Time limits of a cluster.
const (
	clusterReady   = 30 * time.Second       // until all are connected
	clusterPoll    = 50 * time.Millisecond  // between checks
	clusterEnd     = 15 * time.Second       // for all to end, longer than a daemon's own limits
	clusterDrain   = 5 * time.Second        // of each daemon, twice
	clusterPause   = 500 * time.Millisecond // before a daemon is restarted
	clusterRetries = 5                      // starts of one daemon within clusterWindow
	clusterWindow  = time.Minute
)

// cluster is a group of daemons. They are child processes, and end when the cluster's process does, for whatever reason:
// they see the end of their standard input.
type cluster struct {
	env     environment
	cookie  string
	level   string // of the daemons' logs
	self    string // this program
	members []*member

	mu sync.Mutex // serializes writes
}

// member is one daemon across restarts.
type member struct {
	c    *cluster
	name string // with the host
	port string // of the native protocol, the same after each restart
	up   chan struct{}
	once sync.Once // closes up
}

func clusterCommand(env environment, status *exit) *cobra.Command {
	var names []string
	var cookie, level string
	c := &cobra.Command{
		Use: "cluster", Short: "Start a cluster to play with on this host", Long: clusterHelp, Args: noArgs,
		Example: "  actornode cluster\n  actornode cluster --names a,b,c,d,e --cookie secret",
		RunE: func(cmd *cobra.Command, _ []string) error {
			*status = exitFailed
			c, err := newCluster(env, names, cookie, level)
			if err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.Flags().StringSliceVar(&names, "names", []string{"one", "two", "three"},
		"names of the nodes, without the host, which is 127.0.0.1; at least two")
	c.Flags().StringVar(&cookie, "cookie", "", "cookie of the cluster; default: a random one")
	c.Flags().StringVar(&level, "log-level", "warn", "log level of the daemons: debug, info, warn, error")
	return c
}

func newCluster(env environment, names []string, cookie, level string) (*cluster, error) {
	c := &cluster{env: env, cookie: cookie, level: level}
	if c.cookie == "" {
		c.cookie = newCookie()
	}
	if err := config.CheckCookie(c.cookie); err != nil {
		return nil, fail(exitUsage, nil, "--cookie: %v", err)
	}
	if err := new(slog.LevelVar).UnmarshalText([]byte(level)); err != nil {
		return nil, fail(exitUsage, nil, "--log-level: %v", err)
	}
	if len(names) < 2 {
		return nil, fail(exitUsage, nil, "--names: want at least two names")
	}
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "@ =") || slices.Contains(names[:i], name) {
			return nil, fail(exitUsage, nil, "--names: %q: want different names, without a host", name)
		}
		c.members = append(c.members, &member{c: c, name: name + "@127.0.0.1", up: make(chan struct{})})
	}
	var err error
	if c.self, err = os.Executable(); err != nil {
		return nil, fail(exitFailed, err, "cannot find the executable of this program")
	}
	return c, nil
}

// run runs the cluster until ctx ends, or a daemon has given up.
func (c *cluster) run(ctx context.Context) error {
	mapper, err := epmd.ConfigFromEnv(c.env.lookup)
	if err != nil {
		return err
	}
	mapper.Logger = quiet
	if err := c.reservePorts(ctx, mapper); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var daemons sync.WaitGroup
	for _, m := range c.members {
		daemons.Go(func() { // until ctx ends
			if err := m.keepRunning(ctx); err != nil {
				cancel(err)
			}
		})
		select { // each joins its predecessors; the first may be the port mapper for all
		case <-m.up:
		case <-time.After(clusterReady): // await says so
		case <-ctx.Done():
		}
	}
	if err := c.await(ctx); err == nil {
		c.say("%s", c.next())
		<-ctx.Done()
	} else if ctx.Err() == nil {
		cancel(err)
	}
	daemons.Wait() // each within clusterEnd
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return fail(exitFailed, err, "")
	}
	c.say("all nodes have ended\n")
	return nil
}

// reservePorts finds ports, and makes sure that the names are free.
func (c *cluster) reservePorts(ctx context.Context, mapper epmd.Config) error {
	taken, err := mappedNames(ctx, mapper)
	if err != nil && !errors.Is(err, epmd.ErrUnreachable) {
		return fail(exitFailed, err, "what answers at the address of the port mapper (EPMD) of this host is not EPMD")
	}
	for _, m := range c.members {
		if short, _, _ := strings.Cut(m.name, "@"); slices.Contains(taken, short) {
			return fail(exitFailed, nil, "a node named %s already runs on this host: stop it (%s stop --node %s), or choose "+
				"other names: --names a,b,c",
				short, c.env.program.name(), short)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fail(exitFailed, err, "cannot find a free port for %s", m.name)
		}
		defer ln.Close() // all at the end, so that no two are the same
		_, m.port, _ = net.SplitHostPort(ln.Addr().String())
	}
	return nil
}

// keepRunning runs a daemon and restarts it when it ends early. The error says why it gave up.
func (m *member) keepRunning(ctx context.Context) error {
	var starts []time.Time
	for ctx.Err() == nil {
		now := time.Now()
		starts = slices.DeleteFunc(append(starts, now), func(t time.Time) bool { return now.Sub(t) > clusterWindow })
		err := m.daemon(ctx)
		select { // a Ctrl-C reaches the daemon as well, perhaps sooner
		case <-time.After(clusterPause):
		case <-ctx.Done():
			return nil
		}
		switch {
		case !m.isUp():
			return fmt.Errorf("%s did not start (%w): see its log above", m.name, err)
		case len(starts) > clusterRetries:
			return fmt.Errorf("%s ended %d times within %v (%w)", m.name, len(starts), clusterWindow, err)
		}
		m.c.say("%s ended (%v) and will be restarted\n", m.name, err)
	}
	return nil
}

func (m *member) isUp() bool {
	select {
	case <-m.up:
		return true
	default:
		return false
	}
}

var errEnded = errors.New("exit status 0")

// daemon runs the daemon once and returns when it ends; ctx ends it.
func (m *member) daemon(ctx context.Context) error {
	args := []string{"start", "--until-eof", "--name", m.name, "--listen-native", "127.0.0.1:" + m.port, "--demo", "--log-level",
		m.c.level,
		"--stop-timeout", clusterDrain.String()}
	for _, other := range m.c.members {
		if other != m {
			args = append(args, "--peer", other.name+"=native://127.0.0.1:"+other.port)
		}
		if other != m && other.isUp() { // later members join this one
			args = append(args, "--join", other.name)
		}
	}
	cmd := exec.Command(m.c.self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), "ACTORNODE_COOKIE="+m.c.cookie)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	logs, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return err
	}
	var reader sync.WaitGroup
	reader.Go(func() { m.show(logs) }) // until the daemon has ended
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }() // ends with the daemon
	select {
	case err = <-over:
	case <-ctx.Done():
		stdin.Close()
		select {
		case err = <-over:
		case <-time.After(clusterEnd):
			cmd.Process.Kill()
			err = <-over
		}
	}
	w.Close()
	reader.Wait()
	if err == nil {
		err = errEnded
	}
	return err
}

// show copies a daemon's output, each line prefixed with its name.
func (m *member) show(from io.Reader) {
	short, _, _ := strings.Cut(m.name, "@")
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			m.c.say("%-5s | %s\n", short, strings.TrimRight(line, "\n"))
		}
		if strings.HasPrefix(line, m.name+" is up") {
			m.once.Do(func() { close(m.up) })
		}
		if err != nil {
			return
		}
	}
}

func (c *cluster) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.env.stdout, format, args...)
}

// await waits until all are ready and connected to each other.
func (c *cluster) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterReady)
	defer cancel()
	for _, m := range c.members {
		select {
		case <-m.up:
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready within %v", m.name, clusterReady)
		}
	}
	where := &discovery.Static{Nodes: make(map[node.Atom][]discovery.Endpoint)}
	for _, m := range c.members {
		where.Nodes[node.Atom(m.name)] = []discovery.Endpoint{{Protocol: "native", Addr: "127.0.0.1:" + m.port}}
	}
	n, err := node.Start(node.Config{Name: node.Atom(fmt.Sprintf("cluster-%d@127.0.0.1", os.Getpid())), Log: quiet, Workers: 1,
		StopTimeout:  time.Second,
		Distribution: &node.Distribution{Cookie: c.cookie, Client: true, Listen: "-", Finder: where}})
	if err != nil {
		return err
	}
	defer n.Stop() // nothing can be lost any more
	for _, m := range c.members {
		for err = c.awaitConnected(ctx, n, m); err != nil; err = c.awaitConnected(ctx, n, m) {
			select {
			case <-time.After(clusterPoll):
			case <-ctx.Done():
				return fmt.Errorf("%s did not connect to all other nodes within %v: %w", m.name, clusterReady, err)
			}
		}
	}
	return nil
}

// awaitConnected returns nil if m is ready and connected to all others.
func (c *cluster) awaitConnected(ctx context.Context, n *node.Node, m *member) error {
	at := node.Atom(m.name)
	s, err := admin.Status(ctx, n, at)
	switch {
	case err != nil:
		return err
	case !s.Ready:
		return errors.New("the node is not ready")
	}
	peers, err := admin.Nodes(ctx, n, at)
	if err != nil {
		return err
	}
	for _, other := range c.members {
		up := func(p admin.Peer) bool { return string(p.Name) == other.name && p.State == "up" }
		if other != m && !slices.ContainsFunc(peers, up) {
			return fmt.Errorf("not connected to %s", other.name)
		}
	}
	return nil
}
