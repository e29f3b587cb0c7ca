package command

import (
	"errors"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/daemon/memory"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire/tlsdist"
)

// reloading reads the configuration again at each SIGHUP.
type reloading struct {
	hangups chan os.Signal
	read    func(sections map[string]any) (*config.Config, error)
	was     map[string]any // the program's sections with their defaults, and the values read at the start
	now     map[string]any
}

// catchHangups catches SIGHUP, which would end the program, and leaves it for watch. sections are the program's, with their
// defaults.
func catchHangups(sections map[string]any, read func(map[string]any) (*config.Config, error)) *reloading {
	r := &reloading{make(chan os.Signal, 1), read, clones(sections), nil}
	signal.Notify(r.hangups, syscall.SIGHUP)
	return r
}

// watch makes d reload at each hangup until done is closed.
func (r *reloading) watch(d *daemon, done <-chan struct{}) {
	for {
		select {
		case <-r.hangups:
			d.manager.Reload(func() { d.reload(r) })
		case <-done:
			return
		}
	}
}

// reload reopens the log and applies the changeable settings of the configuration. A configuration with errors changes
// nothing. It is called by one goroutine.
func (d *daemon) reload(r *reloading) {
	if err := d.log.reopen(); err != nil {
		d.log.lostFile(err, d.env.stderr)
	}
	sections := clones(r.was)
	fresh, files, err := d.reread(r, sections)
	if err != nil {
		d.log.Error("the configuration has errors: the old one stays as it is", "error", err)
		return
	}
	changed, waiting := d.changes(fresh, files)
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if !reflect.DeepEqual(sections[name], r.now[name]) {
			waiting = append(waiting, name)
		}
	}
	d.taking.Lock()
	d.live.Store(d.live.Load().With(fresh))
	d.take(changed, fresh, files)
	d.taking.Unlock()
	if d.rotate(files.cookie, fresh) && !slices.Contains(changed, "cookie") {
		changed = append(changed, "cookie")
	}
	if len(waiting) > 0 {
		d.log.Warn("some settings differ from those that the daemon runs by: they need a restart",
			"settings", strings.Join(waiting, " "))
	}
	d.log.Info("the configuration was read again", "changed", strings.Join(changed, " "))
}

// changes returns the keys of the settings that changed and take effect, and of those that need a restart. If only some
// values of a setting need one, it restores the old value in fresh.
func (d *daemon) changes(fresh *config.Config, files files) (changed, waiting []string) {
	old := d.live.Load()
	sameKind := fresh.HasRights() == old.HasRights() // whether the node checks rights is fixed
	for _, key := range old.Differences(fresh) {
		switch {
		case !config.IsChangeable(key):
			waiting = append(waiting, key)
		case key == "operators" && fresh.Operators.Off != old.Operators.Off: // whether the service runs is fixed
			fresh.Operators, waiting = old.Operators, append(waiting, key)
		case key == "allow" && fresh.Allow.All != old.Allow.All: // whether the node checks the peer is fixed
			fresh.Allow, waiting = old.Allow, append(waiting, key)
		case strings.HasPrefix(key, "rights.") && !sameKind:
			fresh.Rights, waiting = old.Rights, append(waiting, key)
		case strings.HasPrefix(key, "tls.") && (files.tls == nil || d.tls == nil): // whether peers use TLS is fixed
			fresh.TLS, waiting = old.TLS, append(waiting, key)
		case strings.HasPrefix(key, "discovery.dns.") && (files.dns == nil || d.dns == nil): // whether DNS is used is fixed
			fresh.Discovery.DNS, waiting = old.Discovery.DNS, append(waiting, key)
		case key == "discovery.epmd_hosts" && !(old.Discovery.EPMD && fresh.Discovery.EPMD): // whether EPMD is used is fixed
			fresh.Discovery.EPMDHosts, waiting = old.Discovery.EPMDHosts, append(waiting, key)
		default:
			changed = append(changed, key)
		}
	}
	return changed, waiting
}

// take applies the changed settings of fresh, except its cookies.
func (d *daemon) take(changed []string, fresh *config.Config, files files) {
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(changed, func(key string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
		})
	}
	if has("log.level") {
		d.log.level.Set(fresh.Log.Level)
	}
	if has("operators") {
		d.warnOfOperators(fresh.Operators)
	}
	if d.rights != nil {
		if err := d.rights.Set(fresh.Rights); err != nil { // already checked by config
			d.log.Error("the rights stay as they were", "error", err)
		}
	}
	if has("limits.") {
		d.setLimits(d.live.Load())
	}
	if has("drain_timeout") {
		d.n.Inside(process.Key{}).SetStopTimeout(fresh.DrainTimeout)
	}
	if has("tls.") {
		d.tls.Replace(files.tls)
	}
	if has("discovery.epmd_hosts") {
		d.hosts.hosts.Store(&fresh.Discovery.EPMDHosts)
	}
	if has("discovery.dns.") {
		d.dns.set(files.dns)
	}
	if has("discovery.peers", "discovery.epmd_hosts", "discovery.dns.") {
		d.peers.set(files.known) // makes discovery.mesh list nodes again
	}
	if has("discovery.join") {
		d.joinOthers()
	}
}

// setLimits applies the limits of a configuration.
func (d *daemon) setLimits(cfg *config.Config) {
	l := cfg.Limits
	limit, was := memory.Set(int64(l.Memory), d.env.lookup), d.heap.limit.Load()
	if limit.Bytes != was.Bytes || limit.From != was.From {
		d.heap.limit.Store(&limit)
	}
	err := d.n.SetLimits(node.Limits{Queue: l.Queue, Link: linkLimits(cfg), Cluster: within(l.Cluster, limit.Bytes)})
	if scope := d.scope.Load(); scope != nil {
		err = errors.Join(err, scope.SetLimits(l.PGMembers, l.PGGroups))
	}
	if http := d.http.Load(); http != nil {
		http.SetConnections(l.HTTP)
	}
	if err != nil { // already checked by config, so the node is stopping
		d.log.Error("some limits stay as they were", "error", err)
	}
}

// files holds the parts of a configuration made from the files that it names.
type files struct {
	cookie string
	known  map[node.Atom][]discovery.Endpoint
	tls    *tlsdist.Transport // nil without TLS
	dns    *dns.Finder        // nil without DNS
}

// reread reads the configuration and its files. After an error none of it is used.
func (d *daemon) reread(r *reloading, sections map[string]any) (cfg *config.Config, f files, err error) {
	if cfg, err = r.read(sections); err != nil {
		return nil, f, err
	}
	if f.cookie, _, err = cookieOf(cfg, d.env); err != nil {
		return nil, f, err
	}
	o := optionsOf(cfg)
	o.unnamed = optionsOf(d.cfg).unnamed // from the protocols of the node
	if f.known, err = o.known(); err != nil {
		return nil, f, err
	}
	if f.dns, err = d.findsByDNS(cfg); err != nil {
		return nil, f, err
	}
	transport, err := o.transport(d.env, d.log.Logger)
	f.tls, _ = transport.(*tlsdist.Transport)
	return cfg, f, err
}

// clones returns deep copies of sections, so that they do not change when the program changes its own.
func clones(sections map[string]any) map[string]any {
	all := make(map[string]any)
	for name, s := range sections {
		now, err := isolation.Copy(s)
		if err != nil {
			panic(err) // config.CheckSections refuses types that cannot be copied
		}
		all[name] = now
	}
	return all
}
