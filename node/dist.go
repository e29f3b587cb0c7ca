package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/admission"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Distribution is what a node needs to be part of a cluster. Of its fields only
// Cookie has no default that works.
type Distribution struct {
	// Protocols are the ways to talk to other nodes, the preferred one first: of
	// those that a peer has, too. The last is the one that all nodes speak. Default:
	// the native protocol of this kind of node, then Erlang's.
	Protocols []dist.Protocol
	// Cookie is what other nodes must know, and what this one proves to know.
	Cookie string
	// Cookies gives other cookies for some peers: the one that they must know, and
	// the one that they want. ok false: Cookie. With an empty one there is no
	// connection.
	Cookies func(peer Atom) (in, out string, ok bool)
	// Listen is where connections come in: host:port, for the last of Protocols.
	// Default: the host of the node's name, on a port that the system chooses. "-":
	// nowhere.
	Listen string
	// Listeners is where those of other protocols come in, by the protocol's name.
	// Default: the host of Listen, on a port that the system chooses; nowhere if
	// Listen is "-".
	Listeners map[string]string
	// Finder finds other nodes and makes this one known. Default: [discovery.EPMD].
	Finder discovery.Finder
	// Mesh connects to all nodes that Finder lists, now and as they come. Default: to
	// none before somebody here uses it.
	Mesh *discovery.Mesh
	// Transport makes the connections. Default: dist.TCP. All nodes of a cluster
	// need the same.
	Transport dist.Transport
	// Published makes nodes() of other nodes show this one. It needs global, which
	// is not there yet: Start refuses it.
	Published bool
	// TickTime is how long a peer may be silent before it counts as gone; at least
	// 4 times in it something is sent. Default: 60 s, as in OTP. It must not be
	// longer than that of any peer.
	TickTime time.Duration
	// Queue is how many bytes of messages may wait for one peer until senders are
	// held up. Default: 1 MiB, as OTP's +zdbbl.
	Queue int
	// ConnectTimeout bounds the making of a connection. Default: 7 s.
	ConnectTimeout time.Duration
	// Awake is how long the reader of a connection busy-waits for the next message
	// before it blocks. It trades CPU for latency. A reader does so after a message that
	// has come alone, while most messages come within that time and other goroutines do
	// not need the core; one reader of a node at a time, and never on the only core that
	// the program may use, nor under a quota of processor time (cgroup). Default: 100 us;
	// negative: not at all.
	Awake time.Duration
	// Allow decides whether a peer may start a process or call a function by name.
	// It is asked for each way there is: spawns, rpc and erpc, the calls that go to rex,
	// children that a supervisor is asked to start, the operator's service, and what a
	// function that a peer calls is given to call (erlang:apply). The peer is the one over
	// whose connection the request has come, whatever its message says. What was refused
	// looks like what is not exported: undef. Default: what is exported is for all peers.
	Allow func(peer Atom, e wire.Export) bool
	// Limits bound what one connection can make this node hold.
	Limits dist.LinkLimits
	// Cluster bounds what all other nodes together can make it hold, and the share of
	// each.
	Cluster ClusterLimits
	// Grace is how long a broken connection may take to be made again between the
	// same two nodes without anything being lost or noticed: links and monitors
	// stay, messages arrive, there is no NodeDown. It takes a protocol that can, and
	// a peer that wants it, too; at most half of TickTime. Default: 0, Erlang's way:
	// the end of a connection is the end of all that went over it.
	Grace time.Duration
	// Types are Go types that cross to other nodes of this kind as themselves. Of the
	// default Protocols. Nil: none; of other Go values cross the terms that they stand
	// for.
	Types *Types
	// Compress is from how many bytes on messages are compressed between nodes of
	// this kind. Of the default Protocols. Default: 0, never.
	Compress int
}

const (
	defaultTickTime       = time.Minute
	minTickTime           = 4 * time.Millisecond
	defaultQueue          = 1 << 20
	defaultAwake          = 100 * time.Microsecond // a ball to the next machine and back takes about as long
	defaultConnectTimeout = 7 * time.Second
	ticksPerTime          = 4
	busyPause             = 20 * time.Millisecond // before the first further attempt
	drainTime             = time.Second           // for what waits when the node stops, at most
)

func (d *Distribution) validate(name Atom) error {
	switch {
	case d.Cookie == "" && d.Cookies == nil:
		return errors.New("node: Distribution.Cookie is empty: want the cookie that all nodes of the cluster share")
	case d.Published:
		return errors.New("node: Distribution.Published is not supported yet: a published node must take part in global")
	case d.TickTime < 0 || d.Queue < 0 || d.ConnectTimeout < 0:
		return errors.New("node: Distribution: TickTime, Queue and ConnectTimeout must not be negative")
	case d.Compress < 0:
		return fmt.Errorf("node: Distribution.Compress %d must not be negative", d.Compress)
	case d.Grace < 0:
		return fmt.Errorf("node: Distribution.Grace %v must not be negative", d.Grace)
	case 0 < d.TickTime && d.TickTime < minTickTime:
		return fmt.Errorf("node: Distribution.TickTime %v: want at least %v", d.TickTime, minTickTime)
	}
	if d.TickTime == 0 {
		d.TickTime = defaultTickTime
	}
	if d.Queue == 0 {
		d.Queue = defaultQueue
	}
	d.Awake = spinTime(d.Awake, runtime.NumCPU(), quotaOfCPU())
	if d.ConnectTimeout == 0 {
		d.ConnectTimeout = defaultConnectTimeout
	}
	if err := d.Cluster.fill(d.TickTime); err != nil {
		return err
	}
	if d.Grace > d.TickTime/2 {
		return fmt.Errorf("node: Distribution.Grace %v: want at most half of TickTime, %v", d.Grace, d.TickTime)
	}
	if d.Listen == "" {
		_, host, _ := strings.Cut(string(name), "@")
		d.Listen = net.JoinHostPort(host, "0")
	}
	d.defaults()
	if err := d.validateMesh(); err != nil {
		return err
	}
	return d.validateListeners()
}

// dist is the distributed half of a node.
type distribution struct {
	n       *Node
	cfg     Distribution
	kernel  atomic.Pointer[PID] // of net_kernel
	unlinks atomic.Uint64
	ctx     context.Context // ends with the node
	cancel  context.CancelFunc
	wg      sync.WaitGroup // of all goroutines of the distribution
	lns     []*listener
	gone    func() // makes it unknown; nil: it is
	ups     ups
	relist  news // the list of nodes has changed
	lost    news // a connection has ended

	quota     *quota.Quota
	spins     atomic.Bool   // a reader spins
	fallbacks atomic.Uint64 // see fallsBack

	recent [recentPeers]atomic.Pointer[recent] // to save a look into peers

	mu     sync.Mutex
	peers  map[Atom]*peer
	claims uint64       // so far
	proven map[Atom]int // incoming handshakes under way whose peer has proved itself
	links  *admission.Places
	dials  *admission.Dials[peer]
	memory admission.Memory
}

// startDist makes n part of a cluster.
func (n *Node) startDist(cfg Distribution) error {
	if err := cfg.validate(n.cfg.Name); err != nil {
		return err
	}
	limits := cfg.Cluster
	d := &distribution{n: n, cfg: cfg, peers: make(map[Atom]*peer), proven: make(map[Atom]int),
		links:  admission.NewPlaces(limits.Connections, limits.ConnectionsPerSource),
		dials:  admission.NewDials[peer](limits.Dials, cfg.ConnectTimeout),
		relist: make(news, 1), lost: make(news, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.quota = newQuota(cfg.Cluster, cfg.Limits.WithDefaults().Message)
	n.dist = d
	if err := n.startKernel(); err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	d.wg.Add(1)
	n.env.Go(d.ticks)
	if d.cfg.Mesh != nil {
		d.wg.Add(1)
		n.env.Go(d.mesh)
	}
	return nil
}

var errStopping = errors.New("this node is stopping")

// stop ends all connections and waits for their goroutines. What waits to be
// written has a moment for it: the exit signals of the processes that the node
// has ended. A peer that reads too slowly sees noconnection instead.
func (d *distribution) stop() {
	d.n.await(d.n.env.Now().Add(min(drainTime, d.n.cfg.StopTimeout)), func() bool {
		return !slices.ContainsFunc(d.all(), func(p *peer) bool { return p.isUp() && !p.box.Idle() })
	})
	d.cancel()
	if d.gone != nil {
		d.gone()
	}
	d.closeListeners()
	for _, p := range d.all() {
		p.end(errStopping)
	}
	d.wg.Wait()
}

func (d *distribution) all() []*peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*peer, 0, len(d.peers))
	for _, p := range d.peers {
		all = append(all, p)
	}
	return all
}

// get returns the peer with the name, nil: there is none, and none is wanted.
func (d *distribution) get(name Atom) *peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peers[name]
}

// reach returns the peer with the name; if there is none, it is being connected
// from now on, or waits in d.dials.
func (d *distribution) reach(name Atom) *peer { return d.want(name, false) }

// want is reach; first: somebody waits for the connection.
func (d *distribution) want(name Atom, first bool) *peer {
	for {
		d.mu.Lock()
		p := d.peers[name]
		if p != nil && p.isOver() {
			d.mu.Unlock()
			<-p.gone // all that it stood for here must be over before
			continue
		}
		a := admission.Later
		switch {
		case p == nil && d.ctx.Err() == nil:
			p = newPeer(d.n, name)
			d.peers[name] = p
			p.holds++ // until its attempt is over
			a = d.dials.Ask(&p.dial, first || d.memory.HasBeenConnected(name), d.n.env.Now())
		case p != nil && first:
			a = d.dials.Promote(&p.dial)
		}
		switch a {
		case admission.Now:
			d.wg.Add(1)
			d.n.env.Go(func() { d.dialer(p) })
		case admission.Refused:
			p.holds--
		}
		d.mu.Unlock()
		if a == admission.Refused {
			p.fail(errManyDials)
		}
		return p
	}
}

var errManyDials = errors.New("too many outgoing connections are waiting to be made (limits.dials)")

func (p *peer) isOver() bool { return p.ended.Load() }

// release takes p out when it is over and no attempt to connect it is left.
func (d *distribution) release(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.isOver() && d.dials.Withdraw(&p.dial) {
		p.holds--
	}
	if p.holds--; p.holds > 0 {
		return
	}
	if d.peers[p.name] == p {
		delete(d.peers, p.name)
	}
	d.links.Give(p.place)
	close(p.gone)
}

// handshake is what the node brings into one.
func (d *distribution) handshake(peer Atom, admit func(wire.NodeID) dist.Verdict) dist.Handshake {
	return dist.Handshake{
		Local: d.n.origin.NodeID(), Hidden: !d.cfg.Published, Peer: peer, Limits: d.cfg.Limits,
		Cookies: d.cookies,
		Admit:   admit,
		Grace:   d.cfg.Grace,
		Silence: d.cfg.TickTime / 2,
		Budget:  func(Atom) dist.Budget { return d.quota.NewBudget() },
		Insist: func(id wire.NodeID) bool {
			return d.lacks(id.Name)
		},
	}
}

// lacks reports whether this node has no link to another and is not about to get
// one from there. If it is, that one is what the other takes for alive.
func (d *distribution) lacks(name Atom) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers[name]
	return d.proven[name] == 0 && (p == nil || !p.isUp())
}

// cookies returns what peer must know and what it wants.
func (d *distribution) cookies(peer Atom) (in, out string) {
	if d.cfg.Cookies != nil {
		if in, out, ok := d.cfg.Cookies(peer); ok {
			return in, out
		}
	}
	return d.cfg.Cookie, d.cfg.Cookie
}

// claim is who a node that connects says it is.
type claim struct {
	name    Atom
	from    netip.Prefix
	number  uint64    // in order of arrival: a peer that comes again knows that what it has made before is dead
	against dist.Link // that there was when it came; nil: none

	// Once it is proved.
	place *admission.Place
}

// admit decides about a node that wants to connect, and may be anybody: it has proved
// nothing yet. So nothing is changed on its account that others could see.
func (d *distribution) admit(id wire.NodeID, from netip.Prefix) (c *claim, verdict dist.Verdict, why error) {
	if in, out := d.cookies(id.Name); id.Name == d.n.cfg.Name || in == "" || out == "" {
		return nil, dist.NotAllowed, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claims++
	c = &claim{name: id.Name, from: from, number: d.claims}
	p := d.peers[id.Name]
	if p != nil && p.isUp() {
		c.against = p.link
		return c, dist.Alive, nil
	}
	if !p.hasPlace() {
		if err := cmp.Or(d.n.shed.Room(d.n.env.Now()), d.links.Room(from)); err != nil {
			return c, dist.Full, err
		}
	}
	switch {
	case p == nil || p.named == nil:
		verdict = dist.Welcome
	case d.n.cfg.Name > id.Name:
		verdict = dist.Busy
	default:
		verdict = dist.Simultaneous
	}
	return c, verdict, nil
}

// prove decides about a node that has proved who it is. If it may have the connection,
// settled is called when the handshake has come to its end.
//
// Of two connections that are made at the same time, that which the greater name has
// dialled stays, on both sides. Once this node has said its name on its own, a peer of
// OTP with a smaller name gives up the other: so that one waits here for the outcome.
func (d *distribution) prove(ctx context.Context, c *claim) error {
	for {
		d.mu.Lock()
		p := d.peers[c.name]
		up := p != nil && p.isUp()
		if !up && p != nil && p.named != nil && d.n.cfg.Name > c.name {
			named := p.named
			d.mu.Unlock()
			select {
			case <-named:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		defer d.mu.Unlock()
		if up && p.outlasts(c) {
			return fmt.Errorf("%w: a newer connection to this peer exists", dist.ErrBusy)
		}
		replaces := p.hasPlace()
		place, err := d.links.Take(c.from, replaces)
		if err == nil && !replaces {
			if err = d.n.shed.Take(d.n.env.Now()); err != nil {
				d.links.Give(place)
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", dist.ErrNotAllowed, err)
		}
		c.place = place
		d.proven[c.name]++
		return nil
	}
}

// settled is the end of a handshake that prove has let go on.
func (d *distribution) settled(c *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proven[c.name]--; d.proven[c.name] == 0 {
		delete(d.proven, c.name)
	}
}

// giveBack gives the place of a connection back that has not become a peer's.
func (d *distribution) giveBack(p *admission.Place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.links.Give(p)
}

// beginDial is called before this node says its name to p on a connection that it has
// made. endDial is called when the attempt is over.
func (d *distribution) beginDial(p *peer) (*admission.Place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proven[p.name] > 0 || p.isUp() {
		return nil, fmt.Errorf("%w: the peer has already connected", dist.ErrBusy)
	}
	place, err := d.links.Take(netip.Prefix{}, false)
	if err == nil {
		p.named = make(chan struct{})
	}
	return place, err
}

func (d *distribution) endDial(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.named != nil {
		close(p.named)
		p.named = nil
	}
}

// isComing reports whether the peer has proved itself on a connection that it has made,
// and that has not taken its place yet.
func (d *distribution) isComing(name Atom) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proven[name] > 0
}

// isUp reports whether p is connected.
func (p *peer) isUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil && !p.over
}

// hasPlace reports whether p is connected, or gives the place of its connection back soon:
// the next connection of the same node replaces it, and is not one more. p may be nil.
func (p *peer) hasPlace() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil
}

// dialer is a goroutine that connects p, and then the next ones of d.dials: started by
// want, ended by itself, waited for by stop. There are Cluster.Dials of them at most.
func (d *distribution) dialer(p *peer) {
	defer d.wg.Done()
	for p != nil {
		d.connect(p)
		p = d.next(p)
	}
}

// next returns the peer to be dialled after p; nil: none.
func (d *distribution) next(p *peer) *peer {
	d.mu.Lock()
	next, late := d.dials.Done(&p.dial, d.n.env.Now())
	d.mu.Unlock()
	for _, q := range late {
		q.fail(fmt.Errorf("%w: this one waited %v", errManyDials, d.cfg.ConnectTimeout))
		d.release(q)
	}
	return next
}

// connect makes an attempt to connect p, for ConnectTimeout.
func (d *distribution) connect(p *peer) {
	ctx, cancel := d.n.env.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	d.n.env.Go(func() { // until p is connected in another way, or over; ends with ctx at the latest
		select {
		case <-p.ready:
			cancel()
		case <-ctx.Done():
		}
	})
	link, place, err := d.dial(ctx, p)
	// If the peer is connecting by itself there is only to wait; but that may fail.
	for pause := busyPause; err != nil && (errors.Is(err, dist.ErrBusy) || d.isComing(p.name)) && ctx.Err() == nil; pause *= 2 {
		select {
		case <-p.ready:
		case <-ctx.Done():
		case <-d.n.env.After(pause):
			link, place, err = d.dial(ctx, p)
		}
	}
	if err == nil && link.Peer().ID.Name != p.name {
		link.Close()
		d.giveBack(place)
		err = fmt.Errorf("node %s answered instead", link.Peer().ID.Name)
	}
	joined := err == nil && p.join(link, nil, place)
	d.endDial(p) // those that wait for the outcome see it
	d.release(p) // before adopt waits for p to be gone
	switch {
	case joined:
	case err != nil:
		p.fail(err) // unless the peer's own attempt was faster
	case p.isOver() || d.n.cfg.Name < p.name: // of two links, that of the greater name stays, on both sides
		link.Close()
		d.giveBack(place)
	default:
		d.adopt(link, nil, place)
	}
}

// adopt makes a link the connection of its peer and replaces an older one: a peer that
// connects anew knows that the old connection is dead. Of two simultaneous connections
// the one that the node with the greater name has dialled wins, on both sides. c is nil
// if this node has dialled.
func (d *distribution) adopt(link dist.Link, c *claim, place *admission.Place) {
	id := link.Peer().ID
	for {
		d.mu.Lock()
		p := d.peers[id.Name]
		if d.ctx.Err() != nil {
			d.links.Give(place)
			d.mu.Unlock()
			link.Close()
			if p != nil {
				p.fail(errStopping)
			}
			return
		}
		if p == nil {
			p = newPeer(d.n, id.Name)
			d.peers[id.Name] = p
		}
		d.mu.Unlock()
		if p.join(link, c, place) {
			return
		}
		if c != nil && p.outlasts(c) {
			link.Close()
			d.giveBack(place)
			return
		}
		p.end(errors.New("replaced by a new connection from the peer"))
		<-p.gone
	}
}

// outlasts reports whether p's link stays, and not that of c: the peer has come again
// since, or this node has dialled meanwhile and has the greater name.
func (p *peer) outlasts(c *claim) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over || p.link == nil:
		return false
	case p.visit > 0:
		return p.visit > c.number
	}
	return p.link != c.against && p.n.cfg.Name > p.name
}

// join gives p its link. False: it has had one, or is over.
func (p *peer) join(link dist.Link, c *claim, place *admission.Place) bool {
	if !p.joined(link, c, place) {
		return false
	}
	p.n.dist.linked(p, link.Peer().Protocol)
	p.n.cfg.Log.Info("node up", "peer", string(p.name), "protocol", link.Peer().Protocol, "addr", link.Peer().Addr)
	return true
}

func (p *peer) joined(link dist.Link, c *claim, place *admission.Place) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.link != nil {
		return false
	}
	p.link, p.place = link, place
	if c != nil {
		p.visit = c.number
	}
	p.flow.begin(p.n.env.Now())
	p.n.dist.ups.tell(NodeUp{p.name, link.Peer().Hidden}) // before anything comes from it
	p.n.dist.wg.Add(3)
	p.n.env.Go(p.write)
	p.n.env.Go(p.read)
	p.n.env.Go(p.askRelease)
	close(p.ready)
	return true
}

// ticks is the goroutine that keeps connections alive and finds out which are
// not: started by startDist, ended by stop.
func (d *distribution) ticks() {
	defer d.wg.Done()
	ticks, stop := d.n.env.NewTicker(d.cfg.TickTime / ticksPerTime)
	defer stop()
	looks, look := d.n.env.NewTimer(d.quota.LookEvery())
	defer looks.Stop()
	for {
		select {
		case <-ticks:
			for _, p := range d.all() {
				p.check()
			}
		case <-look:
			looks.Reset(d.lookAtPeers())
		case <-d.quota.Looks():
			looks.Reset(d.lookAtPeers())
		case <-d.ctx.Done():
			return
		}
	}
}

// check looks for signs of life, and gives one.
func (p *peer) check() {
	p.mu.Lock()
	link := p.link
	p.mu.Unlock()
	if link == nil {
		return
	}
	in, out := link.Traffic()
	if in != p.seenIn {
		p.silent = 0
		p.flow.life.Store(p.n.env.Now().UnixNano())
	} else if p.silent++; p.silent >= ticksPerTime {
		p.end(fmt.Errorf("nothing received from the peer for %v: net_tick_timeout", p.n.dist.cfg.TickTime))
		return
	}
	if out == p.seenOut || p.silent > 0 {
		p.box.RequestTick()
	}
	p.seenIn, p.seenOut = in, out
}
