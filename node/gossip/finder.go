package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// Finder finds nodes by gossip. It is for one node, which takes part from Announce
// until stop.
type Finder struct {
	cfg   Config
	table *table
	keys  *memberlist.Keyring

	mu      sync.Mutex
	session *session // nil: not announced
}

// errAnnounced says that a Finder has been announced and not stopped.
var errAnnounced = errors.New("gossip: the finder is already in use by a node")

// New checks a configuration. Nothing is sent before Announce.
func New(cfg Config) (*Finder, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	all, err := keysOf(cfg.Cookie, cfg.OldCookies)
	if err != nil {
		return nil, err
	}
	keys, err := memberlist.NewKeyring(all, all[0])
	if err != nil {
		return nil, err
	}
	return &Finder{cfg: cfg, table: newTable(), keys: keys}, nil
}

// SetCookie changes Cookie and OldCookies of the Config, also while the finder is in use. The finder cannot read
// messages from members with any other cookie; see Config.OldCookies for a change without a gap.
func (f *Finder) SetCookie(cookie string, old ...string) error {
	fresh := Config{Cookie: cookie, OldCookies: old}
	if err := fresh.validate(); err != nil {
		return err
	}
	all, err := keysOf(cookie, old)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range all {
		if err := f.keys.AddKey(k); err != nil {
			return err
		}
	}
	if err := f.keys.UseKey(all[0]); err != nil {
		return err
	}
	for _, k := range f.keys.GetKeys() {
		if !slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(k, other) }) {
			if err := f.keys.RemoveKey(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find is part of discovery.Finder. It returns the endpoints of the members with that name, those of the newest first,
// or discovery.ErrUnknownNode if there is none.
func (f *Finder) Find(_ context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	if all := f.table.find(name); len(all) > 0 {
		return all, nil
	}
	return nil, fmt.Errorf("gossip: %s is not a member: %w", name, discovery.ErrUnknownNode)
}

// List is part of discovery.Lister. It returns the members, including this one.
func (f *Finder) List(context.Context) ([]node.Atom, error) { return f.table.list(), nil }

// Watch is part of discovery.Watcher.
func (f *Finder) Watch(changed func()) (stop func()) { return f.table.watch(changed) }

// Addr returns the HOST:PORT at which others reach this member. It is empty if the finder is not announced.
func (f *Finder) Addr() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session == nil {
		return ""
	}
	return f.session.list.LocalNode().Address()
}

// Stats are figures of one member.
type Stats struct {
	Members int    // alive, including this one; a restarted node may count twice for a while
	Lost    int    // nodes that left, died or were cut off, and are still tried
	Rounds  uint64 // of attempts to join seeds and lost nodes
	Health  int    // memberlist's score; 0: well; more: this member is too slow to judge others

	Streams        int    // TCP connections from others that are served
	StreamsWaiting int    // that wait to be served
	StreamsLimit   int    // how many can be served at a time: Config.MaxStreams
	StreamsRefused uint64 // since Announce: too many were waiting
	StreamsCut     uint64 // since Announce: too long or too slow, including those to others
}

// Stats returns the current figures, or zero if the finder is not announced.
func (f *Finder) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session == nil {
		return Stats{}
	}
	s := Stats{Members: f.session.list.NumMembers(), Lost: f.table.gone(), Rounds: f.session.attempts.Load(),
		Health: f.session.list.GetHealthScore()}
	f.session.streams.stats(&s)
	return s
}

// Announce is part of discovery.Finder: the node starts to gossip. It does not wait until it has reached a seed, as
// there may be none yet. stop tells the other members that the node leaves.
func (f *Finder) Announce(ctx context.Context, me discovery.Announcement) (stop func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session != nil {
		return nil, errAnnounced
	}
	cfg, err := f.member(ctx, me)
	if err != nil {
		return nil, err
	}
	lines := newBridge(f.cfg.Log)
	cfg.Logger = log.New(lines, "", 0)
	list, streams, err := f.open(cfg)
	if err != nil {
		lines.close()
		f.table.clear()
		return nil, err
	}
	r := &session{cfg: f.cfg, table: f.table, list: list, streams: streams, lines: lines, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	f.session = r
	go r.join() // ended by stop, which waits for it
	return func() { r.end.Do(func() { r.stop(); f.off() }) }, nil
}

// open opens the sockets that cfg describes, and starts to gossip.
func (f *Finder) open(cfg *memberlist.Config) (*memberlist.Memberlist, *streams, error) {
	fail := func(err error) (*memberlist.Memberlist, *streams, error) {
		return nil, nil, fmt.Errorf("gossip: cannot listen on %s: %w", net.JoinHostPort(cfg.BindAddr, strconv.Itoa(cfg.BindPort)), err)
	}
	s := newStreams(&f.cfg)
	t, err := listen(cfg.BindAddr, cfg.BindPort, s, f.cfg.Log)
	if err != nil {
		return fail(err)
	}
	if cfg.BindPort == 0 {
		cfg.BindPort, cfg.AdvertisePort = t.port(), t.port()
	}
	cfg.Transport = t
	if f.cfg.tune != nil {
		f.cfg.tune(cfg)
	}
	list, err := memberlist.Create(cfg)
	if err != nil {
		return fail(errors.Join(err, t.Shutdown()))
	}
	return list, s, nil
}

// off makes the finder ready for another Announce.
func (f *Finder) off() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session = nil
	f.table.clear()
}

// member returns the configuration of memberlist.
func (f *Finder) member(ctx context.Context, me discovery.Announcement) (*memberlist.Config, error) {
	m := member{me, time.Now()}
	meta, err := m.meta()
	if err != nil {
		return nil, err
	}
	if _, err := parse(m.id(), meta); err != nil {
		return nil, err
	}
	_, home, _ := strings.Cut(string(me.Name), "@")
	cfg := paces[f.cfg.Pace]()
	if cfg.BindAddr, cfg.BindPort, err = f.ip(ctx, f.cfg.Bind, home, defaultPort); err != nil {
		return nil, fmt.Errorf("gossip: Config.Bind: %w", err)
	}
	cfg.AdvertiseAddr, cfg.AdvertisePort = "", cfg.BindPort
	if f.cfg.Advertise != "" {
		cfg.AdvertiseAddr, cfg.AdvertisePort, err = f.ip(ctx, f.cfg.Advertise, cfg.BindAddr, cfg.BindPort)
		if err != nil {
			return nil, fmt.Errorf("gossip: Config.Advertise: %w", err)
		}
	}
	cfg.Keyring = f.keys
	cfg.Name = m.id()
	cfg.Delegate = metaDelegate{meta}
	events := f.table.listen()
	cfg.Events, cfg.Alive = events, events
	cfg.GossipVerifyIncoming, cfg.GossipVerifyOutgoing = true, true
	cfg.TCPTimeout = min(cfg.TCPTimeout, f.cfg.StreamTimeout)
	cfg.EnableCompression = false // names and ports: little to gain
	return cfg, nil
}

// ip resolves HOST:PORT with defaults for both.
func (f *Finder) ip(ctx context.Context, s, host string, port int) (string, int, error) {
	h, port, err := hostPort(s, port)
	if err != nil {
		return "", 0, err
	}
	if h == "" {
		h = host
	}
	all, err := f.cfg.Resolver.LookupNetIP(ctx, "ip", h)
	if err != nil {
		return "", 0, err
	}
	return all[0].Unmap().String(), port, nil
}

// metaDelegate supplies this member's metadata.
type metaDelegate struct{ meta []byte }

func (s metaDelegate) NodeMeta(int) []byte             { return s.meta }
func (s metaDelegate) NotifyMsg([]byte)                {}
func (s metaDelegate) GetBroadcasts(int, int) [][]byte { return nil }
func (s metaDelegate) LocalState(bool) []byte          { return nil }
func (s metaDelegate) MergeRemoteState([]byte, bool)   {}

// session is one membership in the gossip cluster, from Announce to stop.
type session struct {
	cfg      Config
	table    *table
	list     *memberlist.Memberlist
	streams  *streams
	lines    *bridge
	ctx      context.Context
	cancel   context.CancelFunc
	done     chan struct{} // closed when join has returned
	end      sync.Once
	attempts atomic.Uint64 // of attempts to join
}

func (r *session) stop() {
	r.cancel()
	if err := r.list.Leave(r.cfg.LeaveTimeout); err != nil {
		r.cfg.Log.Warn("gossip: could not tell the other members that this node stops; they will notice by themselves", "error", err)
	}
	<-r.done // within Config.StreamTimeout
	if err := r.list.Shutdown(); err != nil {
		r.cfg.Log.Warn("gossip: cannot close the listeners", "error", err)
	}
	r.lines.close()
}

// streamTimeout bounds a stream, and so an attempt to join at one address.
const streamTimeout = 5 * time.Second

// lostTries is how many lost members are tried at a time.
const lostTries = 4

// join is the goroutine that joins the others, and joins them again after a network partition. Announce starts it, stop
// ends it. It never gives up: a node that gets no answer does not become the first of a cluster.
func (r *session) join() {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause, told := firstPause, ""
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-timer.C:
		}
		why := r.attempt()
		r.attempts.Add(1)
		switch {
		case why != nil && kindOf(why.Error()) != told && r.ctx.Err() == nil:
			r.logFailure(why)
		case why == nil && told != "":
			r.cfg.Log.Info("gossip: joined the cluster", "members", r.list.NumMembers())
		}
		if told = ""; why != nil {
			told = kindOf(why.Error())
		}
		if r.list.NumMembers() > 1 {
			pause = r.cfg.Retry
		}
		pause = min(pause, r.cfg.Retry)
		timer.Reset(pause - time.Duration(rand.Float64()*float64(pause/4)))
		pause *= 2
	}
}

func (r *session) logFailure(why error) {
	args := []any{"error", why}
	if h := hint(why.Error()); h != "" {
		args = append(args, "hint", h)
	}
	r.cfg.Log.Warn("gossip: cannot join any other member: will retry", args...)
}

// attempt joins every seed that is not a member, and some lost members. It returns an error if there are seeds and no
// other member is known.
func (r *session) attempt() error {
	var errs []error
	for _, addr := range r.table.missing(time.Now(), lostTries) {
		r.joinAddress(addr) // a dead member does not answer: that is not logged
	}
	for _, seed := range r.cfg.Seeds {
		addrs, err := r.resolve(seed)
		if err != nil {
			errs = append(errs, err)
		}
		for _, addr := range addrs {
			if err := r.joinAddress(addr); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if r.list.NumMembers() > 1 {
		return nil
	}
	return errors.Join(errs...)
}

func (r *session) joinAddress(addr string) error {
	if r.ctx.Err() != nil || r.table.isAt(addr) {
		return nil
	}
	_, err := r.list.Join([]string{addr})
	return err
}

// resolve returns the addresses of a seed.
func (r *session) resolve(seed string) (all []string, err error) {
	host, port, err := hostPort(seed, defaultPort)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.cfg.Retry)
	defer cancel()
	ips, err := r.cfg.Resolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range ips {
		all = append(all, net.JoinHostPort(ip.Unmap().String(), strconv.Itoa(port)))
	}
	return all, err
}
