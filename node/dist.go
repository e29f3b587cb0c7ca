package node

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/discovery"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Distribution is what a node needs to be part of a cluster. Only Cookie has no default that works.
type Distribution struct {
	// Cookie is what other nodes must know, and what this one proves to know. Access says more about who may connect.
	Cookie string
	Access Access
	// Finder finds other nodes and makes this one known. Default: [discovery.EPMD].
	Finder discovery.Finder
	// Mesh connects to all nodes that Finder lists, now and as they come. Default: to none.
	Mesh *discovery.Mesh
	// Listen is the address to listen on: host:port, for the last of Protocols. Default: the host of the node's name,
	// on a port that the system chooses. "-": nowhere.
	Listen string
	// Listeners are the addresses for the other protocols, by the protocol's name. Default: the host of Listen, on a
	// port that the system chooses; nowhere if Listen is "-".
	Listeners map[string]string
	// Protocols are the ways to talk to other nodes. The first that a peer has, too, is used. The last is the one that
	// all nodes speak. Default: the native protocol of this kind of node, then Erlang's.
	Protocols []dist.Protocol
	// Transport makes the connections. Default: dist.TCP. All nodes of a cluster need the same.
	Transport dist.Transport
	Timing    Timing
	Limits    Limits
	// Types are the Go types and errors that cross to other nodes as themselves, with the default Protocols. Nil: those
	// of [RegisterTypes]. Between nodes of this kind other Go values are refused, unless their types say which terms
	// they stand for, by a method Term or tags of package etf.
	Types *Types
	// Compress is how long messages between nodes of this kind must be, in bytes, to be compressed. Of the default
	// Protocols. Default: 0, never.
	Compress int
	// Published makes nodes() of other nodes show this one: set it to global.Join. The node then takes part in global,
	// as each visible OTP node does: it connects to all visible nodes of the cluster, and shares names and locks with
	// them. Default: nil, a hidden node.
	Published Publisher
	// NamedBy is a node that gives this one its name, as for an erl with -name undefined. Config.Name is then
	// undefined@HOST. Start connects to that node by Erlang's protocol, and this node listens nowhere. It keeps the
	// name as long as that connection lasts: when it ends the node stops, and [Node.Err] says why. Default: the node
	// has a name.
	NamedBy Atom
	// Client makes this node a tool that asks something, not a member of the clusters that it connects to. Other nodes
	// of this kind do not list, count or announce it as a peer. Its rights stay the same.
	Client bool
}

// Access is who may connect, and what they may do then. With the zero value every peer that knows [Distribution].Cookie may do
// everything.
type Access struct {
	// Cookies gives other cookies for some peers: in is the one that the peer must know, out the one that it wants. ok
	// false: Distribution.Cookie. An empty cookie allows no connection.
	Cookies func(peer Atom) (in, out string, ok bool)
	// OldCookies gives further cookies that are accepted from a peer, and tried, while a cluster changes its cookie
	// node by node. Existing connections stay as they are. Default: none.
	OldCookies func(peer Atom) []string
	// Allow decides whether a peer may start a process or call a function by name. It is asked for each way there is:
	// spawns, rpc and erpc, calls to rex, children that a supervisor is asked to start, the operator's service, and
	// what a function that a peer calls is given to call (erlang:apply). The peer is the one whose connection the
	// request came over, whatever its message says. What is refused looks like what is not exported: undef. Default:
	// all peers may use what is exported.
	Allow func(peer Atom, e wire.Export) bool
	// Rights say what each peer may do, besides Allow. Default: every peer that knows the cookie may do everything.
	Rights *rights.Policy
}

// Timing is how long a node waits for its peers. The zero value of a field is its default.
type Timing struct {
	// TickTime is how long a peer may be silent before it counts as gone; within it something is sent at least 4 times.
	// Default: 60 s, as in OTP. It must not be longer than that of any peer.
	TickTime time.Duration
	// ConnectTimeout bounds the making of a connection. Default: 7 s.
	ConnectTimeout time.Duration
	// Grace is how long the same two nodes may take to restore a broken connection without losing or noticing anything:
	// links and monitors stay, messages arrive, there is no NodeDown. The protocol must support it, and the peer must
	// want it, too; at most half of TickTime. Default: 0, Erlang's way: all that went over a connection ends with it.
	Grace time.Duration
	// Awake is how long the reader of a connection busy-waits for the next message before it blocks. It trades CPU for
	// latency. A reader does so after a message that came alone, while most messages come within that time and other
	// goroutines do not need the core. Only one reader of a node does so at a time, and never on the only core that the
	// program may use, nor under a quota of processor time (cgroup). Default: 100 us; negative: not at all.
	Awake time.Duration
}

// A Publisher starts what a published node offers to others: see [Distribution].Published. Package global has it.
type Publisher interface {
	Publish(k process.Key, n *Node) error
}

// drainTime bounds the last writes when the node stops.
const drainTime = time.Second

func (d *Distribution) validate(name Atom) error {
	switch {
	case d.Cookie == "" && d.Access.Cookies == nil:
		return errors.New("node: Distribution.Cookie is empty: want the cookie that all nodes of the cluster share")
	case d.NamedBy != "" && (d.Published != nil || d.Mesh != nil || d.Listen != "" && d.Listen != "-"):
		return errors.New("node: Distribution.NamedBy: such a node is not Published, has no Mesh, and listens nowhere")
	}
	one, err := limits.Connection{
		TickTime: d.Timing.TickTime, ConnectTimeout: d.Timing.ConnectTimeout, Grace: d.Timing.Grace,
		Queue: d.Limits.Queue, Compress: d.Compress,
	}.WithDefaults()
	if err != nil {
		return err
	}
	d.Timing.TickTime, d.Timing.ConnectTimeout, d.Limits.Queue = one.TickTime, one.ConnectTimeout, one.Queue
	d.Timing.Awake = peers.SpinTime(d.Timing.Awake, runtime.NumCPU(), peers.QuotaOfCPU())
	cluster, err := limits.Cluster(d.Limits.Cluster).WithDefaults(d.Timing.TickTime / peers.TicksPerTime)
	if err != nil {
		return err
	}
	d.Limits.Cluster = ClusterLimits(cluster)
	if d.NamedBy != "" {
		d.Listen = "-"
	}
	if d.Listen == "" {
		_, host, _ := strings.Cut(string(name), "@")
		d.Listen = net.JoinHostPort(host, "0")
	}
	if _, host, _ := strings.Cut(string(name), "@"); d.Finder == nil && d.Mesh != nil {
		d.Finder = &discovery.EPMD{Hosts: []string{host}}
	}
	d.defaults()
	if e, ok := d.Finder.(*discovery.EPMD); ok && d.Mesh != nil && len(e.Hosts) == 0 {
		return errors.New("node: Distribution.Mesh connects to the nodes that Finder lists, and a discovery.EPMD without Hosts " +
			"lists none")
	}
	if d.Mesh != nil {
		filled, err := peers.MeshConfig(*d.Mesh).For(d.Finder)
		if err != nil {
			return err
		}
		d.Mesh = new(discovery.Mesh(filled)) // the caller's stays as it is
	}
	return d.addresses().Check()
}

// distribution is the distributed half of a node.
type distribution struct {
	*peers.Cluster
	n      *Node
	cfg    Distribution
	kernel atomic.Pointer[PID] // of net_kernel
}

// startDist makes n part of a cluster. named is where its name comes from; nil: it has one of its own.
func (n *Node) startDist(cfg Distribution, named *peers.Named) error {
	d, peersConfig, err := n.newDist(cfg)
	if err != nil {
		return err
	}
	if named != nil {
		peersConfig.Quota = named.Quota
	}
	n.sys.Values, n.sys.Rights = d.cfg.Types.codec(), cfg.Access.Rights
	d.Cluster = peers.NewCluster(peersConfig)
	n.dist, n.peers, n.types = d, d.Cluster, d.cfg.Types
	n.sys.Remotes = peers.Remotes{Cluster: d.Cluster}
	err = n.startKernel()
	if err == nil && cfg.Published != nil {
		err = cfg.Published.Publish(process.Key{}, n)
	}
	if err == nil {
		err = d.Start()
	}
	if err == nil && named != nil {
		err = d.Join(named)
	}
	return err
}

// askForName gets a name from cfg.NamedBy.
func (n *Node) askForName(cfg Distribution) (*peers.Named, error) {
	if !strings.HasPrefix(string(n.cfg.Name), "undefined@") {
		return nil, fmt.Errorf("node: Config.Name %q: want undefined@HOST where Distribution.NamedBy gives the name", n.cfg.Name)
	}
	_, peersConfig, err := n.newDist(cfg)
	if err != nil {
		return nil, err
	}
	peersConfig.Origin = wire.NewOrigin(wire.NodeID{Name: n.cfg.Name, Creation: n.cfg.Creation})
	named, err := peers.AskForName(peersConfig, cfg.NamedBy)
	if err == nil {
		n.cfg.Name, n.cfg.Creation = named.ID.Name, named.ID.Creation
	}
	return named, err
}

// newDist makes the distributed half of a node, and what its cluster needs.
func (n *Node) newDist(cfg Distribution) (*distribution, peers.ClusterConfig, error) {
	if err := cfg.validate(n.cfg.Name); err != nil {
		return nil, peers.ClusterConfig{}, err
	}
	d := &distribution{n: n, cfg: cfg}
	most := limits.Node{Queue: cfg.Limits.Queue, Link: cfg.Limits.Link, Cluster: limits.Cluster(cfg.Limits.Cluster)}
	return d, peers.ClusterConfig{
		System: &n.sys, Origin: n.sys.Origin, Node: peerHost{n}, Log: n.cfg.Log, Env: n.sys.Env, Shed: &n.shed, Limits: most,
		Quota:  limits.NewQuota(most.Quota()),
		Finder: cfg.Finder, Protocols: cfg.Protocols, Transport: cfg.Transport, Listen: cfg.addresses().Of, Erlang: erlang,
		Cookies: d.cookies, Old: cfg.Access.OldCookies, Hidden: cfg.Published == nil, Client: cfg.Client, Rights: cfg.Access.Rights,
		TickTime: cfg.Timing.TickTime, ConnectTimeout: cfg.Timing.ConnectTimeout, Grace: cfg.Timing.Grace, Awake: cfg.Timing.Awake,
		Mesh:      (*peers.MeshConfig)(cfg.Mesh),
		FirstStep: peers.FirstStep(cfg.Transport, cfg.Timing.ConnectTimeout, limits.ConnectTimeout),
	}, nil
}

// nameLost ends the node: it has lost the connection to the one that gave it its name.
func (n *Node) nameLost(why error) {
	err := fmt.Errorf("node: %s has its name no longer: the connection to %s is over: %w", n.cfg.Name, n.dist.cfg.NamedBy, why)
	if !n.sys.Stopped.Load() {
		n.giveUp(err, "the connection to the node that has given this one its name is over: the node stops", "peer",
			string(n.dist.cfg.NamedBy), "error", why)
	}
}

// stop ends all connections and waits for their goroutines. First it gives a moment to what waits to be written: the
// exit signals of the processes that the node has ended. A peer that reads too slowly sees noconnection instead.
func (d *distribution) stop() {
	d.n.await(d.n.sys.Env.Now().Add(min(drainTime, time.Duration(d.n.stopTime.Load()))), d.Drained)
	d.Stop()
}

// cookies returns what peer must know and what it wants.
func (d *distribution) cookies(peer Atom) (in, out string) {
	if d.cfg.Access.Cookies != nil {
		if in, out, ok := d.cfg.Access.Cookies(peer); ok {
			return in, out
		}
	}
	return d.cfg.Cookie, d.cfg.Cookie
}

// addresses says where the node listens.
func (d *Distribution) addresses() peers.Addresses {
	return peers.Addresses{Protocols: d.Protocols, Listen: d.Listen, Listeners: d.Listeners}
}

// Addr returns where the node listens for the last of its protocols, Erlang's by default; nil: nowhere.
func (n *Node) Addr() net.Addr {
	if n.dist == nil {
		return nil
	}
	return n.dist.Addr()
}

// Endpoints returns where the node listens, one for each protocol.
func (n *Node) Endpoints() (all []discovery.Endpoint) {
	if n.dist != nil {
		all = n.dist.Endpoints()
	}
	return all
}
