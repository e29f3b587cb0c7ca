package peers

import (
	"cmp"
	"context"
	"errors"
	"github.com/actornode/actornode/internal/kernel/process"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Node is the node that a cluster belongs to, implemented by package node: it knows the types of messages and errors that
// programs see.
type Node interface {
	// Up is called when a peer that is no client has been connected, before anything comes from it, with the lock of the peer
	// held. Down is called when the connection of a peer has ended, after
	// links have been broken and calls have failed, and before monitors of the node fire.
	Up(p *Peer, about dist.Peer)
	Down(p *Peer)
	// Message returns a message of another node as delivered to processes: a call becomes a request, for example.
	Message(from *Sender, msg any) any
	// Request returns a request with the body of a call, to be answered by t, as delivered to processes.
	Request(body any, t process.Ticket) any
	// Show returns a message, made by Message or Request, for a process that wants to know its sender.
	Show(from *Sender, msg any) any
	// BodyPath returns the path of the program's value in the term of a message of the node's own types: "{3}", or "" for the
	// whole.
	BodyPath(msg any) string
	// Spawn starts a process that a peer has requested. It returns nil, or the reason why it has started none.
	Spawn(s Spawn) (reason any)
	// StartsNothing reports whether this node refuses to start processes for other nodes.
	StartsNothing() bool
}

// ClusterConfig configures a cluster. All fields are required unless they say otherwise, except Mesh.
type ClusterConfig struct {
	System *process.System
	Origin wire.Origin
	Node   Node
	Log    *slog.Logger
	Env    env.Env
	Shed   *limits.Shed
	Quota  *limits.Quota

	Finder    discovery.Finder
	Protocols []dist.Protocol // the preferred one first; the last is the one that all nodes support
	Transport dist.Transport
	Listen    func(dist.Protocol) (addr string, err error) // the listen address of a protocol, or "-" for none
	Erlang    string                                       // the protocol of OTP, whose cookie does not protect against attackers
	Cookies   func(peer wire.Atom) (in, out string)        // "" forbids the connection
	Old       func(peer wire.Atom) []string                // old cookies, or nil
	Hidden    bool
	Client    bool           // see dist.Handshake
	Rights    *rights.Policy // if nil, all nodes may do everything

	TickTime       time.Duration
	ConnectTimeout time.Duration
	FirstStep      time.Duration // within which a connecting node must send its name
	Grace          time.Duration
	Awake          time.Duration // how long a reader spins; negative for not at all

	Limits limits.Node // Quota already has its part of it
	Mesh   *MeshConfig // how to connect to all nodes that Finder lists, or nil for not at all
}

// Cluster is all peers of a node.
type Cluster struct {
	cfg     ClusterConfig
	limits  atomic.Pointer[limits.Node]
	unlinks atomic.Uint64
	ctx     context.Context // ends with the node
	cancel  context.CancelFunc
	wg      sync.WaitGroup // of all goroutines
	lns     []*listener
	gone    func()   // withdraws the announcement, or nil
	lost    MeshNews // a connection has ended

	named     func(wire.NodeID) // see AskForName; nil if the node has a name
	fallbacks atomic.Uint64     // see fallsBack

	mu     sync.Mutex
	peers  map[wire.Atom]*Peer
	marks  map[uint32]*Peer  // by Peer.mark
	mark   uint32            // the last one given
	claims uint64            // number of claims so far
	proven map[wire.Atom]int // incoming handshakes in progress whose peer has proved its identity
	links  *limits.Places
	dials  *limits.Dials[Peer]
	memory limits.ProtocolMemory

	losses losses
	recent Recent[Peer]
	spins  atomic.Bool // a reader is spinning

	meshing sync.Mutex // guards mesher. Cluster.mu may be taken while it is held, not the other way round
	mesher  *Mesher    // nil if there is no mesh
}

// NewCluster returns a cluster without peers.
func NewCluster(cfg ClusterConfig) *Cluster {
	most := cfg.Limits.Cluster
	c := &Cluster{
		cfg: cfg, lost: make(MeshNews, 1),
		peers: make(map[wire.Atom]*Peer), marks: make(map[uint32]*Peer), proven: make(map[wire.Atom]int),
		links: limits.NewPlaces(most.Connections, most.ConnectionsPerSource),
		dials: limits.NewDials[Peer](most.Dials, cfg.ConnectTimeout),
	}
	if cfg.Mesh != nil {
		c.mesher = NewMesher(cfg.Origin.NodeID().Name, *cfg.Mesh, cfg.Env.Float64)
	}
	c.limits.Store(&cfg.Limits)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Start opens the listeners and announces the node.
func (c *Cluster) Start() error {
	if err := c.listen(); err != nil {
		return err
	}
	c.wg.Add(1)
	c.cfg.Env.Go(c.ticks)
	if c.cfg.Mesh != nil {
		c.Go(c.mesh)
	}
	return nil
}

// mesh is the goroutine that keeps the node connected to all others: started by Start, ended by Stop. Its attempts end with
// it.
func (c *Cluster) mesh() {
	RunMesh(c.ctx, c.mesher, MeshNode{
		Finder: c.cfg.Finder, Timeout: c.cfg.ConnectTimeout, IsUp: c.IsUp, Connect: c.Connect, Go: c.Go, Lost: c.lost,
		Lock: &c.meshing, Env: c.cfg.Env, Log: c.cfg.Log,
	})
}

// Context ends with the cluster.
func (c *Cluster) Context() context.Context { return c.ctx }

// Go runs f on a goroutine that Stop waits for.
func (c *Cluster) Go(f func()) {
	c.wg.Add(1)
	c.cfg.Env.Go(func() {
		defer c.wg.Done()
		f()
	})
}

// Leave notes the end of a reader.
func (c *Cluster) Leave() { c.wg.Done() }

// Fallbacks returns how often a less preferred protocol was used.
func (c *Cluster) Fallbacks() uint64 { return c.fallbacks.Load() }

// unlinkID numbers the ends of links.
func (c *Cluster) unlinkID() uint64 { return c.unlinks.Add(1) }

var errStopping = errors.New("this node is stopping")

// Drained reports whether everything queued for connected peers has been written.
func (c *Cluster) Drained() bool {
	return !slices.ContainsFunc(c.All(), func(p *Peer) bool { return p.IsUp() && !p.Box.Idle() })
}

// Stop ends all connections and waits for all goroutines.
func (c *Cluster) Stop() {
	c.cancel()
	if c.gone != nil {
		c.gone()
	}
	c.closeListeners()
	for _, p := range c.All() { // a peer that does not read is given a moment for the goodbye
		c.Go(func() { p.End(errStopping) })
	}
	c.wg.Wait()
}

// All returns the peers, by name.
func (c *Cluster) All() []*Peer {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.peers))
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b *Peer) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// newPeerLocked creates the peer with that name.
func (c *Cluster) newPeerLocked(name wire.Atom) *Peer {
	p := newPeer(c, name)
	c.peers[name] = p
	c.markLocked(p)
	return p
}

// Want returns the peer with the name, creating and connecting it if there is none; it may have to wait for a dial. first
// reports that a caller waits for the connection. Want returns nil if there can be no such peer: for the node itself, on a
// node that is stopping, and on one that is not distributed, whose cluster is nil.
func (c *Cluster) Want(name wire.Atom, first bool) *Peer {
	if c == nil || name == c.cfg.System.Name || name == "" {
		return nil
	}
	for {
		c.mu.Lock()
		p := c.peers[name]
		if p != nil && p.IsOver() {
			c.mu.Unlock()
			<-p.gone // all consequences of its end must be carried out first
			continue
		}
		a := limits.Later
		switch {
		case p == nil && c.ctx.Err() == nil:
			p = c.newPeerLocked(name)
			p.holds++ // until its attempt has ended
			a = c.dials.Ask(&p.dial, first || c.memory.HasBeenConnected(name), c.cfg.Env.Now())
		case p != nil && first:
			a = c.dials.Promote(&p.dial)
		}
		switch a {
		case limits.Now:
			c.wg.Add(1)
			c.cfg.Env.Go(func() { c.dialer(p) })
		case limits.Refused:
			p.holds--
		}
		c.mu.Unlock()
		if a == limits.Refused {
			p.fail(errManyDials)
		}
		return p
	}
}

// Get returns the peer with the name, or nil if there is none. It does not connect.
func (c *Cluster) Get(name wire.Atom) *Peer {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers[name]
}

// Reach is Want for the node of a PID.
func (c *Cluster) Reach(pid wire.PID) *Peer {
	if c == nil || c.cfg.System.Origin.Minted(pid) {
		return nil
	}
	origin := pid.Origin()
	if p := c.recent.Get(origin); p != nil && p.Box.Direct() { // so it is connected
		return p
	}
	p := c.Want(pid.Node(), false)
	if p != nil && p.Box.Direct() {
		if c.recent.Put(origin, p); p.IsOver() { // end may have run before Put
			c.recent.Forget(p)
		}
	}
	return p
}

var errManyDials = errors.New("too many outgoing connections are waiting to be made (limits.dials)")

// release removes p when its connection has ended and no attempt to connect it is left.
func (c *Cluster) release(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.IsOver() && c.dials.Withdraw(&p.dial) {
		p.holds--
	}
	if p.holds--; p.holds > 0 {
		return
	}
	if c.peers[p.Name] == p {
		delete(c.peers, p.Name)
	}
	delete(c.marks, p.mark)
	c.links.Give(p.place)
	close(p.gone)
}

// greater reports whether this node's name is greater than name.
func (c *Cluster) greater(name wire.Atom) bool { return c.cfg.Origin.NodeID().Name > name }

// adopt makes link the connection of its peer and replaces an older one: see package limits. k is nil if this node has
// dialled.
func (c *Cluster) adopt(link dist.Link, k *claim, place *limits.Place) {
	name := link.Peer().ID.Name
	for {
		c.mu.Lock()
		p := c.peers[name]
		if c.ctx.Err() != nil {
			c.links.Give(place)
			c.mu.Unlock()
			link.Close()
			if p != nil {
				p.fail(errStopping)
			}
			return
		}
		if p == nil {
			p = c.newPeerLocked(name)
		}
		c.mu.Unlock()
		if p.join(link, k, place) {
			return
		}
		if p.isAnothers(place.Visitor.Who) {
			c.cfg.Log.Warn("closed a connection", "peer", string(name), "error", errAnother)
			link.Close()
			c.giveBack(place)
			return
		}
		if k != nil && c.outlasts(p, k) {
			link.Close()
			c.giveBack(place)
			return
		}
		p.End(errReplaced)
		<-p.gone
	}
}

// isAnothers reports whether p is connected with another identity than who.
func (p *Peer) isAnothers(who rights.Identity) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isUp() && !p.Visitor.Who.Equal(who)
}

// outlasts reports whether p's link is kept in favour of that of k.
func (c *Cluster) outlasts(p *Peer, k *claim) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.standing(c.greater(p.Name), k.against).Outlasts(k.number)
}

// giveBack returns the place of a connection that has not become a peer's.
func (c *Cluster) giveBack(p *limits.Place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links.Give(p)
}

// ticks is the goroutine that keeps connections alive and detects dead ones: started by Start, ended by Stop.
func (c *Cluster) ticks() {
	defer c.wg.Done()
	ticks, stop := c.cfg.Env.NewTicker(c.cfg.TickTime / TicksPerTime)
	defer stop()
	looks, look := c.cfg.Env.NewTimer(c.cfg.Quota.LookEvery())
	defer looks.Stop()
	for {
		select {
		case <-ticks:
			for _, p := range c.All() {
				p.check()
			}
		case <-look:
			looks.Reset(c.lookAtPeers())
		case <-c.cfg.Quota.Looks():
			looks.Reset(c.lookAtPeers())
		case <-c.ctx.Done():
			return
		}
	}
}

// Limits returns the limits of connections, and their usage.
func (c *Cluster) Limits() []limits.Use {
	all, share := c.pending()
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.links.Limits(), all, share, c.dials.Limit())
}

// SetLimits changes the limits. Limits per connection apply to new connections, and nothing existing is removed: while usage
// exceeds a new limit, more is refused.
func (c *Cluster) SetLimits(l limits.Node) error {
	l, err := l.WithDefaults(c.cfg.TickTime / TicksPerTime)
	if err != nil {
		return err
	}
	most := l.Cluster
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return errStopping
	}
	c.limits.Store(&l)
	c.cfg.Quota.Set(l.Quota())
	for _, ln := range c.lns {
		ln.pending.SetMax(most.Pending, most.PendingPerSource)
	}
	c.links.SetMax(most.Connections, most.ConnectionsPerSource)
	next, late := c.dials.SetMax(most.Dials, c.cfg.Env.Now())
	for _, p := range next {
		c.wg.Add(1)
		c.cfg.Env.Go(func() { c.dialer(p) })
	}
	c.mu.Unlock()
	c.tooLate(late)
	c.cfg.Quota.Ask() // it may be time to look
	return nil
}

// Detached returns a peer that is connected by link, is in no map, and whose writer does not run: for tests of a Reader,
// which create it once.
func (c *Cluster) Detached(name wire.Atom, link dist.Link) *Peer {
	p := newPeer(c, name)
	p.link = link
	p.Box.Rest(link)
	c.wg.Add(1)
	return p
}
