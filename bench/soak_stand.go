package main

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
)

// soakStand is the setup of a soak: the permanent nodes, the network between them, the traffic, and the faults.
type soakStand struct {
	p       contract.Params
	out     io.Writer
	seed    uint64
	cookie  string
	tick    time.Duration
	net     *soakNet
	log     lastLines     // of the two nodes whose connection has Grace
	nodes   []*soakNode   // the permanent ones
	stall   time.Duration // maximum time that a peer reads nothing, or little
	silence bool          // nodes may vanish silently

	patience time.Duration // timeout for events that must happen
	lingers  time.Duration // timeout for things that must disappear; 0: patience

	traffic traffic
	kinds   []soakKind

	mu     sync.Mutex
	number uint64          // of faults so far
	counts map[string]int  // of faults, by kind
	fixed  [soakFixed]bool // reused names of nodes: whether they are in use
}

// soakNode is a node with its protocol and receiver.
type soakNode struct {
	*node.Node
	proto string // native, erlang or both
	scope *pg.Scope
	sup   node.PID
	sink  node.PID // its receiver
}

// asideName is the third permanent node, whose connections have no Grace.
const asideName node.Atom = "aside@127.0.0.1"

func newSoakStand(p contract.Params, out io.Writer, kinds []soakKind) (*soakStand, error) {
	s := &soakStand{p: p, out: out, cookie: crand.Text(), tick: time.Duration(p.Int("tick")) * time.Second, net: newSoakNet(),
		counts: make(map[string]int), seed: uint64(p.Int("seed"))}
	s.patience = 2*s.tick + soakSlack // ticks detect a connection that has died silently
	if s.seed == 0 {
		s.seed = rand.Uint64()>>1 | 1 // in the range of seed=
	}
	s.stall = soakStall
	if lasts := time.Duration(p.Int("seconds")) * time.Second; p.Int("count") == 0 && lasts >= 4*s.tick {
		s.stall, s.silence = soakLongStall, true
	}
	wanted := strings.Split(p.Word("kinds"), ",")
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
		if p.Word("kinds") == "all" || slices.Contains(wanted, k.name) {
			s.kinds = append(s.kinds, k)
		}
	}
	for _, name := range wanted {
		if name != "all" && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%q is no kind of fault: kinds wants all, or some of %s", name, strings.Join(names, ","))
		}
	}
	return s, nil
}

const (
	soakStall     = time.Second
	soakLongStall = 5 * time.Second // in long runs
)

func (s *soakStand) faulty() bool { return s.p.Int("faults") > 0 }

// soakProtocols returns the protocols of a node, the preferred one first.
func soakProtocols(proto string) []dist.Protocol {
	switch proto {
	case "native":
		return []dist.Protocol{&native.Protocol{}}
	case "erlang":
		return []dist.Protocol{&erldist.Protocol{}}
	}
	return []dist.Protocol{&native.Protocol{}, &erldist.Protocol{}}
}

// node starts a node with everything that processes of other nodes use.
func (s *soakStand) node(ctx context.Context, name node.Atom, proto string, d node.Distribution) (*soakNode, error) {
	d.Protocols, d.Cookie, d.Finder, d.Timing.TickTime = soakProtocols(proto), s.cookie, s.net, s.tick
	d.Transport = soakDialler{net: s.net, me: name}
	d.Limits.Cluster.Stall = s.tick // longer than any peer here stalls
	cfg := node.Config{Name: name, Distribution: &d}
	if d.Timing.Grace > 0 {
		cfg.Log = slog.New(slog.NewTextHandler(&s.log, nil)).With("node", string(name))
	}
	n, err := node.Start(cfg)
	if err != nil {
		return nil, err
	}
	k := &soakNode{Node: n, proto: proto}
	if err := k.furnish(ctx); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return k, nil
}

func (n *soakNode) furnish(ctx context.Context) (err error) {
	for _, f := range []struct {
		name  wire.Atom
		arity int
		run   rpc.Function
	}{{"echo", 1, soakEcho}, {"fail", 0, soakFail}, {"sleep", 1, soakSleep}} {
		if err := rpc.Export(n.Node, wire.Export{Module: "soak", Function: f.name, Arity: f.arity}, f.run); err != nil {
			return err
		}
	}
	if err := rpc.ExportBehaviour(n.Node, wire.Export{Module: "soak", Function: "guest", Arity: 0}, soakGuest); err != nil {
		return err
	}
	n.sup, err = supervisor.Start(ctx, n, supervisor.Spec{Intensity: 1 << 20, Period: time.Second}, node.Options{Name: "soak_sup"})
	if err != nil {
		return err
	}
	n.scope, err = pg.Start(ctx, n, pg.Config{Name: "soak_pg", Seek: soakShort})
	return err
}

// start starts the permanent nodes, and the senders, which are paused.
func (s *soakStand) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, soakSlack)
	defer cancel()
	s.net.direct = !s.faulty()
	proto, grace := s.p.Word("proto"), s.tick/2
	if !s.faulty() {
		grace = 0
	}
	kept := proto // of the third node
	if proto == "mixed" {
		kept = "erlang"
	}
	for _, k := range []struct {
		name  node.Atom
		proto string
		grace time.Duration
	}{{nearName, proto, grace}, {farName, proto, grace}, {asideName, kept, 0}} {
		if k.name == asideName && !s.faulty() {
			continue
		}
		n, err := s.node(ctx, k.name, k.proto, node.Distribution{Timing: node.Timing{Grace: k.grace}})
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.startTraffic(ctx)
}

// startTraffic starts a receiver on each node, and the senders.
func (s *soakStand) startTraffic(ctx context.Context) error {
	near, far := s.nodes[0], s.nodes[1]
	ways := [][2]*soakNode{{near, far}}
	if s.faulty() {
		aside := s.nodes[2]
		ways = [][2]*soakNode{{near, far}, {near, aside}, {far, near}, {aside, near}}
	}
	senders := s.p.Int("senders")
	s.traffic.held.Store(true)
	s.traffic.renewing.Store(true)
	defer s.traffic.renewing.Store(false)
	for _, to := range s.nodes {
		k := &soaked{next: make([]int, senders), fail: s.traffic.fail, renewing: &s.traffic.renewing}
		if s.faulty() {
			k.gap, k.senders = make([]bool, senders), make(map[node.Atom][]int)
			if s.never(to, near) {
				k.never = map[*soakNode]node.Atom{near: farName, far: nearName}[to]
			}
			for id := range senders {
				if way := ways[id%len(ways)]; way[1] == to {
					k.senders[way[0].Name()] = append(k.senders[way[0].Name()], id)
				}
			}
		}
		pid, err := to.Spawn(k)
		if err != nil {
			return err
		}
		to.sink = pid
	}
	for id := range senders {
		way := ways[id%len(ways)]
		s.traffic.streams = append(s.traffic.streams, &stream{from: way[0], to: way[1], sink: way[1].sink})
	}
	for id, t := range s.traffic.streams {
		if _, err := t.from.Spawn(s.traffic.sender(id, float64(s.p.Int("rate"))/float64(senders))); err != nil {
			return err
		}
	}
	return s.acquaint(ctx)
}

// acquaint connects all permanent nodes, and waits until the receivers on both ends know of each connection: one end may
// know before the other.
func (s *soakStand) acquaint(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	for _, n := range s.nodes {
		for _, other := range s.nodes {
			if n == other {
				continue
			}
			if _, err := rpc.Call[int](ctx, n, other.Name(), "soak", "echo", 1); err != nil {
				return fmt.Errorf("%s asks %s for an echo: %w", n.Name(), other.Name(), err)
			}
		}
	}
	for _, n := range s.nodes {
		if _, err := node.Call[soakCounts](ctx, n, n.sink, wire.Atom("count")); err != nil {
			return s.traffic.why(err)
		}
	}
	return nil
}

// never reports whether the connection of two nodes is never lost because it has Grace.
func (s *soakStand) never(x, y *soakNode) bool {
	aside := s.nodes[len(s.nodes)-1]
	return s.p.Word("proto") != "erlang" && x != aside && y != aside
}

// connect connects all permanent nodes with each other.
func (s *soakStand) connect(ctx context.Context) error {
	for i, n := range s.nodes {
		for _, other := range s.nodes[:i] {
			for err := n.Connect(ctx, other.Name()); err != nil; err = n.Connect(ctx, other.Name()) {
				select { // it was cut, or is just being lost
				case <-ctx.Done():
					return fmt.Errorf("%s does not connect to %s: %w", n.Name(), other.Name(), err)
				case <-time.After(soakPoll):
				}
			}
		}
	}
	return nil
}

// stop stops all nodes, and waits for the network.
func (s *soakStand) stop() (err error) {
	s.net.heal()
	for _, n := range s.nodes {
		err = errors.Join(err, n.Stop())
	}
	s.net.close()
	return err
}

// still waits until nothing changes, before the faults.
func (s *soakStand) still(ctx context.Context) (census, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if err := s.traffic.hold(ctx, s); err != nil {
		return census{}, err
	}
	was := s.take(false)
	for same := 0; same < soakStill; same++ {
		select {
		case <-ctx.Done():
			return census{}, fmt.Errorf("the nodes do not come to rest: %w", context.Cause(ctx))
		case <-time.After(soakPoll):
		}
		now := s.take(false)
		if now.against(was) != "" {
			same = 0
		}
		was = now
	}
	return was, nil
}

// settle ends all disturbances of the network, waits for work in progress, and compares the state with the earlier one. It
// returns a census even with an error.
func (s *soakStand) settle(ctx context.Context, was census) (c census, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	s.net.heal()
	if err := s.traffic.hold(ctx, s); err != nil {
		return c, err
	}
	if s.lingers > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.lingers)
		defer cancel()
	}
	if c, err = s.compare(ctx, was); err != nil {
		return c, err
	}
	if c.against(was) == "" && s.faulty() { // the tables are as before; memory is compared next
		s.traffic.renewing.Store(true)
		defer s.traffic.renewing.Store(false)
		if err := s.renew(ctx); err != nil {
			return c, err
		}
		if _, err := s.compare(ctx, was); err != nil {
			return c, err
		}
	}
	c = s.take(true)
	if c.got, err = s.traffic.counts(context.WithoutCancel(ctx)); err != nil {
		return c, err
	}
	if wrong := c.against(was); wrong != "" {
		if c.goroutines() > was.goroutines() {
			stacks(s.out)
		}
		return c, fmt.Errorf("something has not come back to what it was:\n\t%s", wrong)
	}
	return c, nil
}

// compare waits until all tables are as before, or the time is over.
func (s *soakStand) compare(ctx context.Context, was census) (census, error) {
	for {
		c := s.take(false)
		if c.against(was) == "" {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return c, nil
		case <-time.After(soakPoll):
		}
		if err := s.connect(ctx); err != nil && ctx.Err() == nil {
			return c, err
		}
	}
}

// renew replaces the connections of the permanent nodes while the traffic is paused: the caches of a connection (buffers,
// atoms known to both ends) grow with its peak load, up to a bound, and must not affect the comparison.
func (s *soakStand) renew(ctx context.Context) error {
	for i, n := range s.nodes {
		for _, other := range s.nodes[:i] {
			n.Disconnect(other.Name())
		}
	}
	if err := s.traffic.hold(ctx, s); err != nil {
		return err
	}
	return s.acquaint(ctx)
}

// tally returns the number of faults of each kind.
func (s *soakStand) tally() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		all = append(all, fmt.Sprintf("%d %s", s.counts[kind], kind))
	}
	return strings.Join(all, ", ")
}
