package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/internal/daemon/health"
	"github.com/actornode/actornode/internal/daemon/systemd"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/gossip"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/tlsdist"
)

// daemon runs a node as configured.
//
//	starting ──up──► ready (when joined) ──signal, operator──► draining ──► stopped
type daemon struct {
	// Set once, in newDaemon.
	cfg     *config.Config
	live    atomic.Pointer[config.Config] // cfg, or the last configuration reloaded: see reload
	cookie  atomic.Pointer[clusterCookie]
	rights  *rights.Policy // nil if nodes that know the cookie may do everything
	forget  *time.Timer    // makes gossip drop the previous cookie; owned by reload
	env     environment
	log     *logging
	manager *systemd.Service // receives the state of the daemon
	heap    memoryWatch
	offers  []func(*node.Node) error // export the behaviours that trees can name

	// Set once, in up.
	n      *node.Node
	peers  *knownPeers
	hosts  *mappedHosts
	tls    *tlsdist.Transport // nil for TCP
	gossip *gossip.Finder     // nil: none
	dns    *dnsFinder         // nil: none
	apps   *application.Controller
	scope  atomic.Pointer[pg.Scope]      // nil: none
	http   atomic.Pointer[health.Server] // nil: none
	alive  atomic.Pointer[node.PID]      // the process health
	halt   context.CancelFunc            // lets an operator stop the daemon

	taking sync.Mutex // held from reading or changing live until its settings are in effect

	started  atomic.Bool // all applications are started
	joined   atomic.Bool // connected to one of the nodes to join, or there are none
	draining atomic.Bool
	begun    time.Time
	meshed   atomic.Bool // has been connected to one of the mesh, or meshTime is over

	drainOnce sync.Once
	drainErr  error
	joining   sync.WaitGroup
	joins     joins
}

// offered export the built-in behaviours that trees can name.
var offered = []func(*node.Node) error{demo.Export}

// knownBehaviours returns the exports that trees can name.
func knownBehaviours(p Program) ([]wire.Export, error) {
	n, err := node.Start(node.Config{Workers: 1, Log: quiet})
	if err != nil {
		return nil, err
	}
	for _, offer := range p.offers() {
		err = errors.Join(err, offer(n))
	}
	known := rpc.Behaviours(n)
	return known, errors.Join(err, n.Stop())
}

func newDaemon(cfg *config.Config, env environment) (*daemon, error) {
	d := &daemon{cfg: cfg, env: env, offers: env.program.offers(), begun: time.Now()}
	d.live.Store(cfg)
	d.joined.Store(len(d.others()) == 0)
	var err error
	if d.log, err = newLog(cfg, env.stderr); err != nil {
		return nil, err
	}
	d.manager = systemd.New(env.lookup, d.log.Logger)
	return d, nil
}

// reloadGrace is how long the end of a daemon waits for a reload, which may block on a file system.
const reloadGrace = time.Second

func awaitReload(reloads *sync.WaitGroup) {
	over := make(chan struct{})
	go func() {
		reloads.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(reloadGrace):
	}
}

// run runs the daemon until ctx or a permanent application ends.
func (d *daemon) run(ctx context.Context, hangups *reloading) (err error) {
	defer func() { err = errors.Join(err, d.log.close()) }()
	defer d.manager.Close()
	ctx, d.halt = context.WithCancel(ctx)
	defer d.halt()
	v := versionOf(d.env.program)
	d.log.Info("starting", "version", v.Version, "go", runtime.Version(), "pid", os.Getpid(), "config", cmp.Or(d.cfg.File, "none"))
	err = d.startNode()
	if err != nil {
		d.log.Error("cannot start", "error", err)
		return err
	}
	var reloads sync.WaitGroup
	done := make(chan struct{})
	reloads.Go(func() { hangups.watch(d, done) }) // hangups wait until here
	defer awaitReload(&reloads)                   // before the log is closed
	defer close(done)
	d.warn()
	d.joining.Go(func() { d.heap.watch(ctx, d.n, d.log.Logger) }) // ended by halt; down waits for it
	stopFeed := d.feedWatchdog()
	defer stopFeed()
	if err = d.up(ctx); err == nil {
		d.log.Info("up", "addr", fmt.Sprint(d.n.Addr()))
		fmt.Fprintf(d.env.stdout, "%s is up at %v\n", d.n.Name(), d.n.Addr())
		d.manager.Ready(fmt.Sprintf("%s is up at %v", d.n.Name(), d.n.Addr()))
		select {
		case <-ctx.Done():
		case <-d.n.Done():
		case <-d.apps.Done():
			if d.n.Err() == nil {
				err = d.apps.Err()
				if why := d.log.seen.why(); why != "" {
					err = fmt.Errorf("%w: %s", err, why)
				}
				d.log.Error("stopping: a permanent application has ended", "error", err)
			}
		}
	} else if ctx.Err() == nil {
		d.log.Error("cannot start", "error", err)
	}
	d.manager.Stopping("stopping", 3*d.live.Load().DrainTimeout+stopExtra)
	if failed := d.n.Err(); failed != nil {
		d.log.Error("stopping: a service of the node ended too often", "error", failed)
	}
	if ctx.Err() != nil {
		d.log.Info("stopping: asked to, by a signal or by an operator")
		if errors.Is(err, context.Canceled) {
			err = nil // interrupted during the start
		}
	}
	stopped := d.down(context.WithoutCancel(ctx))
	if stopped != nil {
		d.log.Error("ended with an error", "error", stopped)
	}
	return errors.Join(err, stopped)
}

// stopExtra is how long a stop may take in addition to three times drain_timeout.
const stopExtra = 5 * time.Second

// feedWatchdog feeds the watchdog of the service manager, if there is one, while the node responds, until stop is called.
func (d *daemon) feedWatchdog() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var feeding sync.WaitGroup
	feeding.Go(func() { d.manager.Feed(ctx, d.checkAlive) })
	return func() {
		cancel()
		feeding.Wait()
	}
}

// startNode starts the node and its finders, but not the programs on it. After an error nothing runs.
func (d *daemon) startNode() error {
	cookie, err := daemonCookie(d.cfg, d.env, d.log.Logger)
	if err != nil {
		return err
	}
	d.cookie.Store(&clusterCookie{now: cookie, old: d.cfg.OldCookies})
	mapper, err := epmd.ConfigFromEnv(d.env.lookup)
	if err != nil {
		return err
	}
	mapper.Logger = d.log.Logger
	o := optionsOf(d.cfg)
	o.apart = true
	if err := d.makeFinders(&o, cookie); err != nil {
		return err
	}
	d.hosts = newMappedHosts(mapper, d.cfg.Discovery.EPMDHosts)
	finder, listen, err := o.network(d.env, d.hosts)
	if err != nil {
		return err
	}
	known, err := o.known()
	if err != nil {
		return err
	}
	d.peers = newKnownPeers(known, finder)
	transport, err := o.transport(d.env, d.log.Logger)
	if err != nil {
		return err
	}
	d.tls, _ = transport.(*tlsdist.Transport)
	limits := d.cfg.Limits
	if d.cfg.HasRights() {
		if d.rights, err = rights.New(d.cfg.Rights); err != nil {
			return err
		}
	}
	dist := &node.Distribution{
		Cookie: cookie, Listen: listen, Listeners: d.listeners(listen), Finder: d.peers, Transport: transport,
		Access: node.Access{Cookies: d.cookies, OldCookies: d.oldCookies, Allow: d.allow(), Rights: d.rights},
		Timing: node.Timing{TickTime: d.cfg.TickTime, ConnectTimeout: d.cfg.ConnectTimeout, Grace: d.cfg.Grace,
			Awake: cmp.Or(d.cfg.Awake, -1)}, // 0 would be the default
		Limits: node.Limits{Queue: limits.Queue, Cluster: within(limits.Cluster, d.heap.limit.Load().Bytes),
			Link: linkLimits(d.cfg)},
		Compress: d.cfg.Compress,
	}
	if !d.cfg.Hidden {
		dist.Published = global.Join(global.Config{Partial: !d.cfg.Global.ConnectAll, Overlap: !d.cfg.Global.PreventOverlaps})
	}
	if d.cfg.Discovery.Mesh {
		dist.Mesh = &discovery.Mesh{}
	}
	if dist.Protocols, err = dist.ProtocolsByName(d.cfg.Protocols...); err != nil {
		return err
	}
	d.n, err = node.Start(node.Config{
		Name: node.Atom(d.cfg.Name), Log: d.log.Logger, StopTimeout: d.cfg.DrainTimeout, MaxProcesses: limits.Processes,
		Distribution: dist, DetectCycles: d.cfg.DetectCycles, Stages: d.cfg.Stages,
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: choose another port with listen.erlang, listen.native or discovery.gossip.bind", err)
	case errors.Is(err, epmd.ErrRefused):
		return fmt.Errorf("%w: if another node of this host is called %s, choose another name, or stop that node first", err,
			d.cfg.Name)
	}
	return err
}

// linkLimits are the limits of one connection.
func linkLimits(cfg *config.Config) dist.LinkLimits {
	return dist.LinkLimits{Message: cfg.Limits.Message, Fragments: cfg.Limits.Fragments, Timeout: cfg.ConnectTimeout}
}

// makeFinders makes the finders other than peers and EPMD.
func (d *daemon) makeFinders(o *options, cookie string) (err error) {
	if c, on := d.cfg.Discovery.Gossip.Config(); on {
		c.Cookie, c.Log = cookie, d.log.Logger
		c.OldCookies = slices.Concat(c.OldCookies, d.cfg.OldCookies)
		if d.gossip, err = gossip.New(c); err != nil {
			return err
		}
		o.more = append(o.more, d.gossip)
	}
	f, err := d.findsByDNS(d.cfg)
	if f != nil {
		d.dns = newDNSFinder(f)
		o.more = append(o.more, d.dns)
	}
	return err
}

// listeners returns the listen address of each protocol that has one. listen is that of the Erlang protocol.
func (d *daemon) listeners(listen string) map[string]string {
	given := map[string]string{"erlang": listen, "native": d.cfg.Listen.Native}
	maps.DeleteFunc(given, func(protocol, addr string) bool { return addr == "" || !slices.Contains(d.cfg.Protocols, protocol) })
	return given
}

// up starts the services and applications on the node. After an error down stops those that were started.
func (d *daemon) up(ctx context.Context) (err error) {
	health := process.Kept[node.Actor]{Label: "health", New: func() node.Actor { return alive{d} }}
	_, err = d.n.Inside(process.Key{}).Keep(ctx, health)
	if err != nil {
		return err
	}
	if err := d.serve(); err != nil {
		return err
	}
	if err := otp.Serve(d.n, otp.Config{Output: d.env.stdout}); err != nil {
		return err
	}
	if d.cfg.PG {
		if err := d.startGroups(ctx); err != nil {
			return err
		}
		if err := pg.Serve(d.n); err != nil {
			return err
		}
	}
	if d.apps, err = application.Start(ctx, d.n); err != nil {
		return err
	}
	if err := d.serveOperators(ctx); err != nil {
		return err
	}
	if err := d.startApplications(ctx); err != nil {
		return err
	}
	d.started.Store(true)
	d.join(ctx)
	return nil
}

// serveOperators starts the operator's service, unless it is off.
func (d *daemon) serveOperators(ctx context.Context) error {
	o := d.cfg.Operators
	if o.Off {
		return nil
	}
	ready := func() error { return health.Look(d.checks()).Err() }
	c := admin.Config{Version: versionOf(d.env.program).Version, Level: d.log.level, Ready: ready, Drain: d.drain, Stop: d.halt}
	c.Operators = func(peer node.Atom) bool { return d.live.Load().Operators.May(peer) }
	d.warnOfOperators(o)
	return admin.Start(ctx, d.n, c)
}

// warnOfOperators logs a warning if a list of operators does not protect the node.
func (d *daemon) warnOfOperators(o config.Operators) {
	if !o.All && len(o.Nodes) > 0 && d.cfg.TLS.Cert == "" && len(d.cfg.Cookies) == 0 {
		d.log.Warn("the list of operators does not protect: any node that knows the cookie can use an operator's name; set up "+
			"TLS, or cookies for single peers",
			"setting", "operators")
	}
}

// allow returns a function that decides what peers may start or call by name, or nil if every peer may use all exports.
func (d *daemon) allow() func(node.Atom, wire.Export) bool {
	if d.cfg.Allow.All {
		return nil
	}
	return func(peer node.Atom, e wire.Export) bool { return d.live.Load().Allow.May(peer, e) }
}

// startApplications starts the program's own applications, the tree and the demo.
func (d *daemon) startApplications(ctx context.Context) error {
	if err := d.exportPorts(); err != nil {
		return err
	}
	tree, p := d.cfg.Tree, d.env.program
	if tree == nil && !d.cfg.Demo && p.Export == nil && len(p.Applications) == 0 && p.Started == nil {
		return nil
	}
	for _, offer := range d.offers {
		if err := offer(d.n); err != nil {
			return err
		}
	}
	if p.Started != nil {
		if err := p.Started(ctx, d.n); err != nil {
			return err
		}
	}
	for _, a := range p.Applications {
		if err := d.apps.Load(a); err != nil {
			return err
		}
	}
	if d.cfg.Demo {
		a := demo.Application()
		a.Type = application.Permanent
		if err := d.apps.Load(a); err != nil {
			return err
		}
	}
	if tree != nil && tree.Top != nil {
		err := d.apps.Load(application.Spec{Name: wire.Atom(p.name()), Description: "the tree of " + tree.Name,
			Type: application.Permanent, Top: tree.Top, TopOptions: tree.TopOptions})
		if err != nil {
			return err
		}
	} else if tree != nil {
		if err := tree.Load(d.apps); err != nil {
			return err
		}
	}
	return d.apps.StartAll(ctx)
}

// startGroups starts the process groups.
func (d *daemon) startGroups(ctx context.Context) error {
	d.taking.Lock()
	defer d.taking.Unlock()
	limits := d.live.Load().Limits
	scope, err := pg.Start(ctx, d.n, pg.Config{Keep: true, Members: limits.PGMembers, Groups: limits.PGGroups})
	if err == nil {
		d.scope.Store(scope)
	}
	return err
}

// serve starts the HTTP server, if configured.
func (d *daemon) serve() error {
	if d.cfg.HTTP.Listen == "" {
		return nil
	}
	d.taking.Lock()
	defer d.taking.Unlock()
	c := health.Config{Listen: d.cfg.HTTP.Listen, Checks: d.checks(), Alive: d.checkAlive, Pprof: d.cfg.HTTP.Pprof,
		Log:         d.log.Logger,
		Connections: d.live.Load().Limits.HTTP}
	if d.cfg.HTTP.Metrics {
		r := prometheus.NewRegistry()
		r.MustRegister(metrics.New(metrics.Config{Node: d.n, Version: versionOf(d.env.program).Version, Limits: d.limits}),
			collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		r.MustRegister(d.logMetrics()...)
		r.MustRegister(d.finderMetrics()...)
		c.Metrics = promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelError)})
	}
	http, err := health.Start(c)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: choose another port with http.listen", err)
	}
	if err != nil {
		return err
	}
	d.http.Store(http)
	d.log.Info("serving health checks and metrics over HTTP", "addr", http.Addr().String())
	return nil
}

// checks returns the conditions of readiness.
func (d *daemon) checks() []health.Check {
	unless := func(ok func() bool, why string) func() error {
		return func() error {
			if ok() {
				return nil
			}
			return errors.New(why)
		}
	}
	all := []health.Check{
		{Name: "listening", Fail: unless(func() bool { return len(d.n.Endpoints()) > 0 || d.cfg.Listen.Erlang == "-" },
			"the node does not listen yet")},
		{Name: "services", Fail: d.servicesAnswer},
		{Name: "applications", Fail: unless(d.started.Load, "not all applications have started")},
		{Name: "cluster", Fail: d.notJoined},
		{Name: "memory", Fail: d.heap.notReady},
		{Name: "serving", Fail: unless(func() bool { return !d.draining.Load() }, "the node is being drained")},
	}
	if !d.cfg.Hidden {
		all = append(all, health.Check{Name: "global", Fail: d.globalReaches})
	}
	return all
}

// globalReaches returns an error that names the nodes of the cluster to which a published node could not connect: their
// global names may differ.
func (d *daemon) globalReaches() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), servicesTime, fmt.Errorf("no answer within %v", servicesTime))
	defer cancel()
	s, err := global.Look(ctx, d.n)
	switch {
	case err != nil:
		return err
	case len(s.Unreached) > 0:
		return fmt.Errorf("nodes of the cluster could not be connected, as a published node must be: %s", atomsText(s.Unreached))
	}
	return nil
}

// isAlive is the request to the process health.
type isAlive struct{}

// alive is the process health, a service of the node.
type alive struct{ d *daemon }

// Init is part of node.Initializer.
func (a alive) Init(c *node.Context) error {
	pid := c.Self()
	a.d.alive.Store(&pid)
	return nil
}

// Receive is part of node.Actor.
func (a alive) Receive(_ *node.Context, msg any) error {
	if r, ok := msg.(node.Request[isAlive]); ok {
		r.Reply(true)
	}
	return nil
}

// alivePause is the delay before asking a restarted process health.
const alivePause = 20 * time.Millisecond

// checkAlive returns an error if processes do not run, or if the node has ended because a service failed too often.
func (d *daemon) checkAlive(ctx context.Context) error {
	for {
		if err := d.n.Err(); err != nil {
			return err
		}
		err := errors.New("it has not been started")
		if pid := d.alive.Load(); pid != nil {
			_, err = node.Call[bool](ctx, d.n, *pid, isAlive{})
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(alivePause): // it may have ended and be restarted
		case <-ctx.Done():
			return fmt.Errorf("the health process did not answer: %w", err)
		}
	}
}

// servicesTime bounds the answers of the node's services to a readiness check.
const servicesTime = time.Second

// servicesAnswer returns an error if a service does not answer.
func (d *daemon) servicesAnswer() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), servicesTime, fmt.Errorf("no answer within %v", servicesTime))
	defer cancel()
	return d.n.Inside(process.Key{}).CheckServices(ctx)
}
