package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/wire"
)

// Distribution is what a node needs to be part of a cluster. Of its fields only
// Cookie has no default that works.
type Distribution struct {
	// Protocols are the ways to talk to other nodes, the preferred one first: of
	// those that a peer has, too. The last is the one that all nodes speak. Default:
	// the native protocol of this kind of node, then Erlang's.
	Protocols []wire.Protocol
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
	// Finder finds other nodes and makes this one known. Default: EPMD.
	Finder Finder
	// Mesh connects to all nodes that Finder lists, now and as they come. Default: to
	// none before somebody here uses it.
	Mesh *Mesh
	// Transport makes the connections. Default: wire.TCP. All nodes of a cluster
	// need the same.
	Transport wire.Transport
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
	// Awake is how long the reader of a connection stays awake for the next message
	// after one that has come alone: up to so much of a core's time for what is answered
	// many times faster then. It does so only while most of the messages come within
	// that time, while other goroutines do not need the core, one reader of a node at a
	// time, and never on the only core that the program may use. Default: 100 us;
	// negative: not at all.
	Awake time.Duration
	// Allow decides whether a peer may start a process or call a function by name.
	// Default: what is exported is for all peers. With it, calls by way of rex
	// (rpc:block_call, C nodes) are refused, for a message cannot prove its peer.
	Allow func(peer Atom, e wire.Export) bool
	// Limits bound what one connection can make this node hold.
	Limits wire.LinkLimits
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
	maxHandshakes         = 1024                  // of incoming connections at a time
	drainTime             = time.Second           // for what waits when the node stops, at most
)

func (d *Distribution) validate(name Atom) error {
	switch {
	case d.Cookie == "" && d.Cookies == nil:
		return errors.New("node: Distribution.Cookie is empty: all nodes of a cluster must know the same")
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
	if d.Awake == 0 {
		d.Awake = defaultAwake
	}
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
	if d.Mesh != nil {
		mesh := *d.Mesh // the caller's stays as it is
		d.Mesh = &mesh
		if err := d.Mesh.validate(d.Finder); err != nil {
			return err
		}
	}
	return d.validateListeners()
}

// dist is the distributed half of a node.
type dist struct {
	n       *Node
	cfg     Distribution
	kernel  PID // of net_kernel
	unlinks atomic.Uint64
	ctx     context.Context // ends with the node
	cancel  context.CancelFunc
	wg      sync.WaitGroup // of all goroutines of the distribution
	lns     []listener
	gone    func() // makes it unknown; nil: it is
	ups     ups
	relist  news // the list of nodes has changed
	lost    news // a connection has ended

	awake  atomic.Bool   // a reader waits busily
	shakes chan struct{} // as many as incoming connections whose handshake is not over

	recent [recentPeers]atomic.Pointer[recent] // to save a look into peers

	mu      sync.Mutex
	peers   map[Atom]*peer
	visits  uint64       // so far
	shaking map[Atom]int // handshakes under way with those who say they are that node and have been let in so far
}

// startDist makes n part of a cluster.
func (n *Node) startDist(cfg Distribution) error {
	if err := cfg.validate(n.cfg.Name); err != nil {
		return err
	}
	d := &dist{n: n, cfg: cfg, peers: make(map[Atom]*peer), shaking: make(map[Atom]int), shakes: make(chan struct{}, maxHandshakes),
		relist: make(news, 1), lost: make(news, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	n.dist = d
	if err := n.startKernel(); err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	d.wg.Add(1)
	go d.ticks()
	if d.cfg.Mesh != nil {
		d.wg.Add(1)
		go d.mesh()
	}
	return nil
}

var errStopping = errors.New("this node stops")

// stop ends all connections and waits for their goroutines. What waits to be
// written has a moment for it: the exit signals of the processes that the node
// has ended. A peer that reads too slowly sees noconnection instead.
func (d *dist) stop() {
	await(time.Now().Add(min(drainTime, d.n.cfg.StopTimeout)), func() bool {
		return !slices.ContainsFunc(d.all(), func(p *peer) bool { return p.isUp() && !p.box.idle() })
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

func (d *dist) all() []*peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*peer, 0, len(d.peers))
	for _, p := range d.peers {
		all = append(all, p)
	}
	return all
}

// get returns the peer with the name, nil: there is none, and none is wanted.
func (d *dist) get(name Atom) *peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peers[name]
}

// reach returns the peer with the name; if there is none, it is being connected
// from now on.
func (d *dist) reach(name Atom) *peer {
	for {
		d.mu.Lock()
		p := d.peers[name]
		if p != nil && p.isOver() {
			d.mu.Unlock()
			<-p.gone // all that it stood for here must be over before
			continue
		}
		if p == nil && d.ctx.Err() == nil {
			p = newPeer(d.n, name)
			d.peers[name] = p
			p.dialing = true
			p.holds++
			d.wg.Add(1)
			go d.connect(p)
		}
		if p != nil {
			p.wanted = true
		}
		d.mu.Unlock()
		return p
	}
}

func (p *peer) isOver() bool { return p.ended.Load() }

// release takes p out when it is over and no attempt to connect it is left.
func (d *dist) release(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.holds--; p.holds > 0 {
		return
	}
	if d.peers[p.name] == p {
		delete(d.peers, p.name)
	}
	close(p.gone)
}

// handshake is what the node brings into one.
func (d *dist) handshake(peer Atom, admit func(wire.NodeID) wire.Verdict) wire.Handshake {
	return wire.Handshake{
		Local: d.n.origin.NodeID(), Hidden: !d.cfg.Published, Peer: peer, Limits: d.cfg.Limits,
		Cookies: d.cookies,
		Admit:   admit,
		Grace:   d.cfg.Grace,
		Silence: d.cfg.TickTime / 2,
		Insist: func(id wire.NodeID) bool {
			return d.lacks(id.Name)
		},
	}
}

// lacks reports whether this node has no link to another and is not about to get
// one from there. If it is, that one is what the other takes for alive.
func (d *dist) lacks(name Atom) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers[name]
	return d.shaking[name] == 0 && (p == nil || !p.isUp())
}

// cookies returns what peer must know and what it wants.
func (d *dist) cookies(peer Atom) (in, out string) {
	if d.cfg.Cookies != nil {
		if in, out, ok := d.cfg.Cookies(peer); ok {
			return in, out
		}
	}
	return d.cfg.Cookie, d.cfg.Cookie
}

// visitor is a node that wants to connect.
type visitor struct {
	name    Atom
	number  uint64    // of the visit: a peer that comes again knows that what it has made before is dead
	mine    *peer     // that has been made for it
	against wire.Link // that there was when it came; nil: none
}

// admit decides about a node that wants to connect. It has proved nothing yet, so
// nothing is changed but this: from now on the peer, if there was none, is known
// as one that is being connected, so that this node does not dial it at the same
// time. Who gets a visitor calls farewell when the handshake has come to its end.
func (d *dist) admit(id wire.NodeID) (v *visitor, verdict wire.Verdict) {
	if in, out := d.cookies(id.Name); id.Name == d.n.cfg.Name || in == "" || out == "" {
		return nil, wire.NotAllowed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v = &visitor{name: id.Name}
	p := d.peers[id.Name]
	switch {
	case p == nil:
		v.mine = newPeer(d.n, id.Name)
		d.peers[id.Name] = v.mine
		verdict = wire.Welcome
	case p.isUp():
		v.against, verdict = p.link, wire.Alive
	case p.dialing && d.n.cfg.Name > id.Name:
		return nil, wire.Busy
	case p.dialing:
		verdict = wire.Simultaneous
	default:
		verdict = wire.Welcome
	}
	d.visits++
	v.number = d.visits
	d.shaking[id.Name]++
	return v, verdict
}

func (d *dist) farewell(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shaking[v.name]--; d.shaking[v.name] == 0 {
		delete(d.shaking, v.name)
	}
}

// isUp reports whether p is connected.
func (p *peer) isUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil && !p.over
}

// connect is the goroutine that connects p: started by reach, ended by itself,
// waited for by stop.
func (d *dist) connect(p *peer) {
	defer d.wg.Done()
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	go func() { // until p is connected in another way, or over; ends with ctx at the latest
		select {
		case <-p.ready:
			cancel()
		case <-ctx.Done():
		}
	}()
	link, err := d.dial(ctx, p.name)
	// If the peer is connecting by itself there is only to wait; but that may fail.
	for pause := busyPause; errors.Is(err, wire.ErrBusy) && ctx.Err() == nil; pause *= 2 {
		select {
		case <-p.ready:
		case <-ctx.Done():
		case <-time.After(pause):
			link, err = d.dial(ctx, p.name)
		}
	}
	if err == nil && link.Peer().ID.Name != p.name {
		link.Close()
		err = fmt.Errorf("the node that answers is %s", link.Peer().ID.Name)
	}
	if err == nil && p.join(link, nil) {
		d.release(p)
		return
	}
	d.release(p) // before adopt waits for p to be gone
	switch {
	case err != nil:
		p.fail(err) // unless the peer's own attempt was faster
	case p.isOver() || d.n.cfg.Name < p.name: // of two links, that of the greater name stays, on both sides
		link.Close()
	default:
		d.adopt(link, nil)
	}
}

// adopt makes a link the connection to its peer, in place of one that the peer has
// had: there is a new one, so the peer knows that the old one is dead. Of two that
// have been made at the same time, that which the greater name has dialled stays,
// on both sides. who is nil if this node has dialled.
func (d *dist) adopt(link wire.Link, who *visitor) {
	id := link.Peer().ID
	for {
		d.mu.Lock()
		p := d.peers[id.Name]
		if d.ctx.Err() != nil {
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
		if p.join(link, who) {
			return
		}
		if who != nil && p.outlasts(who) {
			link.Close()
			return
		}
		p.end(errors.New("the peer has made a new connection"))
		<-p.gone
	}
}

// outlasts reports whether p's link stays, and not the one that who has come with:
// the peer has come again since, or this node has dialled meanwhile and has the
// greater name.
func (p *peer) outlasts(who *visitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over || p.link == nil:
		return false
	case p.visit > 0:
		return p.visit > who.number
	}
	return p.link != who.against && p.n.cfg.Name > p.name
}

// join gives p its link. False: it has had one, or is over.
func (p *peer) join(link wire.Link, who *visitor) bool {
	if !p.joined(link, who) {
		return false
	}
	p.n.cfg.Log.Info("node up", "peer", string(p.name), "protocol", link.Peer().Protocol, "addr", link.Peer().Addr)
	return true
}

func (p *peer) joined(link wire.Link, who *visitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.link != nil {
		return false
	}
	p.link = link
	if who != nil {
		p.visit = who.number
	}
	p.flow.begin()
	p.n.dist.ups.tell(NodeUp{p.name, link.Peer().Hidden}) // before anything comes from it
	p.n.dist.wg.Add(3)
	go p.write()
	go p.read()
	go p.askRelease()
	close(p.ready)
	return true
}

// ticks is the goroutine that keeps connections alive and finds out which are
// not: started by startDist, ended by stop.
func (d *dist) ticks() {
	defer d.wg.Done()
	t := time.NewTicker(d.cfg.TickTime / ticksPerTime)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			for _, p := range d.all() {
				p.check()
			}
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
		p.flow.life.Store(time.Now().UnixNano())
	} else if p.silent++; p.silent >= ticksPerTime {
		p.end(fmt.Errorf("nothing has come from it for %v: net_tick_timeout", p.n.dist.cfg.TickTime))
		return
	}
	if out == p.seenOut || p.silent > 0 {
		p.box.remind()
	}
	p.seenIn, p.seenOut = in, out
}
