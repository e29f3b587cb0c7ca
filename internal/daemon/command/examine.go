package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire/epmd"
)

// examine returns the reasons why start would refuse a valid configuration on this machine: the cookie, certificates, the
// log file, addresses. It leaves nothing behind, and binds no configured address, since a daemon may be using it.
func examine(cfg *config.Config, env environment) error {
	var errs []error
	fail := func(key string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", cfg.Origin(key).Where, err))
		}
	}
	if cfg.Name == "" {
		errs = append(errs, errors.New("the name of the node is missing: "+wantName))
	}
	cookie, file, err := cookieOf(cfg, env)
	if file != "" && errors.Is(err, fs.ErrNotExist) {
		err = nil // start creates it
	}
	errs = append(errs, err)
	if cookie == "" {
		cookie = "unknown"
	}
	if _, err := epmd.ConfigFromEnv(env.lookup); err != nil {
		errs = append(errs, err)
	}
	d := &daemon{cfg: cfg, env: env, log: &logging{Logger: quiet}}
	o := optionsOf(cfg)
	o.apart = true
	errs = append(errs, d.makeFinders(&o, cookie))
	_, listen, err := o.network(env, new(discovery.Static))
	errs = append(errs, err)
	_, err = o.known()
	errs = append(errs, err)
	_, err = o.transport(env, quiet)
	errs = append(errs, err)
	if cfg.HasRights() {
		_, err := rights.New(cfg.Rights)
		errs = append(errs, err)
	}
	fail("log.file", writable(cfg.Log.File))
	for key, addr := range map[string]string{"listen.erlang": listen, "listen.native": cfg.Listen.Native,
		"http.listen": cfg.HTTP.Listen, "discovery.gossip.bind": cfg.Discovery.Gossip.Bind} {
		if addr != "" && addr != "-" {
			fail(key, bindable(addr))
		}
	}
	if cfg.Name != "" {
		if _, host, _ := strings.Cut(cfg.Name, "@"); listen == "" {
			fail("name", bindable(net.JoinHostPort(host, "0")))
		}
		fail("name", startable(cfg))
	}
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return errors.Join(errs...)
}

// startable starts a node with the configuration, without listening, and stops it.
func startable(cfg *config.Config) error {
	dist := &node.Distribution{Cookie: "unknown", Client: true, Listen: "-", Finder: new(discovery.Static),
		Timing:   node.Timing{TickTime: cfg.TickTime, ConnectTimeout: cfg.ConnectTimeout, Grace: cfg.Grace},
		Limits:   node.Limits{Queue: cfg.Limits.Queue, Cluster: cfg.Limits.Cluster, Link: linkLimits(cfg)},
		Compress: cfg.Compress}
	var err error
	if dist.Protocols, err = dist.ProtocolsByName(cfg.Protocols...); err != nil {
		return err
	}
	n, err := node.Start(node.Config{Name: node.Atom(cfg.Name), Log: quiet, MaxProcesses: cfg.Limits.Processes, Distribution: dist,
		Stages: cfg.Stages, StopTimeout: time.Second})
	if err != nil {
		return err
	}
	return n.Stop()
}

// writable returns an error if a log cannot be appended to file, which need not exist yet.
func writable(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.CreateTemp(filepath.Dir(file), ".actornode-check-*"); err == nil {
			defer os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("cannot open the log file: %w", err)
	}
	return f.Close()
}

// bindable returns an error if no program on this machine can listen at the host of addr.
func bindable(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return fmt.Errorf("this machine cannot listen there: %w", err)
	}
	return ln.Close()
}

// resolveTime bounds a DNS query.
const resolveTime = 5 * time.Second

// foreign matches variables with the prefix ACTORNODE_ that are not settings: Kubernetes sets them for each service with a
// name such as actornode, and so do the tests and images of this repository.
var foreign = regexp.MustCompile(
	`^ACTORNODE_((.*_)?(SERVICE_HOST|SERVICE_PORT|SERVICE_PORT_.*|PORT|PORT_\d+_(TCP|UDP).*)|TESTS|IMAGE|BINARY)$`)

// unknownVariables returns the variables with the prefix ACTORNODE_ that are not settings, each with the one probably
// intended, if any.
func unknownVariables(env environment) (all []unknownVariable) {
	known := []string{"ACTORNODE_CONFIG", "ACTORNODE_NODE"}
	for _, s := range config.Default().Settings() {
		known = append(known, s.Env())
	}
	if env.all == nil {
		return nil
	}
	for _, v := range env.all() {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "ACTORNODE_") || value == "" || slices.Contains(known, name) || foreign.MatchString(name) {
			continue
		}
		all = append(all, unknownVariable{name, nearestVariable(name, known)})
	}
	slices.SortFunc(all, func(a, b unknownVariable) int { return strings.Compare(a.name, b.name) })
	return all
}

// nearestVariable returns the known variable of which name is most likely a misspelling, or "".
func nearestVariable(name string, known []string) string {
	var words []string
	for _, k := range known {
		words = append(words, strings.TrimPrefix(k, "ACTORNODE_"))
	}
	if near := strict.Nearest(strings.TrimPrefix(name, "ACTORNODE_"), words); near != "" {
		return "ACTORNODE_" + near
	}
	return ""
}

// unknownVariable is a variable that the daemon does not read.
type unknownVariable struct{ name, meant string }

func (v unknownVariable) String() string {
	if v.meant == "" {
		return v.name + ": unknown variable"
	}
	return v.name + ": unknown variable; did you mean " + v.meant + "?"
}
